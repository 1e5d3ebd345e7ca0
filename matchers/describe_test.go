package matchers_test

import (
	"math"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	. "github.com/robospec/robospec/matchers"
)

func reach(o odometry) float64 { return math.Abs(o.X) }

func TestTransformIsNamedAndItsResultShown(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s := w.stage()
		s.pub.Every(20*ms, func(i int) odometry { return odometry{X: -1.5, Covariance: [4]float32{0, 2}} })

		c, text := to(s.odom, Over(time.Second, EveryMessage(WithTransform(reach, BeNumerically("<", 1)))))
		want(t, c, text, red, "EveryMessage(reach() < 1)", "message 1 did not match: reach(): got 1.5, want < 1")

		none := WithTransform(func(o odometry) [4]float32 { return o.Covariance }, HaveEach(BeZero()))
		c, text = to(s.odom, ReceiveWithin(100*ms, none))
		want(t, c, text, red, "a message with func() each is zero", "func(): got [0 2 0 0], want each is zero")
	})
}
