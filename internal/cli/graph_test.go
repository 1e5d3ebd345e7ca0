package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/msgs/std_srvs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

var update = flag.Bool("update", false, "rewrite testdata")

// bench is a graph in memory and in virtual time, where rates and delays are exact.
type bench struct {
	t   *testing.T
	net *inproc.Network
	// wrap, which may be nil, is what the command gets to see of its connection.
	wrap func(transports.Conn) transports.Conn
}

func onBench(t *testing.T, f func(*testing.T, *bench)) {
	synctest.Test(t, func(t *testing.T) { f(t, &bench{t: t, net: inproc.NewNetwork()}) })
}

func (b *bench) node(name string) *harness.Graph {
	g := harness.New(b.net.Join(name), harness.Config{})
	b.t.Cleanup(func() { must(b.t, g.Close()) })
	return g
}

func (b *bench) open(_ context.Context, address string) (transports.Conn, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	var c transports.Conn = b.net.Join(u.Query().Get("node"))
	if b.wrap != nil {
		c = b.wrap(c)
	}
	return c, nil
}

type result struct {
	code           int
	stdout, stderr string
}

// run runs the command line.
func (b *bench) run(args ...string) result {
	var out bytes.Buffer
	return b.runTo(b.t.Context(), &out, args...).with(&out)
}

func (r result) with(out *bytes.Buffer) result {
	r.stdout = out.String()
	return r
}

func (b *bench) runTo(ctx context.Context, out io.Writer, args ...string) result {
	var stderr bytes.Buffer
	code := run(ctx, append(args, "--graph", "test:"), out, &stderr, b.open)
	return result{code: code, stderr: stderr.String()}
}

// want compares what a command did.
func (r result) want(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	if d := cmp.Diff(strings.TrimPrefix(stdout, "\n"), r.stdout); d != "" {
		t.Errorf("stdout (-want +got):\n%s", d)
	}
	if d := cmp.Diff(strings.TrimPrefix(stderr, "\n"), r.stderr); d != "" {
		t.Errorf("stderr (-want +got):\n%s", d)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// every publishes.
func every[T any](b *bench, g *harness.Graph, topic string, period time.Duration, f func(i int) T, opts ...harness.Option) {
	b.t.Helper()
	p, err := harness.Advertise[T](b.t.Context(), g, topic, opts...)
	must(b.t, err)
	p.Every(period, f)
	synctest.Wait() // its first message is sent before the command begins
}

func text(int) std_msgs.String { return std_msgs.String{Data: "hello"} }

func TestHz(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		every(b, b.node("/talker"), "/chatter", 20*time.Millisecond, text)
		b.run("topic", "hz", "chatter", "--for", "2s", "--expect", "50±1", "--expect", "max-gap<=20ms", "--expect", "messages>=100").want(t, Pass, `
/chatter: 50 ± 0.5 Hz (100 messages, over 1.98s)
longest gap 20ms after message 1, jitter 0s
lost on the wire: 0 of 100 by sequence numbers of 1 publisher; dropped by us: 0
pass: rate 50 ± 0.5 Hz, expected 50±1
pass: max-gap 20ms, expected <=20ms
pass: messages 100, expected >=100
`, "")
		b.run("topic", "hz", "/chatter", "--count", "51", "--expect", "<49.5").want(t, Fail, `
/chatter: 50 ± 1 Hz (51 messages, over 1s)
longest gap 20ms after message 1, jitter 0s
lost on the wire: 0 of 51 by sequence numbers of 1 publisher; dropped by us: 0
fail: rate 50 ± 1 Hz (watch longer to tell values apart that lie so close), expected <49.5
`, `
robospec topic hz: rate 50 ± 1 Hz (watch longer to tell values apart that lie so close), expected <49.5
`)
		b.run("topic", "hz", "/chatter", "--for", "1s", "--json", "--expect", ">=49", "--expect", "max-gap<10ms").want(t, Fail,
			`{"topic":"/chatter","types":["std_msgs/msg/String"],"final":true,"seconds":1,"messages":50,"lost_on_wire":0,"dropped_by_us":0,`+
				`"verdict":"fail","checks":[{"of":"rate","expect":">=49","value":50,"unit":"Hz","verdict":"pass"},`+
				`{"of":"max-gap","expect":"<10ms","value":0.02,"unit":"s","verdict":"fail"}],`+
				`"rate_hz":50,"rate_plus_minus_hz":1.0204081632653061,"max_gap_seconds":0.02,"jitter_seconds":0}`+"\n",
			"robospec topic hz: max-gap 20ms, expected <10ms\n")
		b.run("topic", "hz", "/chatter", "--for", "50ms").want(t, Inconclusive, `
lost on the wire: 0 of 2 by sequence numbers of 1 publisher; dropped by us: 0
`, `
robospec topic hz: inconclusive: the stretch of /chatter holds 2 messages, a rate needs 3
`)
	})
}

func TestNobodyPublishes(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		talker := b.node("/talker")
		every(b, talker, "/chatter", time.Second, text)
		every(b, talker, "/status", time.Second, text)
		_, err := harness.Subscribe[std_msgs.String](t.Context(), b.node("/ear"), "/chater")
		must(t, err)
		for _, what := range []string{"hz", "bw", "delay", "echo"} {
			b.run("topic", what, "/chater", "--for", "1s").want(t, Inconclusive, "", `
robospec topic `+what+`: inconclusive: start its publisher, correct the name, or wait longer than --timeout 2s
nobody publishes /chater; there is /chatter, /status
/ear would hear it
`)
		}
		began := time.Now()
		r := b.run("topic", "hz", "/chater", "--for", "1s", "--timeout", "300ms", "--json", "--expect", "messages==0")
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		r.want(t, Inconclusive, `{"topic":"/chater","final":true,"seconds":0,"messages":0,"lost_on_wire":null,"dropped_by_us":0,`+
			`"inconclusive":"inconclusive: start its publisher, correct the name, or wait longer than --timeout 300ms\nnobody publishes /chater; there is /chatter, /status\n/ear would hear it",`+
			`"verdict":"inconclusive","checks":[{"of":"messages","expect":"==0","verdict":"inconclusive","reason":"inconclusive: start its publisher, correct the name, or wait longer than --timeout 300ms\nnobody publishes /chater; there is /chatter, /status\n/ear would hear it"}]}`+"\n",
			`robospec topic hz: inconclusive: start its publisher, correct the name, or wait longer than --timeout 300ms
nobody publishes /chater; there is /chatter, /status
/ear would hear it
`)
	})
}

func TestSilentPublisher(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		_, err := harness.Advertise[std_msgs.String](t.Context(), b.node("/mute"), "/chatter")
		must(t, err)
		b.run("topic", "hz", "/chatter", "--for", "1s", "--expect", ">=1").want(t, Inconclusive, `
inconclusive: rate, expected >=1
`, `
robospec topic hz: inconclusive: watch longer, or find out why the publisher is silent
no message arrived on /chatter in 1s; /mute publishes /chatter, but no message has ever arrived
`)
		b.run("topic", "hz", "/chatter", "--for", "1s", "--expect", "messages==0").want(t, Pass, `
pass: messages 0, expected ==0
`, "")
		b.run("topic", "echo", "/chatter", "--for", "1s", "--expect", "data==hello").want(t, Fail, "", `
robospec topic echo: no message arrived on /chatter in 1s; /mute publishes /chatter, but no message has ever arrived
`)
	})
}

func TestLatePublisherIsWaitedFor(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		late := b.node("/late")
		time.AfterFunc(3*time.Second, func() { every(b, late, "/chatter", 100*time.Millisecond, text) })
		began := time.Now()
		r := b.run("topic", "hz", "/chatter", "--timeout", "5s", "--for", "1s", "--expect", "10±1")
		if r.code != Pass || !strings.HasPrefix(r.stdout, "/chatter: 10 ± 1 Hz (1") {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		if took := time.Since(began); took < 4*time.Second || took > 4*time.Second+10*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

func TestBw(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		every(b, b.node("/talker"), "/chatter", 20*time.Millisecond, text)
		every(b, b.node("/fast"), "/fast", time.Millisecond, text)
		b.run("topic", "hz", "/fast", "--count", "5").want(t, Pass, `
/fast: 1000 ± 250 Hz (5 messages, over 4ms)
longest gap 1ms after message 1, jitter 0s
lost on the wire: 0 of 5 by sequence numbers of 1 publisher; dropped by us: 0
`, "")
		b.run("topic", "bw", "/chatter", "--for", "2s", "--expect", "<1kB/s", "--expect", "size==14", "--expect", "mean-size<1KiB").want(t, Pass, `
/chatter: 700 B/s ± 7.07 B/s (100 messages in 2s; a message is 14 B, from 14 B to 14 B)
lost on the wire: 0 of 100 by sequence numbers of 1 publisher; dropped by us: 0
pass: bandwidth 700 B/s ± 7.07 B/s, expected <1kB/s
pass: size 14 B, expected ==14
pass: mean-size 14 B, expected <1KiB
`, "")
	})
}

// stamped publishes Odometry that is age old when it is published.
func stamped(b *bench, topic string, age time.Duration) {
	every(b, b.node("/base"), topic, 10*time.Millisecond, func(int) (m nav_msgs.Odometry) {
		at := time.Now().Add(-age)
		m.Header.Stamp = builtin_interfaces.Time{Sec: int32(at.Unix()), Nanosec: uint32(at.Nanosecond())}
		return m
	})
}

func TestDelay(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		stamped(b, "/odom", 5*time.Millisecond)
		stamped(b, "/sim", time.Duration(time.Now().UnixNano()))
		b.run("topic", "delay", "/odom", "--count", "59", "--stamp", "header", "--expect", "<5.1ms", "--expect", "p95<=5ms", "--expect", "mean 4ms..6ms").want(t, Pass, `
/odom: 5ms to 5ms, mean 5ms, median 5ms, p95 5ms (59 messages in 590ms)
from header.stamp, by the clock its sender stamps with, to reception, by this machine's wall clock
lost on the wire: 0 of 59 by sequence numbers of 1 publisher; dropped by us: 0
pass: delay 5ms, expected <5.1ms
pass: p95 5ms, expected <=5ms
pass: mean 5ms, expected 4ms..6ms
`, "")
		b.run("topic", "delay", "/odom", "--count", "20", "--stamp", "header", "--expect", "p95<=5ms", "--expect", "max<20ms").want(t, Inconclusive, `
/odom: 5ms to 5ms, mean 5ms, median 5ms (20 messages in 200ms)
from header.stamp, by the clock its sender stamps with, to reception, by this machine's wall clock
lost on the wire: 0 of 20 by sequence numbers of 1 publisher; dropped by us: 0
inconclusive: p95, expected <=5ms
pass: max 5ms, expected <20ms
`, `
robospec topic delay: inconclusive: watch longer or ask for a lower percentile
p95 needs 59 values for 95 % confidence, there are 20
`)
		// What could not be seen could not have changed the no.
		if r := b.run("topic", "delay", "/odom", "--count", "20", "--stamp", "header", "--expect", "p95<=5ms", "--expect", "<2ms"); r.code != Fail {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		r := b.run("topic", "delay", "/sim", "--count", "20", "--stamp", "header", "--expect", "<20ms")
		if r.code != Inconclusive || !strings.Contains(r.stderr, "clock mismatch") || !strings.Contains(r.stderr, "simulated") {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	})
}

// stuck is an output that stands still after its first line, until it is let go.
type stuck struct {
	bytes.Buffer
	once    sync.Once
	reached chan struct{}
	goOn    chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.reached); <-s.goOn })
	return s.Buffer.Write(b)
}

// TestOwnLosses has the command stand still, at a slow terminal, while more arrives
// than there is room for: no figure is drawn from such a stretch.
func TestOwnLosses(t *testing.T) {
	for what, wantCode := range map[string]int{"hz": Inconclusive, "bw": Inconclusive, "delay": Inconclusive, "echo": Pass} {
		t.Run(what, func(t *testing.T) {
			onBench(t, func(t *testing.T, b *bench) {
				p, err := harness.Advertise[std_msgs.String](t.Context(), b.node("/talker"), "/chatter")
				must(t, err)
				out := &stuck{reached: make(chan struct{}), goOn: make(chan struct{})}
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				var r result
				done := make(chan struct{})
				go func() {
					defer close(done)
					r = b.runTo(ctx, out, "topic", what, "/chatter").with(&out.Buffer)
				}()
				synctest.Wait()
				_, err = p.Publish(t.Context(), text(0))
				must(t, err)
				<-out.reached // at the first tick of hz, the first message of echo
				for range 70_000 {
					_, err = p.Publish(t.Context(), text(0))
					must(t, err)
				}
				close(out.goOn)
				synctest.Wait()
				interrupt()
				<-done
				if r.code == wantCode || what != "echo" && r.code == Pass { // interrupted, nobody waits for a figure
					if dropped := fmt.Sprintf("%d messages", 70_000-65536); strings.Contains(r.stdout, dropped) {
						return
					}
				}
				t.Errorf("exit code %d\n%s%s", r.code, r.stdout[max(0, len(r.stdout)-2000):], r.stderr)
			})
		})
	}
}

// lossy is a connection that loses every tenth message.
type lossy struct{ transports.Conn }

func (c lossy) Graph() (transports.Graph, <-chan struct{}) {
	return c.Conn.(transports.Grapher).Graph()
}

func (c lossy) Subscribe(ctx context.Context, topic string, typ transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	n := 0
	return c.Conn.Subscribe(ctx, topic, typ, q, func(s transports.Sample) {
		if n++; n%10 != 0 {
			sink(s)
		}
	})
}

func TestLossesOfTheWire(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		b.wrap = func(c transports.Conn) transports.Conn { return lossy{c} }
		every(b, b.node("/talker"), "/chatter", 10*time.Millisecond, text)
		r := b.run("topic", "hz", "/chatter", "--count", "90", "--expect", "90±3", "--json")
		if r.code != Pass || !strings.Contains(r.stdout, `"lost_on_wire":9,`) {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	})
}

func TestInterrupted(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		every(b, b.node("/talker"), "/chatter", 20*time.Millisecond, text)
		after := func(d time.Duration, args ...string) result {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			var out bytes.Buffer
			return b.runTo(ctx, &out, args...).with(&out)
		}
		after(2510*time.Millisecond, "topic", "hz", "/chatter").want(t, Pass, `
/chatter: 50 ± 1 Hz (50 messages, over 980ms)
longest gap 20ms after message 1, jitter 0s
/chatter: 50 ± 0.5 Hz (100 messages, over 1.98s)
longest gap 20ms after message 1, jitter 0s
/chatter: 50 ± 0.4 Hz (125 messages, over 2.48s)
longest gap 20ms after message 1, jitter 0s
lost on the wire: 0 of 125 by sequence numbers of 1 publisher; dropped by us: 0
`, "")
		after(1005*time.Millisecond, "topic", "hz", "/chatter", "--for", "1h", "--expect", "50±1").want(t, Pass, `
/chatter: 50 ± 1 Hz (50 messages, over 980ms)
longest gap 20ms after message 1, jitter 0s
lost on the wire: 0 of 50 by sequence numbers of 1 publisher; dropped by us: 0
pass: rate 50 ± 1 Hz, expected 50±1
`, "")
		after(15*time.Millisecond, "topic", "echo", "/chatter").want(t, Pass, "data: hello\n---\n", "")
		after(15*time.Millisecond, "topic", "echo", "/chatter", "--for", "1h", "--expect", "data==bye").want(t, Inconclusive, "data: hello\n---\n", `
robospec topic echo: inconclusive: interrupted after 15ms; until then no message has data==bye
`)
		after(100*time.Millisecond, "topic", "hz", "/nobody").want(t, Inconclusive, "", `
robospec topic hz: inconclusive: interrupted before anybody published /nobody
`)
		after(110*time.Millisecond, "topic", "pub", "/chatter", "std_msgs/String", "data: x", "--rate", "50", "--subscriptions", "0", "--json").want(t, Pass,
			`{"topic":"/chatter","type":"std_msgs/msg/String","published":6,"size":10,"subscriptions":0}`+"\n", "")
	})
}

// closedPipe is an output whose reader has gone after n writes.
type closedPipe struct {
	bytes.Buffer
	n int
}

func (p *closedPipe) Write(b []byte) (int, error) {
	if p.n--; p.n < 0 {
		return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	}
	return p.Buffer.Write(b)
}

func TestReaderHasGone(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		every(b, b.node("/talker"), "/chatter", 20*time.Millisecond, text)
		for _, what := range []string{"echo", "hz"} {
			out := &closedPipe{n: 2}
			began := time.Now()
			r := b.runTo(t.Context(), out, "topic", what, "/chatter").with(&out.Buffer)
			if took := time.Since(began); r.code != Pass || r.stderr != "" || took > 3*time.Second {
				t.Errorf("%s: exit code %d after %v\n%s%s", what, r.code, took, r.stdout, r.stderr)
			}
		}
		// A verdict is still come to.
		if r := b.runTo(t.Context(), &closedPipe{}, "topic", "hz", "/chatter", "--for", "1s", "--expect", "<10"); r.code != Fail {
			t.Errorf("exit code %d: %s", r.code, r.stderr)
		}
	})
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputCannotBeWritten(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		every(b, b.node("/talker"), "/chatter", 20*time.Millisecond, text)
		b.runTo(t.Context(), fullDisk{}, "topic", "hz", "/chatter", "--for", "1s").want(t, Fail, "", "robospec topic hz: print: no space left on device\n")
	})
}

func TestEchoWaitsForAField(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		every(b, b.node("/base"), "/odom", 100*time.Millisecond, func(i int) (m nav_msgs.Odometry) {
			m.Pose.Pose.Position.X = 0.1 * float64(i)
			return m
		})
		b.run("topic", "echo", "/odom", "--field", "pose.pose.position.x", "--for", "5s", "--expect", "pose.pose.position.x>=0.3", "--expect", `header.frame_id==""`).want(t, Pass, `
0.1
---
0.2
---
0.30000000000000004
---
pass: message 3 has pose.pose.position.x>=0.3 and header.frame_id==""
`, "")
		r := b.run("topic", "echo", "/odom", "--field", "pose.pose.position", "--count", "2", "--expect", "pose.pose.position.x<0", "--json")
		for _, want := range []string{
			`"received":"2000-01-01T00:00:00.4Z"`, `"sent":"2000-01-01T00:00:00.4Z"`, `"seq":5`, `"size":708`, `"type":"nav_msgs/msg/Odometry"`,
			`"message":{"x":0.4,"y":0.0,"z":0.0}}` + "\n",
			`{"topic":"/odom","messages":2,"dropped_by_us":0,"expect":["pose.pose.position.x<0"],"verdict":"fail","reason":"no message has`,
		} {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("%s\nhas no %s", r.stdout, want)
			}
		}
		if want := "no message has pose.pose.position.x<0 of 2 messages in 200ms; in the last, pose.pose.position.x is 0.5"; r.code != Fail || !strings.Contains(r.stderr, want) {
			t.Errorf("exit code %d: %s; want it to say %s", r.code, r.stderr, want)
		}
	})
}

func TestGraphIsWaitedFor(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		late := b.node("/late")
		time.AfterFunc(3*time.Second, func() {
			_, err := harness.Subscribe[std_msgs.String](t.Context(), late, "/chatter")
			if err != nil {
				t.Error(err)
			}
			_, err = harness.Serve(t.Context(), late, "/grip", std_srvs.SetBool)
			if err != nil {
				t.Error(err)
			}
		})
		began := time.Now()
		b.run("topic", "info", "/chatter", "--timeout", "1s", "--expect", "subscriptions>=1").want(t, Fail, `
/chatter: no type, 0 publishers, 0 subscriptions
fail: subscriptions 0, expected >=1
`, "robospec topic info: subscriptions 0, expected >=1\n")
		b.run("topic", "info", "/chatter", "--timeout", "10s", "--expect", "subscriptions>=1", "--expect", "cannot-hear==0").want(t, Pass, `
/chatter: std_msgs/msg/String, 0 publishers, 1 subscription
  subscription  /late  default reliability, default durability, depth 10
pass: subscriptions 1, expected >=1
pass: cannot-hear 0, expected ==0
`, "")
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		b.run("service", "info", "/grip", "--timeout", "10s", "--expect", "servers==1").want(t, Pass, `
/grip: std_srvs/srv/SetBool, 1 server, 0 clients
  server  /late
pass: servers 1, expected ==1
`, "")
		b.run("node", "list", "--expect", "nodes==1").want(t, Pass, "/late\npass: nodes 1, expected ==1\n", "")
	})
}

func TestCall(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		srv, err := harness.Serve(t.Context(), b.node("/arm"), "/grip", std_srvs.SetBool)
		must(t, err)
		go func() {
			for m, err := range srv.ListenReliable(t.Context()) {
				if err != nil {
					return
				}
				time.AfterFunc(50*time.Millisecond, func() {
					_, err := m.Value.Reply(std_srvs.SetBoolResponse{Success: m.Value.Request.Data, Message: "done"})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}()
		b.run("service", "call", "/grip", "data: true", "--expect", "<100ms", "--expect", "success==true").want(t, Pass, `
success: true
message: done
# after 50ms
pass: <100ms and success==true
`, "")
		b.run("service", "call", "/grip", "std_srvs/SetBool", "--expect", "<20ms", "--json").want(t, Fail,
			`{"service":"/grip","type":"std_srvs/srv/SetBool","seconds":0.05,"response":{"success":false,"message":"done"},"expect":["<20ms"],"verdict":"fail","error":"the response came after 50ms, expected <20ms"}`+"\n",
			"robospec service call: the response came after 50ms, expected <20ms\n")
		b.run("service", "call", "/grip", "--expect", "success==true").want(t, Fail, `
success: false
message: done
# after 50ms
`, "robospec service call: success is false, expected success==true\n")
		b.run("service", "call", "/grip", "--for", "40ms").want(t, Fail, "", "robospec service call: /grip did not answer within 40ms\n")
		b.run("service", "call", "/grip", "std_srvs/srv/Trigger").want(t, Inconclusive, "", `
robospec service call: inconclusive: correct the type, or leave it out
nobody serves /grip as std_srvs/srv/Trigger; it has the type std_srvs/srv/SetBool
`)
		b.run("service", "call", "/grap").want(t, Inconclusive, "", `
robospec service call: inconclusive: start its server, correct the name, or wait longer than --timeout 2s
nobody serves /grap; there is /grip
`)
	})
}

func TestPub(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		ear, err := harness.Subscribe[std_msgs.String](t.Context(), b.node("/ear"), "/chatter")
		must(t, err)
		r := ear.FromNow()
		b.run("topic", "pub", "/chatter", "{data: a}", "--rate", "10", "--count", "3").want(t, Pass, "/chatter: published 3 messages of 10 bytes, to 1 subscription\n", "")
		first, err := r.WaitForNext(t.Context())
		must(t, err)
		second, err := r.WaitForNext(t.Context())
		must(t, err)
		if first.Value.Data != "a" || second.Received.Sub(first.Received) != 100*time.Millisecond || ear.Received() != 3 {
			t.Errorf("%+v, %+v, %d received", first, second, ear.Received())
		}
	})
}

func TestPubLatched(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		late := b.node("/late")
		heard := make(chan time.Duration, 1)
		began := time.Now()
		time.AfterFunc(time.Second, func() {
			sub, err := harness.Subscribe[std_msgs.String](t.Context(), late, "/map", harness.Latched(1))
			if err != nil {
				t.Error(err)
				return
			}
			m, err := sub.FromStart().WaitForNext(t.Context())
			if err != nil || m.Value.Data != "hall" {
				t.Errorf("%+v, %v", m, err)
			}
			heard <- time.Since(began)
		})
		b.run("topic", "pub", "/map", "std_msgs/String", "data: hall", "--latched", "--subscriptions", "0", "--for", "3s").want(t, Pass,
			"/map: published 1 message of 13 bytes, to 1 subscription\n", "")
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it stayed for %v", took)
		}
		if at := <-heard; at != time.Second {
			t.Errorf("heard after %v", at)
		}
		b.run("topic", "pub", "/map", "data: yard", "--latched", "--rate", "10", "--for", "1050ms").want(t, Pass, "/map: published 11 messages of 13 bytes, to 1 subscription\n", "")
	})
}

// raw is a message of a type that is not defined anywhere.
type raw struct{ name string }

func (raw) Append(dst, v []byte) ([]byte, error) { return append(dst, v...), nil }
func (raw) Decode(src []byte) ([]byte, error)    { return src, nil }
func (raw) Encoding() string                     { return msgs.Raw }
func (r raw) TypeName() string                   { return r.name }
func (raw) TypeHash() string                     { return "RIHS01_other" }

func TestUnknownDefinitions(t *testing.T) {
	onBench(t, func(t *testing.T, b *bench) {
		t.Setenv("AMENT_PREFIX_PATH", "")
		g := b.node("/custom")
		every(b, g, "/joint", 100*time.Millisecond, func(int) []byte { return []byte{0, 1, 0, 0, 7, 0, 0, 0} }, harness.Using[[]byte](raw{"cell_msgs/msg/Joint"}))
		every(b, g, "/text", 100*time.Millisecond, func(int) []byte { return []byte{0, 1, 0, 0, 7, 0, 0, 0} }, harness.Using[[]byte](raw{"std_msgs/msg/String"}))
		b.run("topic", "echo", "/joint", "--count", "1").want(t, Pass, `
# 8 bytes of cell_msgs/msg/Joint: no definition of cell_msgs/msg/Joint in what robospec brings; --share DIR says where others are
00000000  00 01 00 00 07 00 00 00                           |........|
---
`, "")
		r := b.run("topic", "echo", "/joint", "--for", "1s", "--expect", "angle>1")
		if r.code != Inconclusive || !strings.Contains(r.stderr, "not all could be looked into: 8 bytes of cell_msgs/msg/Joint: no definition") {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		r = b.run("topic", "echo", "/text", "--count", "1")
		if r.code != Pass || !strings.Contains(r.stdout, "# 8 bytes of std_msgs/msg/String: the definition of std_msgs/msg/String that was found has the hash RIHS01_df66") ||
			!strings.Contains(r.stdout, "the graph's has RIHS01_other") {
			t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
		}
		share := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(share, "cell_msgs", "msg"), 0o755))
		must(t, os.WriteFile(filepath.Join(share, "cell_msgs", "msg", "Joint.msg"), []byte("int32 angle\n"), 0o644))
		every(b, g, "/known", 100*time.Millisecond, func(int) []byte { return []byte{0, 1, 0, 0, 7, 0, 0, 0} }, harness.Using[[]byte](hashless{}))
		b.run("topic", "echo", "/known", "--count", "1", "--share", share).want(t, Pass, "angle: 7\n---\n", "")
		t.Setenv("AMENT_PREFIX_PATH", "/no/such/folder:"+share)
		b.run("topic", "echo", "/known", "--for", "1s", "--expect", "angle==7").want(t, Pass, "angle: 7\n---\npass: message 1 has angle==7\n", "")
	})
}

type hashless struct{ raw }

func (hashless) TypeName() string { return "cell_msgs/msg/Joint" }
func (hashless) TypeHash() string { return "" }
