package measure

import (
	"fmt"
	"time"
)

// Between is the part of the window that was received between two instants,
// both inclusive. Nobody knows which part the dropped messages belong to, so
// they weaken every part. A part that reaches past the window is cut. A sign
// of life outside the part proves nothing in it.
func (w *Window) Between(from, to time.Time) *Window {
	s := w.Stretch
	s.From, s.To = from, to
	if s.Cut == nil {
		switch {
		case from.Before(w.From):
			s.Cut = fmt.Errorf("it begins %v before the window it is taken from", w.From.Sub(from))
		case to.After(w.To):
			s.Cut = fmt.Errorf("it ends %v after the window it is taken from", to.Sub(w.To))
		}
	}
	if at := s.Life.At; !at.IsZero() && (at.Before(from) || at.After(to)) {
		s.Life.State = LifeUnknown
	}
	return NewWindow(s, w.where(func(a *Arrival) bool {
		return !a.Received.Before(from) && !a.Received.After(to)
	}))
}

// BetweenOrders keeps the messages with after < Order < before, which tells
// what came first where stamps tie. It does not move From and To; cut them
// with Between first.
func (w *Window) BetweenOrders(after, before uint64) *Window {
	return NewWindow(w.Stretch, w.where(func(a *Arrival) bool { return after < a.Order && a.Order < before }))
}

// Filter keeps the messages that keep is true for. keep is asked about
// undecodable ones too; when it drops one, nobody knows whether that was
// right, and the result is cut.
func (w *Window) Filter(keep func(Arrival) bool) *Window {
	unjudged := 0
	kept := w.where(func(a *Arrival) bool {
		k := keep(*a)
		if !k && a.Err != nil {
			unjudged++
		}
		return k
	})
	s := w.Stretch
	if unjudged > 0 && s.Cut == nil {
		s.Cut = fmt.Errorf("the filter left out %s that did not decode", messages(unjudged))
	}
	return NewWindow(s, kept)
}

func (w *Window) where(keep func(*Arrival) bool) []Arrival {
	var kept []Arrival
	for i := range w.arrivals {
		if keep(&w.arrivals[i]) {
			kept = append(kept, w.arrivals[i])
		}
	}
	return kept
}
