package measure_test

import (
	"errors"
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

func TestPublisherID(t *testing.T) {
	for want, id := range map[string]measure.PublisherID{
		"-":                                {},
		"010f":                             {0x01, 0x0f},
		"0001":                             {0x00, 0x01},
		"000000000000000000000000000000ff": {15: 0xff},
	} {
		if got := id.String(); got != want || id.IsZero() != (want == "-") {
			t.Errorf("%v prints as %q, want %q", id[:], got, want)
		}
	}
}

func TestWindowString(t *testing.T) {
	w := measure.NewWindow(measure.Stretch{
		Topic: "/odom", From: t0, To: t0.Add(2 * time.Second), Dropped: 3, Cut: errors.New("link lost"),
	}, []measure.Arrival{{Received: t0}, {Received: t0, Err: errBad}})
	want := "window of /odom: 2 messages in 2s, 3 dropped by us, 1 did not decode, cut: link lost"
	if got := w.GomegaString(); got != want {
		t.Errorf("window prints as %q, want %q", got, want)
	}
	if got := (*measure.Window)(nil).String(); got != "no window" {
		t.Errorf("no window prints as %q", got)
	}
}

func TestStretchUntrustedContent(t *testing.T) {
	var s measure.Stretch
	if err := s.UntrustedContent(0); err != nil {
		t.Errorf("error is %v", err)
	}
	wantInconclusive(t, s.UntrustedContent(2), "2 messages that did not decode")
	s.Topic, s.Dropped = "/odom", 1
	wantInconclusive(t, s.UntrustedContent(2), "/odom", "1 message in our own log", "give the log more room")
	cause := errors.New("router left")
	s.Cut = cause
	wantInconclusive(t, s.UntrustedContent(2), "router left")
	if err := s.Untrusted(); !errors.Is(err, cause) {
		t.Errorf("%v does not unwrap to why it was cut", err)
	}
}
