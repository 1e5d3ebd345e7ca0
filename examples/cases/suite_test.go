// Package cases is ten suites that people really run, from public repositories
// (README.md names them), in the words of robospec. Each spec stands on top of
// its file, to copy from; below it a table runs it against a simulated node that
// does what the description says and against nodes with a fault each. The
// simulated nodes are in the files *_node_test.go.
package cases_test

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/robospec/robospec/fixtures"
)

const ms = time.Millisecond

func TestMain(m *testing.M) {
	ginkgosOwn := goleak.IgnoreAnyFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2")
	goleak.VerifyTestMain(m, ginkgosOwn)
}

func TestCases(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "cases", fixtures.Interruptible)
}

// spec is the body of a spec.
type spec func(ctx context.Context, rig *fixtures.Rig)

// node is something that joins the graph of a spec and plays a node of a robot.
type node interface{ join(e *executor) }

// verdict is what a spec has to say of a node.
type verdict struct {
	color string
	says  []string
}

const (
	green        = "green"
	red          = "red"
	inconclusive = "inconclusive"
	redIfShown   = "red or inconclusive"
)

// passes is the verdict on a good node.
func passes() verdict { return verdict{color: green} }

// fails is the verdict on a faulty one: its failure says each of these, which
// are regular expressions.
func fails(says ...string) verdict { return verdict{red, says} }

// provesNothing is the third verdict: what was not observed could have made it green or red.
func provesNothing(says ...string) verdict { return verdict{inconclusive, says} }

// failsIfShown is the verdict on a node that ought to have shown itself: it fails
// where the wire tells that the node is there, and proves nothing elsewhere.
func failsIfShown(says ...string) verdict { return verdict{redIfShown, says} }

// on runs a spec against a simulated node and compares what it says of it. On
// the private graph in memory that is done in virtual time, on any other graph
// that ROBOSPEC_GRAPH names in real time.
func on(n node, want verdict, s spec) {
	GinkgoHelper()
	graph := os.Getenv(fixtures.EnvGraph)
	try(n, want, s, graph == "" || graph == "inproc:")
}

// onProcess runs a spec that starts a process, in real time.
func onProcess(want verdict, s spec) {
	GinkgoHelper()
	try(nobody{}, want, s, false)
}

type nobody struct{}

func (nobody) join(*executor) {}

func try(n node, want verdict, s spec, virtual bool) {
	GinkgoHelper()
	run := func(tb fixtures.TB, judge func(body func())) {
		setUp := func(tb fixtures.TB) {
			e := &executor{tb: tb}
			tb.Cleanup(e.wg.Wait)
			rig := fixtures.Graph(tb)
			e.Graph = fixtures.Node(rig, "simulated")
			n.join(e)
			judge(func() { s(context.Background(), rig) })
		}
		if virtual {
			fixtures.InBubble(tb, setUp)
		} else {
			setUp(tb)
		}
	}
	if want.color == green {
		run(GinkgoTB(), func(body func()) { body() })
		return
	}
	t := &trial{TB: GinkgoTB()}
	t.run(func() {
		run(t, func(body func()) {
			if err := InterceptGomegaFailure(body); err != nil {
				t.Errorf("%v", err)
			}
		})
	})
	t.expect(want)
}
