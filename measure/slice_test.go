package measure_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

func TestBetween(t *testing.T) {
	w := with(window(time.Second, 0, 100*ms, 200*ms, 300*ms, 400*ms), func(s *measure.Stretch) {
		s.Dropped = 2
		s.Life = measure.Life{State: measure.LifeShown, Sign: "a message", At: t0.Add(300 * ms)}
	})
	part := w.Between(t0.Add(100*ms), t0.Add(300*ms))
	if part.Len() != 3 || part.At(0).Order != 2 || part.Duration() != 200*ms || part.Topic != "/odom" {
		t.Errorf("part is %v", part)
	}
	if part.Dropped != 2 || part.Cut != nil || part.Life != w.Life {
		t.Errorf("stretch is %+v", part.Stretch)
	}
	if early := w.Between(t0, t0.Add(200*ms)); early.Life.State != measure.LifeUnknown {
		t.Errorf("life is %v before its sign was seen", early.Life)
	}
	if all := w.Between(w.From, w.To); all.Len() != w.Len() || all.Stretch != w.Stretch {
		t.Errorf("the whole is %v", all)
	}
	for says, c := range map[string][2]time.Duration{
		"begins 1ms before": {-ms, 500 * ms},
		"ends 1ms after":    {0, 1001 * ms},
	} {
		out := w.Between(t0.Add(c[0]), t0.Add(c[1]))
		if out.Cut == nil || !strings.Contains(out.Cut.Error(), says) {
			t.Errorf("cut is %v, want it to say %q", out.Cut, says)
		}
	}
}

func TestBetweenKeepsWhyItWasCut(t *testing.T) {
	lost := errors.New("link lost")
	w := with(window(time.Second, 0), func(s *measure.Stretch) { s.Cut = lost })
	if got := w.Between(t0.Add(-ms), t0).Cut; !errors.Is(got, lost) {
		t.Errorf("cut is %v", got)
	}
}

func TestBetweenOrders(t *testing.T) {
	w := window(time.Second, 0, 0, 0, 0) // all at one instant, as in a bubble
	part := w.BetweenOrders(1, 4)
	if part.Len() != 2 || part.At(0).Order != 2 || part.At(1).Order != 3 || part.Stretch != w.Stretch {
		t.Errorf("part is %v", part)
	}
}

func TestFilter(t *testing.T) {
	s := measure.Stretch{Topic: "/log", From: t0, To: t0.Add(time.Second)}
	arrivals := append(numbered(alice, 1, 2), numbered(bob, 7, 9)...)
	w := measure.NewWindow(s, arrivals)
	ofBob := func(a measure.Arrival) bool { return a.Publisher == bob }
	got := w.Filter(ofBob)
	if l, err := got.Loss(); err != nil || l.Lost != 1 || l.Messages != 2 || got.Cut != nil {
		t.Errorf("loss is %v, %v, cut %v", l, err, got.Cut)
	}
	bad := measure.Arrival{Received: t0, Publisher: bob, Err: errBad}
	if kept := measure.NewWindow(s, append(arrivals, bad)).Filter(ofBob); kept.Len() != 3 || kept.Undecoded() != 1 || kept.Cut != nil {
		t.Errorf("window is %v", kept)
	}
	// Nobody knows whether an undecodable message would have passed.
	dropped := measure.NewWindow(s, append(arrivals, bad)).Filter(func(a measure.Arrival) bool { return a.Err == nil })
	_, err := dropped.MaxGap()
	wantInconclusive(t, err, "the filter left out 1 message that did not decode")
}

func TestZeroWindowIsInconclusive(t *testing.T) {
	var w measure.Window
	_, err := w.Rate()
	wantInconclusive(t, err)
	_, err = w.MaxGap()
	wantInconclusive(t, err)
	_, err = w.Jitter()
	wantInconclusive(t, err)
	_, err = w.Loss()
	wantInconclusive(t, err)
	s, err := w.Delays()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range statistics(s) {
		_, err := f()
		wantInconclusive(t, err)
	}
}
