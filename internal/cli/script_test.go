package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/cli"
	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// withoutLeaks is the tests, and the look for goroutines that they left.
type withoutLeaks struct{ *testing.M }

func (m withoutLeaks) Run() int {
	code := m.M.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	testscript.Main(withoutLeaks{m}, map[string]func(){"robospec": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		signal.Ignore(syscall.SIGPIPE)
		os.Exit(cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}})
}

// TestScripts runs the command line as a user does, in processes of its own, each
// script on a cell of nodes that are in this one.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	testenv.Must(t, err)
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			router := startRouter(t)
			observer := startCell(t, "ros2+zenoh://"+router+"?domain=7", "zenoh://"+router)
			testscript.Run(t, testscript.Params{
				Files:         []string{script},
				UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
				Setup: func(env *testscript.Env) error {
					env.Setenv("ROBOSPEC_GRAPH", "ros2+zenoh://"+router+"?domain=7")
					env.Setenv("PLAIN", "zenoh://"+router)
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"code": code, "masked": masked,
					"interrupt": func(ts *testscript.TestScript, neg bool, args []string) { interrupt(ts, observer, neg, args) },
				},
			})
		})
	}
}

// startRouter starts a router and returns its host and port.
func startRouter(t *testing.T) string {
	t.Helper()
	b, err := broker.Listen(t.Context(), broker.Config{})
	testenv.Must(t, err)
	t.Cleanup(func() { testenv.Must(t, b.Close()) })
	return strings.TrimPrefix(b.Endpoint(), "tcp/")
}

// code runs a command and compares its exit code: code 3 robospec …
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = regexp.MustCompile(`\d+`).FindString(err.Error())
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s (%v)", got, args[0], err)
	}
}

// masked writes what the last command printed, but for the numbers, into the file
// masked, to be compared with cmp.
func masked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: masked")
	}
	ts.Check(os.WriteFile(ts.MkAbs("masked"), []byte(mask(ts.ReadFile("stdout"))), 0o600))
}

var masks = []struct {
	what *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`(after message \d+|before the first message)`), "WHERE"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`"(publisher|id)":"[0-9a-f]+"`), `"$1":"ID"`},
	{regexp.MustCompile(`-?\b(\d+m)?\d+(\.\d+)?(ns|µs|ms|s)\b`), "T"},
	{regexp.MustCompile(`-?\b\d+(\.\d+)?(e[+-]?\d+)?( [kMG]?B\b)?`), "N"},
}

func mask(s string) string {
	for _, m := range masks {
		s = m.what.ReplaceAllString(s, m.to)
	}
	return s
}

// interrupt sends SIGINT to the commands that run in the background once one of
// them subscribes to a topic and that many messages came on it: interrupt TOPIC 10
func interrupt(ts *testscript.TestScript, observer *harness.Graph, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: interrupt TOPIC MESSAGES")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ts.Check(commandSubscribes(ctx, observer, args[0]))
	sub, err := harness.Subscribe[nav_msgs.Odometry](ctx, observer, args[0])
	ts.Check(err)
	defer sub.Close()
	for _, err := range sub.ListenReliable(ctx) {
		ts.Check(err)
		if n--; n <= 0 {
			break
		}
	}
	for _, c := range ts.BackgroundCmds() {
		ts.Check(c.Process.Signal(os.Interrupt))
	}
}

// commandSubscribes waits until a node that hides its name subscribes to a topic.
func commandSubscribes(ctx context.Context, observer *harness.Graph, topic string) error {
	for {
		g, changed := observer.Conn().(transports.Grapher).Graph()
		if slices.ContainsFunc(g.Endpoints, func(e transports.Endpoint) bool {
			return e.Kind == transports.SubscriptionEndpoint && e.Name == topic && strings.HasPrefix(e.Node, "/_robospec_")
		}) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("no command subscribed to %s", topic)
		}
	}
}

var lasted = regexp.MustCompile(`after [0-9.]+[µm]?s`)

// TestWithSDK has only programs of others on the other side: nodes on
// zenoh-ros2-sdk, and eclipse-zenoh's router.
func TestWithSDK(t *testing.T) {
	at := testenv.ZenohRouter(t)
	address := "ros2+zenoh://" + strings.TrimPrefix(at, "tcp/") + "?domain=7"
	peer := testenv.StartROSPeer(t, at, 7)
	robospec := func(args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		code = cli.Main(t.Context(), append(args, "--graph", address), &out, &errs)
		return code, out.String(), errs.String()
	}
	want := func(stdout string, args ...string) {
		t.Helper()
		code, out, errs := robospec(args...)
		if out = lasted.ReplaceAllString(out, "after T"); code != cli.Pass || out != stdout {
			t.Errorf("robospec %q: exit code %d\n%s%s\nwant\n%s", args, code, out, errs, stdout)
		}
	}
	peer.Do("publish", "/from_sdk", "node", "talker", "namespace", "/robot")
	peer.Do("subscribe", "/to_sdk", "node", "listener")
	peer.Do("serve", "/of_sdk", "node", "arm")

	want("/arm\n/listener\n/robot/talker\npass: nodes 3, expected >=3\n", "node", "list", "--expect", "nodes>=3", "--timeout", "10s")
	want("/from_sdk  std_msgs/msg/String  1 publisher   0 subscriptions\n/to_sdk    std_msgs/msg/String  0 publishers  1 subscription\n", "topic", "list")
	want("success: true\nmessage: set\n# after T\npass: success==true\n", "service", "call", "/of_sdk", "data: true", "--expect", "success==true")
	want("/to_sdk: published 1 message of 14 bytes, to 1 subscription\n", "topic", "pub", "/to_sdk", "std_msgs/msg/String", "data: hello")
	if told := peer.Next(); told["request"] != true {
		t.Errorf("the server got %v", told)
	}
	if told := peer.Next(); told["data"] != "hello" {
		t.Errorf("the subscriber got %v", told)
	}

	type result struct {
		code           int
		stdout, stderr string
	}
	echo := make(chan result, 1)
	go func() {
		code, out, errs := robospec("topic", "echo", "/from_sdk", "--for", "20s", "--expect", "data==world")
		echo <- result{code, out, errs}
	}()
	testenv.Must(t, commandSubscribes(testenv.Soon(t), join(t, address, "_observer"), "/from_sdk"))
	peer.Do("subscribe", "/unused", "node", "listener") // and with it, it has heard of the command
	peer.Do("send", "/from_sdk", "data", "hello")
	peer.Do("send", "/from_sdk", "data", "world")
	if got := testenv.Next(t, echo); got != (result{stdout: "data: hello\n---\ndata: world\n---\npass: message 2 has data==world\n"}) {
		t.Errorf("%+v", got)
	}

}

// TestLostLink has the router die while the command measures.
func TestLostLink(t *testing.T) {
	b, err := broker.Listen(t.Context(), broker.Config{})
	testenv.Must(t, err)
	t.Cleanup(func() { testenv.Must(t, b.Close()) })
	address := "ros2+zenoh://" + strings.TrimPrefix(b.Endpoint(), "tcp/") + "?domain=8"
	publish(t, join(t, address, "talker"), "/chatter", 50, harness.Reliable(10), func(int) std_msgs.String { return std_msgs.String{} })
	stdout, printed := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- cli.Main(t.Context(), []string{"topic", "hz", "/chatter", "--graph", address}, printed, &stderr)
		printed.Close()
	}()
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "/chatter: ") {
		t.Fatalf("%q and no figure", lines.Text())
	}
	testenv.Must(t, b.Close())
	for lines.Scan() { // what it prints must be read for it to end
	}
	if got := testenv.Next(t, code); got != cli.Inconclusive || !strings.Contains(stderr.String(), "was not observed as a whole: link to") {
		t.Errorf("exit code %d\n%s", got, &stderr)
	}
}
