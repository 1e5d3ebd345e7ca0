package transporttest

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/robospec/robospec/transports"
)

var (
	reliable = settings{QoS: transports.QoS{Reliability: transports.Reliable}}
)

// pair is a publisher and its only subscription, matched, on two Conns.
func (b *bench) pair(s settings) (from, to transports.Conn, p transports.Publisher, in *inbox) {
	b.Helper()
	from, to = b.dial("from"), b.dial("to")
	in = b.subscribe(to, b.name("topic"), s)
	p = b.advertise(from, b.name("topic"), s)
	b.meets(p, in)
	return from, to, p, in
}

func numbered(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint(i))
	}
	return texts
}

func messageOrder(b *bench) {
	_, _, p, in := b.pair(reliable)
	want := numbered(1000)
	b.publish(p, want...)
	in.exactly(want...)
}

func messageBurst(b *bench) {
	const n = 100_000
	_, _, p, in := b.pair(reliable)
	payload := make([]byte, 16)
	for i := range n {
		binary.BigEndian.PutUint64(payload, uint64(i))
		if err := p.Publish(b.Context(), payload); err != nil {
			b.Fatalf("Publish of message %d: %v", i, err)
		}
	}
	for i, a := range in.wait(n) {
		if got := binary.BigEndian.Uint64(a.Payload); got != uint64(i) {
			b.Fatalf("message %d arrived in place of %d", got, i)
		}
	}
	if got := len(in.all()); got != n {
		b.Errorf("%d messages arrived, %d were published", got, n)
	}
}

func messageLarge(b *bench) {
	_, _, p, in := b.pair(reliable)
	// Around the sizes at which wires change how they write a length, cut a
	// message in fragments, or fill a socket buffer.
	var sent [][]byte
	for _, n := range []int{127, 128, 1_472, 16_383, 16_384, 65_499, 65_535, 65_536, 70_000, 1 << 20, 10 << 20, 10<<20 + 1, 10 << 20} {
		if b.w.Lacks.MaxPayload > 0 && n > b.w.Lacks.MaxPayload {
			continue
		}
		payload := make([]byte, n)
		rand.Read(payload)
		sent = append(sent, payload)
		if err := p.Publish(b.Context(), payload); err != nil {
			b.Fatalf("Publish of %d bytes: %v", n, err)
		}
	}
	for i, a := range in.wait(len(sent)) {
		if !bytes.Equal(a.Payload, sent[i]) {
			b.Errorf("%d bytes arrived changed (%d bytes)", len(sent[i]), len(a.Payload))
		}
	}
}

func messageEmpty(b *bench) {
	_, _, p, in := b.pair(reliable)
	b.publish(p, "", "x", "")
	in.exactly("", "x", "")
}

func messageBufferReuse(b *bench) {
	_, _, p, in := b.pair(reliable)
	buffer := make([]byte, 2_000)
	for i := range 200 {
		for k := range buffer {
			buffer[k] = byte(i)
		}
		if err := p.Publish(b.Context(), buffer); err != nil {
			b.Fatalf("Publish: %v", err)
		}
		clear(buffer)
	}
	for i, a := range in.wait(200) {
		for k, got := range a.Payload {
			if got != byte(i) {
				b.Fatalf("byte %d of message %d is %d: the publisher's buffer shows through", k, i, got)
			}
		}
	}
}

func messageStamps(b *bench) {
	_, _, p, in := b.pair(reliable)
	const n = 100
	var before [n]time.Time
	now := time.Now()
	monotonic := now != now.Round(0) // a bubble's clock has no such reading
	for i := range n {
		before[i] = time.Now()
		b.publish(p, fmt.Sprint(i))
	}
	got := in.wait(n)
	for i, a := range got {
		switch {
		case monotonic && a.Received == a.Received.Round(0):
			b.Fatalf("Received of message %d has no monotonic reading", i)
		case a.Received.Before(before[i]):
			b.Fatalf("message %d was received %v before it was published", i, before[i].Sub(a.Received))
		case a.Received.After(a.at):
			b.Fatalf("message %d reached its sink %v before its receive stamp", i, a.Received.Sub(a.at))
		case i > 0 && a.Received.Before(got[i-1].Received):
			b.Fatalf("message %d was received %v before the one ahead of it", i, got[i-1].Received.Sub(a.Received))
		}
		switch {
		case b.w.Lacks.Seq == a.HasSeq:
			b.Fatalf("message %d: HasSeq is %v", i, a.HasSeq)
		case i > 0 && a.HasSeq && a.Seq != got[i-1].Seq+1:
			b.Fatalf("message %d has number %d after %d", i, a.Seq, got[i-1].Seq)
		}
		switch {
		case b.w.Lacks.PublisherID != a.Publisher.IsZero():
			b.Fatalf("message %d has publisher %v", i, a.Publisher)
		case a.Publisher != got[0].Publisher:
			b.Fatalf("one publisher is %v and %v", got[0].Publisher, a.Publisher)
		}
		switch {
		case b.w.Lacks.Sent != a.Sent.IsZero():
			b.Fatalf("message %d was sent at %v", i, a.Sent)
		case !a.Sent.IsZero() && a.Sent.Sub(before[i]).Abs() > time.Minute:
			b.Fatalf("message %d, published at %v, was sent at %v", i, before[i], a.Sent)
		}
	}
}

func severalReaders(b *bench) {
	from := b.dial("from")
	var inboxes []*inbox
	for i := range 3 {
		to := b.dial(fmt.Sprintf("to_%d", i))
		// Two on one Conn each get every message.
		inboxes = append(inboxes, b.subscribe(to, b.name("topic"), reliable), b.subscribe(to, b.name("topic"), reliable))
	}
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, inboxes...)
	want := numbered(500)
	b.publish(p, want...)
	for _, in := range inboxes {
		in.exactly(want...)
	}
}

// inOrderOf checks that each of the publishers' messages, "publisher number",
// came once and in order.
func inOrderOf(in *inbox, publishers, each int) {
	in.b.Helper()
	next := make([]int, publishers)
	ids := make(map[any]int)
	for _, a := range in.wait(publishers * each) {
		var who, number int
		if _, err := fmt.Sscan(string(a.Payload), &who, &number); err != nil {
			in.b.Fatalf("%q arrived: %v", a.Payload, err)
		}
		if number != next[who] {
			in.b.Fatalf("message %d of publisher %d came in place of %d", number, who, next[who])
		}
		next[who]++
		ids[a.Publisher] = who
	}
	if !in.b.w.Lacks.PublisherID && len(ids) != publishers {
		in.b.Errorf("%d publishers have %d identifiers", publishers, len(ids))
	}
}

func severalPublishers(b *bench) {
	const n, each = 4, 500
	to := b.dial("to")
	in := b.subscribe(to, b.name("topic"), reliable)
	var wg sync.WaitGroup
	var publishers []transports.Publisher
	for i := range n {
		p := b.advertise(b.dial(fmt.Sprintf("from_%d", i)), b.name("topic"), reliable)
		publishers = append(publishers, p)
		b.meets(p, in)
	}
	for i, p := range publishers {
		wg.Go(func() {
			for k := range each {
				if err := p.Publish(b.Context(), fmt.Appendf(nil, "%d %d", i, k)); err != nil {
					b.Errorf("Publish: %v", err)
				}
			}
		})
	}
	wg.Wait()
	inOrderOf(in, n, each)
}

// concurrentPublish has several goroutines share one publisher: their messages
// interleave, but all readers see one order, which is that of each goroutine.
func concurrentPublish(b *bench) {
	const n, each = 4, 500
	from, to := b.dial("from"), b.dial("to")
	first, second := b.subscribe(to, b.name("topic"), reliable), b.subscribe(to, b.name("topic"), reliable)
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, first, second)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for k := range each {
				if err := p.Publish(b.Context(), fmt.Appendf(nil, "%d %d", i, k)); err != nil {
					b.Errorf("Publish: %v", err)
				}
			}
		})
	}
	wg.Wait()
	next := make([]int, n)
	a, c := first.wait(n*each), second.wait(n*each)
	for i := range a {
		if !bytes.Equal(a[i].Payload, c[i].Payload) {
			b.Fatalf("two readers of one publisher got %q and %q as message %d", a[i].Payload, c[i].Payload, i)
		}
		if i > 0 && a[i].HasSeq && a[i].Seq != a[i-1].Seq+1 {
			b.Fatalf("message %d has number %d after %d", i, a[i].Seq, a[i-1].Seq)
		}
		var who, number int
		if _, err := fmt.Sscan(string(a[i].Payload), &who, &number); err != nil {
			b.Fatalf("%q arrived: %v", a[i].Payload, err)
		}
		if number != next[who] {
			b.Fatalf("message %d of goroutine %d came in place of %d", number, who, next[who])
		}
		next[who]++
	}
}

func localDelivery(b *bench) {
	c := b.dial("both")
	other := b.dial("other")
	in := b.subscribe(c, b.name("topic"), reliable)
	far := b.subscribe(other, b.name("topic"), reliable)
	p := b.advertise(c, b.name("topic"), reliable)
	b.meets(p, in, far)
	want := numbered(500)
	b.publish(p, want...)
	in.exactly(want...)
	far.exactly(want...)
}

// publishFromSink plays ping-pong: each side answers from its sink.
func publishFromSink(b *bench) {
	const rounds = 500
	one, other := b.dial("one"), b.dial("other")
	ping, pong := b.advertise(one, b.name("ping"), reliable), b.advertise(other, b.name("pong"), reliable)
	send := func(p transports.Publisher, payload []byte) {
		if err := p.Publish(b.Context(), payload); err != nil {
			b.Errorf("Publish from a sink: %v", err)
		}
	}
	pings := b.react(other, b.name("ping"), reliable, func(s transports.Sample) { send(pong, s.Payload) })
	pongs := b.react(one, b.name("pong"), reliable, func(s transports.Sample) {
		var n int
		if _, err := fmt.Sscan(string(s.Payload), &n); err != nil {
			b.Errorf("%q arrived: %v", s.Payload, err)
		}
		if n+1 < rounds {
			send(ping, fmt.Append(nil, n+1))
		}
	})
	b.meets(ping, pings)
	b.meets(pong, pongs)
	b.publish(ping, "0")
	// A sink's answer may arrive before the sink has returned and its message
	// is in the inbox, so only the far end has an order to be checked here.
	pings.wait(rounds)
	if got := len(pongs.wait(rounds)); got != rounds {
		b.Errorf("%d pongs to %d pings", got, rounds)
	}
}

// readiness is the barrier every spec relies on: what is published once a
// publisher knows of its subscription is not lost.
func readiness(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	for i := range 200 {
		topic := b.name(fmt.Sprintf("topic_%d", i))
		var p transports.Publisher
		var in *inbox
		if i%2 == 0 {
			p, in = b.advertise(from, topic, settings{}), b.subscribe(to, topic, settings{})
		} else {
			in, p = b.subscribe(to, topic, settings{}), b.advertise(from, topic, settings{})
		}
		b.counted(p, 1)
		b.publish(p, "first")
		in.exactly("first")
		p.Close()
		in.Close()
	}
}

func survivesBadBytes(b *bench) {
	_, to, p, in := b.pair(reliable)
	b.publish(p, "before")
	in.exactly("before")
	b.w.BadBytes(b, b.name("topic"))
	b.publish(p, "after")
	got := in.wait(2)
	if last := got[len(got)-1]; string(last.Payload) != "after" {
		b.Errorf("%.40q arrived last, want \"after\"", last.Payload)
	}
	if err := to.Err(); err != nil {
		b.Errorf("bad bytes ended the Conn: %v", err)
	}
}
