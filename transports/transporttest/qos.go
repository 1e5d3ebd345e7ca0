package transporttest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/robospec/robospec/transports"
)

func durable(d transports.Durability, depth int) settings {
	return settings{QoS: transports.QoS{Reliability: transports.Reliable, Durability: d, Depth: depth}}
}

// kept is a transient-local publisher that has published the given payloads,
// which an early subscription has received.
func (b *bench) kept(c transports.Conn, topic string, depth int, payloads ...string) transports.Publisher {
	b.Helper()
	p := b.advertise(c, topic, durable(transports.TransientLocal, depth))
	b.publish(p, payloads...)
	return p
}

func lateVolatile(b *bench) {
	_, _, p, early := b.pair(reliable)
	b.publish(p, "old")
	early.exactly("old")
	late := b.subscribe(b.dial("late"), b.name("topic"), durable(transports.Volatile, 10))
	b.meets(p, early, late)
	b.publish(p, "new")
	late.exactly("new")
	early.exactly("old", "new")
}

func lateTransientLocal(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	p := b.kept(from, b.name("topic"), 3, "1", "2", "3", "4", "5")
	deep := b.subscribe(to, b.name("topic"), durable(transports.TransientLocal, 10))
	deep.exactly("3", "4", "5")
	shallow := b.subscribe(to, b.name("topic"), durable(transports.TransientLocal, 2))
	shallow.exactly("4", "5")
	volatile := b.subscribe(to, b.name("topic"), durable(transports.Volatile, 10))
	if !b.w.Lacks.Matched {
		b.counted(p, 3)
	}
	b.fence(from, to)
	b.publish(p, "6")
	volatile.exactly("6")
	deep.exactly("3", "4", "5", "6")
	shallow.exactly("4", "5", "6")
	for i, a := range deep.all() {
		if a.Received.After(a.at) {
			b.Errorf("kept message %d reached its sink before its receive stamp", i)
		}
		if i > 0 && a.HasSeq && a.Seq != deep.all()[i-1].Seq+1 {
			b.Errorf("kept message %d has number %d after %d", i, a.Seq, deep.all()[i-1].Seq)
		}
	}
}

// lateLatched is what every latching wire can do: the last message.
func lateLatched(b *bench) {
	p := b.kept(b.dial("from"), b.name("topic"), 1, "first", "last")
	late := b.subscribe(b.dial("to"), b.name("topic"), durable(transports.TransientLocal, 1))
	late.exactly("last")
	b.publish(p, "next")
	late.exactly("last", "next")
}

// lateSeveralPublishers: depth counts for each publisher.
func lateSeveralPublishers(b *bench) {
	const n = 5
	for i := range n {
		b.kept(b.dial(fmt.Sprintf("from_%d", i)), b.name("topic"), 1, "old", fmt.Sprintf("last of %d", i))
	}
	late := b.subscribe(b.dial("to"), b.name("topic"), durable(transports.TransientLocal, 1))
	got := make(map[string]int)
	for _, a := range late.wait(n) {
		got[string(a.Payload)]++
	}
	for i := range n {
		if text := fmt.Sprintf("last of %d", i); got[text] != 1 {
			b.Errorf("%q came %d times", text, got[text])
		}
	}
}

// lateAmidBurst joins while messages flow: what is kept and what is live meet
// without a gap and without a message twice.
func lateAmidBurst(b *bench) {
	const n = 2000
	from, to := b.dial("from"), b.dial("to")
	p := b.advertise(from, b.name("topic"), durable(transports.TransientLocal, n))
	half := make(chan struct{})
	sent := b.background(func() {
		for i := range n {
			if i == n/2 {
				close(half)
			}
			if err := p.Publish(b.Context(), fmt.Append(nil, i)); err != nil {
				b.Errorf("Publish: %v", err)
			}
		}
	})
	b.closed("half of the messages to be published", half)
	in := b.subscribe(to, b.name("topic"), durable(transports.TransientLocal, n))
	b.closed("all messages to be published", sent)
	for i, a := range in.wait(n) {
		if string(a.Payload) != fmt.Sprint(i) {
			b.Fatalf("message %.40q arrived in place of %d", a.Payload, i)
		}
	}
}

func lateDefault(b *bench) {
	p := b.kept(b.dial("from"), b.name("topic"), 1, "old", "latched")
	late := b.subscribe(b.dial("to"), b.name("topic"), settings{})
	late.exactly("latched")
	b.publish(p, "next")
	late.exactly("latched", "next")
}

// lateDefaultMixed: one publisher that keeps nothing makes the default
// volatile, and everyone is heard.
func lateDefaultMixed(b *bench) {
	one, other, to := b.dial("one"), b.dial("other"), b.dial("to")
	keeps := b.kept(one, b.name("topic"), 1, "latched")
	plain := b.advertise(other, b.name("topic"), settings{QoS: transports.QoS{Reliability: transports.BestEffort}})
	early := b.subscribe(to, b.name("topic"), durable(transports.Volatile, 1).bestEffort())
	if !b.w.Lacks.Matched {
		b.counted(early.Closer, 2)
	}
	late := b.subscribe(to, b.name("topic"), settings{})
	b.meets(keeps, early, late)
	b.meets(plain, early, late)
	b.publish(keeps, "a")
	late.wait(1)
	b.publish(plain, "b")
	late.exactly("a", "b")
}

func (s settings) bestEffort() settings {
	s.Reliability = transports.BestEffort
	return s
}

// matrix has subscriptions of every asked setting beside publishers of every
// offered one, and checks that exactly those hear each other that
// QoS.Incompatible lets. control is the subscription that hears everyone.
func (b *bench) matrix(offered, asked []settings, control settings) {
	b.Helper()
	for _, offer := range offered {
		topic := b.name(strings.NewReplacer(" ", "_", ",", "").Replace(offer.QoS.String()))
		from, to := b.dial("from"), b.dial("to")
		p := b.advertise(from, topic, offer)
		all := b.subscribe(to, topic, control)
		var hear, deaf []*inbox
		for _, ask := range asked {
			in := b.subscribe(to, topic, ask)
			if ask.Incompatible(offer.QoS) == "" {
				hear = append(hear, in)
			} else {
				deaf = append(deaf, in)
			}
		}
		b.meets(p, append(hear, all)...)
		b.publish(p, "message")
		for _, in := range append(hear, all) {
			in.wait(1)
		}
		b.fence(from, to)
		for _, in := range deaf {
			if got := in.all(); len(got) > 0 {
				b.Errorf("a publisher that offers (%v) was heard by a subscription that it does not suit", offer.QoS)
			}
			if m, ok := in.Closer.(transports.Matched); ok && !b.w.Lacks.Matched {
				if n, _ := m.Matched(); n != 0 {
					b.Errorf("a publisher that offers (%v) is counted by a subscription that it does not suit", offer.QoS)
				}
			}
		}
	}
}

func reliabilityMatrix(b *bench) {
	var all []settings
	for _, r := range []transports.Reliability{transports.ReliabilityDefault, transports.Reliable, transports.BestEffort} {
		all = append(all, settings{QoS: transports.QoS{Reliability: r}})
	}
	b.matrix(all, all, settings{})
}

func durabilityMatrix(b *bench) {
	var all []settings
	for _, d := range []transports.Durability{transports.DurabilityDefault, transports.Volatile, transports.TransientLocal} {
		all = append(all, durable(d, 0))
	}
	b.matrix(all, all, settings{})
}

func typeMismatch(b *bench) {
	const hash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
	text := transports.Type{Name: "std_msgs/msg/String", Hash: hash}
	from, to := b.dial("from"), b.dial("to")
	p := b.advertise(from, b.name("topic"), settings{Type: text})
	same := b.subscribe(to, b.name("topic"), settings{Type: text})
	open := b.subscribe(to, b.name("topic"), settings{})
	name := b.subscribe(to, b.name("topic"), settings{Type: transports.Type{Name: text.Name}})
	other := b.subscribe(to, b.name("topic"), settings{Type: transports.Type{Name: "std_msgs/msg/Bool", Hash: "RIHS01_" + strings.Repeat("0", 64)}})
	changed := b.subscribe(to, b.name("topic"), settings{Type: transports.Type{Name: text.Name, Hash: "RIHS01_" + strings.Repeat("0", 64)}})
	b.meets(p, same, open, name)
	b.publish(p, "message")
	for _, in := range []*inbox{same, open, name} {
		in.exactly("message")
	}
	b.fence(from, to)
	for what, in := range map[string]*inbox{"type": other, "type hash": changed} {
		if len(in.all()) > 0 {
			b.Errorf("a subscription of another %s received the message", what)
		}
	}

	if b.w.Lacks.Services || b.w.Lacks.NoResponder {
		return
	}
	if _, err := to.Serve(b.Context(), b.name("service"), transports.Type{Name: "std_srvs/srv/Empty"}, func(r transports.Request) {
		b.reply(r, "")
	}); err != nil {
		b.Fatalf("Serve: %v", err)
	}
	stranger, err := from.Client(b.Context(), b.name("service"), transports.Type{Name: "std_srvs/srv/SetBool"})
	if err != nil {
		b.Fatalf("Client: %v", err)
	}
	served, err := from.Client(b.Context(), b.name("service"), transports.Type{Name: "std_srvs/srv/Empty"})
	if err != nil {
		b.Fatalf("Client: %v", err)
	}
	b.served(served, 1)
	_, err = b.call(b.Context(), stranger, "x").wait()
	b.fails("a call of another type", err, transports.ErrNoResponder)
}

// subscriptionClose ends one of two subscriptions: the other lives on.
func subscriptionClose(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	ends, stays := b.subscribe(to, b.name("topic"), reliable), b.subscribe(to, b.name("topic"), reliable)
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, ends, stays)
	b.publish(p, "1")
	ends.exactly("1")
	for range 2 {
		if err := ends.Close(); err != nil {
			b.Errorf("Close: %v", err)
		}
	}
	if !b.w.Lacks.Matched {
		b.counted(p, 1)
	}
	b.publish(p, "2")
	stays.exactly("1", "2")
	b.fence(from, to)
	ends.exactly("1")
}

func subscriptionCloseWaits(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	entered, release := make(chan struct{}), make(chan struct{})
	open := sync.OnceFunc(func() { close(release) })
	defer open() // also where the case fails on the way
	in := b.react(to, b.name("topic"), reliable, func(transports.Sample) {
		close(entered)
		<-release
	})
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, in)
	sent := b.background(func() { b.publish(p, "x") })
	b.closed("the sink to run", entered)
	closed := b.background(func() { in.Close() })
	b.notClosed("Close returned while the sink ran", closed)
	open()
	b.closed("Close to return once the sink has", closed)
	b.closed("Publish to return", sent)
	if got := len(in.all()); got != 1 {
		b.Errorf("%d messages after Close, want the one", got)
	}
}

func subscriptionCloseFromSink(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	subscribed := make(chan struct{})
	var in *inbox
	in = b.react(to, b.name("topic"), reliable, func(transports.Sample) {
		<-subscribed
		if err := in.Close(); err != nil {
			b.Errorf("Close from the sink: %v", err)
		}
	})
	close(subscribed)
	stays := b.subscribe(to, b.name("topic"), reliable)
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, in, stays)
	b.publish(p, "1", "2", "3")
	stays.exactly("1", "2", "3")
	in.exactly("1")
}

func publisherClose(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	in := b.subscribe(to, b.name("topic"), reliable)
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, in)
	b.publish(p, "1")
	for range 2 {
		if err := p.Close(); err != nil {
			b.Errorf("Close: %v", err)
		}
	}
	b.fails("Publish after Close", p.Publish(context.WithoutCancel(b.Context()), nil), transports.ErrClosed)
	in.exactly("1")
	if !b.w.Lacks.Matched {
		b.counted(in.Closer, 0)
	}
	again := b.advertise(from, b.name("topic"), reliable)
	b.meets(again, in)
	b.publish(again, "2")
	in.exactly("1", "2")
}
