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

func TestConformance(t *testing.T) {
	var network *inproc.Network // of the case that runs
	transporttest.Run(t, transporttest.Wire{
		Dial: func(_ transporttest.TB, node string) transports.Conn { return network.Join(node) },
		Kill: func(_ transporttest.TB, c transports.Conn) { c.(*inproc.Conn).Sever(errors.New("pulled")) },
		Each: func(t *testing.T, run func(t *testing.T)) {
			synctest.Test(t, func(t *testing.T) {
				network = inproc.NewNetwork()
				run(t)
			})
		},
	})
}
