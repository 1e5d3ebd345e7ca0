package inproc_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
	"github.com/robospec/robospec/transports/transporttest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConformance runs the suite in virtual time, where a wait that has nothing
// to wait for ends at once, and on the clock, where goroutines really race.
func TestConformance(t *testing.T) {
	for name, each := range map[string]func(*testing.T, func(*testing.T)){
		"bubble": synctest.Test,
		"clock":  func(t *testing.T, run func(*testing.T)) { run(t) },
	} {
		t.Run(name, func(t *testing.T) {
			var network *inproc.Network // of the case that runs
			transporttest.Run(t, transporttest.Wire{
				Dial: func(_ transporttest.TB, node string) transports.Conn { return network.Join(node) },
				Kill: func(_ transporttest.TB, c transports.Conn) { c.(*inproc.Conn).Sever(errors.New("pulled")) },
				Each: func(t *testing.T, run func(t *testing.T)) {
					each(t, func(t *testing.T) {
						network = inproc.NewNetwork()
						run(t)
					})
				},
			})
		})
	}
}
