// Package zenohtalker tests talker.py, a Python program that uses eclipse-zenoh
// and knows nothing of robospec. Each spec starts it and ends it. The router is
// the one that ROBOSPEC_GRAPH names, zenoh:?router=embedded for one in each spec,
// or a real one that the tests start.
package zenohtalker_test

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/testenv"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs"
)

var python, router string

func TestTalker(t *testing.T) {
	python = testenv.Python(t)
	router = os.Getenv(fixtures.EnvGraph)
	if router == "" {
		router = "zenoh://" + strings.TrimPrefix(testenv.ZenohRouter(t), "tcp/")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "talker", fixtures.Interruptible)
}

type state struct {
	Mode  string
	Count int
}

type addends struct{ A, B any }

type total struct{ Sum int }

var add = msgs.JSONService[addends, total]("demo/srv/Add")

var _ = Describe("the talker", func() {
	var (
		rig     *fixtures.Rig
		command *harness.Publisher[string]
		count   *harness.Subscription[string]
		states  *harness.Subscription[state]
		adder   *harness.Client[addends, total]
		talker  *fixtures.Proc
	)

	BeforeEach(func() {
		rig = fixtures.Graph(GinkgoT(), fixtures.On(router))
		command = fixtures.Advertise[string](rig, "/talker/command")
		count = fixtures.Subscribe[string](rig, "/talker/count")
		states = fixtures.Subscribe[state](rig, "/talker/state", harness.JSON[state]())
		adder = fixtures.NewClient(rig, "/talker/add", add)

		at, err := url.Parse(rig.URL())
		Expect(err).NotTo(HaveOccurred())
		endpoint := "tcp/" + at.Host
		talker = fixtures.Process(rig, exec.Command(python, "talker.py", endpoint))
		Expect(talker.Stdout()).To(ReceiveWithin(10*time.Second, "ready"))
		fixtures.WaitForSubscribers(rig, command, 1)
		fixtures.WaitForServer(rig, adder)
	})

	say := func(ctx SpecContext, word string) harness.Mark {
		GinkgoHelper()
		mark, err := command.Publish(ctx, word)
		Expect(err).NotTo(HaveOccurred())
		return mark
	}

	It("counts from 1", func() {
		Expect(count.FromStart()).To(Within(2*time.Second, InOrder("1", "2", "3")))
	})

	It("counts 20 times a second", func() {
		Expect(count).To(Over(3*time.Second, HaveRate(BeNumerically("~", 20, 5))))
	})

	It("tells how far it is", func() {
		Expect(states).To(ReceiveWithin(3*time.Second, And(
			Field("Mode", "talking"),
			Field("Count", BeNumerically(">", 10)),
		)))
	})

	It("adds", func(ctx SpecContext) {
		call := adder.Call(ctx, addends{2, 3})
		Expect(call).To(ReplyWithin(time.Second, Field("Sum", 5)))
	})

	It("refuses to add a word to a number", func(ctx SpecContext) {
		call := adder.Call(ctx, addends{2, "three"})
		Expect(call).To(FailWithin(time.Second, "cannot add"))
	})

	It("is silent while it is paused", func(ctx SpecContext) {
		say(ctx, "pause")
		Expect(states).To(ReceiveWithin(2*time.Second, Field("Mode", "paused")))
		paused, _ := states.Decided() // the message that the expectation found
		Expect(count.After(paused.Mark())).To(StaySilentFor(time.Second))
		say(ctx, "resume")
		Expect(count).To(ReceiveWithin(2 * time.Second))
	})

	It("ends when it is told to", func(ctx SpecContext) {
		say(ctx, "quit")
		Expect(talker).To(ExitWithin(5*time.Second, 0))
		Expect(talker.Stdout().FromStart()).To(Within(time.Second, InOrder("ready", "command: quit", "bye")))
	})
})
