package harness_test

import (
	"testing"
	"testing/synctest"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/transports/inproc"
)

func TestReaderAfterAMarkPrintsTheMarkBesideItsTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := harness.New(inproc.NewNetwork().Join("spec"), harness.Config{})
		defer g.Close()
		sub, err := harness.Subscribe[string](t.Context(), g, "/odom")
		if err != nil {
			t.Fatal(err)
		}
		pub, err := harness.Advertise[string](t.Context(), g, "/odom")
		if err != nil {
			t.Fatal(err)
		}
		m, err := pub.Publish(t.Context(), "still")
		if err != nil {
			t.Fatal(err)
		}
		want := `subscription to /odom after publish on /odom at +0.000000s: 1 messages, newest "still" on /odom at +0.000000s`
		if got := sub.After(m).GomegaString(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		want = `subscription to /odom: 1 messages, newest "still" on /odom at +0.000000s`
		if got := sub.FromStart().GomegaString(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}
