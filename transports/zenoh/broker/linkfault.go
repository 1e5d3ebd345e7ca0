package broker

import (
	"fmt"
	"sync"
)

// Stall stops reading from the link and writing to it, as when the network in
// between stands still, until the fault is undone. Its lease does not run
// meanwhile; the other end may lose patience after Config.Lease, and messages for
// it that must not be dropped keep their senders waiting, Config.Patience at most.
func (l *Link) Stall() (*Fault, error) {
	return l.fault("stall "+l.String(), 1, 0, 1, 0)
}

// DropSent makes the link half-open: what it sends is lost, signs of life
// included, so that it ends after its lease.
func (l *Link) DropSent() (*Fault, error) {
	return l.fault("lose what comes from "+l.String(), 0, 1, 0, 0)
}

// DropReceived makes the link half-open the other way: what is sent to it is
// lost, signs of life included, so that it may lose patience after Config.Lease.
func (l *Link) DropReceived() (*Fault, error) {
	return l.fault("lose what goes to "+l.String(), 0, 0, 0, 1)
}

// fault adds to the counters of reader and outbox until it is undone.
func (l *Link) fault(what string, inStalls, inMutes, outStalls, outMutes int) (*Fault, error) {
	f := &Fault{what: what, b: l.b}
	if err := l.Err(); err != nil {
		return nil, fmt.Errorf("%s: it has ended: %w", what, err)
	}
	// Counters run on when others disturb the link, so each fault has a beginning
	// and an end.
	count := func() (n uint64) {
		l.rx.mu.Lock()
		if inStalls+inMutes > 0 {
			n += l.rx.kept
		}
		l.rx.mu.Unlock()
		l.out.mu.Lock()
		if outStalls+outMutes > 0 {
			n += l.out.kept
		}
		l.out.mu.Unlock()
		return n
	}
	var mu sync.Mutex
	began, over, kept := count(), false, uint64(0)
	f.kept = func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			kept = count() - began
		}
		return kept
	}
	f.undo = func() {
		f.kept()
		mu.Lock()
		over = true
		mu.Unlock()
		l.change(-inStalls, -inMutes)
		l.out.change(-outStalls, -outMutes)
		l.b.unhook(f)
	}
	if err := l.b.hook(f, false); err != nil {
		return nil, err
	}
	l.change(inStalls, inMutes)
	l.out.change(outStalls, outMutes)
	return f, nil
}

// change stalls or mutes the reader, or ends that.
func (l *Link) change(stalls, mutes int) {
	x := &l.rx
	x.mu.Lock()
	x.stalls += stalls
	x.mutes += mutes
	x.gate.Broadcast()
	x.mu.Unlock()
}
