package harness_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/harness"
)

// modelReader is a reader with what it must give: next is the number of the
// message it would read next.
type modelReader struct {
	r    *harness.Reader[string]
	next int
	// bound is that what was dropped before it was made is counted by an upper
	// bound only.
	bound       bool
	seen, count int // read, and counted as lost
	from        int
}

// playModel publishes, reads and expects as the bytes say, on a log of a few
// messages, and compares with a slice of all that was published: no message is
// lost without being counted, none comes twice or out of order.
func playModel(t *testing.T, script []byte) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if len(script) < 2 {
			return
		}
		keep := 1 + int(script[0])%200
		s, p, cmd := w.sub("/x", harness.Keep(keep, 0)), w.pub("/x"), w.cmd("/cmd")
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		published := 0
		held := func() int { return max(0, published-keep) } // the oldest held
		type mark struct {
			m  harness.Mark
			at int
		}
		marks := []mark{{w.rig.Timeline().Now(), 0}}
		readers := []*modelReader{{r: s.FromStart()}}
		point := 0 // the reading point of the subscription

		step := func(m *modelReader, msg harness.Message[string], err error) (over bool) {
			t.Helper()
			var lost *harness.LossError
			var end *harness.WaitError
			switch {
			case errors.As(err, &end):
				if m.next != published {
					t.Fatalf("nothing to read at %d of %d", m.next, published)
				}
				return true
			case errors.As(err, &lost):
				want := held() - m.next
				if m.bound && lost.Lost < uint64(want) || !m.bound && lost.Lost != uint64(want) {
					t.Fatalf("lost %d, want %d", lost.Lost, want)
				}
				m.bound = false
				m.count += want
				m.next = held()
			case err != nil:
				t.Fatal(err)
			default:
				if msg.Value != fmt.Sprint(m.next) {
					t.Fatalf("read %s, want %d", msg.Value, m.next)
				}
				m.next++
				m.seen++
			}
			return false
		}

		for i := 1; i+1 < len(script); i += 2 {
			op, arg := script[i]%10, int(script[i+1])
			m := readers[arg%len(readers)]
			switch op {
			case 0, 1, 2: // publish some
				for range arg % 70 {
					say(p, fmt.Sprint(published))
					published++
				}
			case 3: // let time pass
				time.Sleep(time.Duration(arg) * ms)
			case 4: // a stimulus
				marks = append(marks, mark{must(cmd.Publish(t.Context(), "go")), published})
			case 5: // a new reader
				k := marks[arg%len(marks)]
				switch arg % 3 {
				case 0:
					readers = append(readers, &modelReader{r: s.FromNow(), next: published, from: published})
				case 1:
					readers = append(readers, &modelReader{r: s.FromStart()})
				case 2:
					readers = append(readers, &modelReader{r: s.After(k.m), next: k.at, from: k.at, bound: true})
				}
			case 6: // read one
				msg, err := m.r.WaitForNext(ended)
				step(m, msg, err)
			case 7: // a loop that breaks, publishing inside
				n := arg % 100
				// The loop reads ahead: what it holds already cannot be lost any more,
				// so nothing is published inside while the log could drop it.
				for msg, err := range m.r.ListenReliable(soft(t, ms)) {
					if over := step(m, msg, err); over || n == 0 {
						break
					}
					n--
				}
			case 8: // the newest
				msg, err := m.r.WaitForNew(ended)
				if m.next < published {
					if err != nil || msg.Value != fmt.Sprint(published-1) {
						t.Fatalf("newest is %s, %v, want %d", msg.Value, err, published-1)
					}
					m.next, m.seen, m.count, m.from = published, 0, 0, published // it skips
					m.bound = false
				} else if err == nil {
					t.Fatalf("read %s again", msg.Value)
				}
			case 9: // an expectation for the next message after the reading point
				if k := marks[len(marks)-1]; k.at > point {
					point = k.at
				}
				o, err := s.Observe(harness.Effect, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				var first string
				var order uint64
				for a := range o.Sofar() {
					if first == "" {
						first, order = a.Value.(string), a.Order
					}
				}
				switch {
				case point < held():
					if o.Stretch(false).Cut == nil {
						t.Fatalf("messages from %d on are lost and nobody says so; held from %d", point, held())
					}
				case point == published:
					if first != "" {
						t.Fatalf("saw %s after the reading point %d", first, point)
					}
				default:
					if first != fmt.Sprint(point) || o.Stretch(false).Cut != nil || o.Missed() != 0 || o.Seen() != uint64(published-point) {
						t.Fatalf("saw %q first, %d in all, missed %d, want %d first of %d", first, o.Seen(), o.Missed(), point, published)
					}
					o.Hold(order)
					point++
				}
				o.Close()
			}
		}
		for k, m := range readers {
			for {
				msg, err := m.r.WaitForNext(ended)
				if step(m, msg, err) {
					break
				}
			}
			if m.seen+m.count != published-m.from {
				t.Errorf("reader %d: %d seen and %d lost of %d", k, m.seen, m.count, published-m.from)
			}
		}
	})
}

func TestModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		script := make([]byte, 2+rnd.IntN(300))
		for i := range script {
			script[i] = byte(rnd.Uint32())
		}
		playModel(t, script)
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{9, 0, 69, 5, 2, 6, 0, 9, 0, 4, 1, 0, 40, 5, 1, 7, 30, 8, 0, 9, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 400 {
			script = script[:400]
		}
		playModel(t, script)
	})
}
