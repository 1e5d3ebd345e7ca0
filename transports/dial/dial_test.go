package dial_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/dial"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, u string) transports.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := dial.Open(ctx, u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hear reports whether what one Conn publishes reaches another.
func hear(t *testing.T, from, to transports.Conn) bool {
	t.Helper()
	got := make(chan string, 1)
	_, err := to.Subscribe(t.Context(), "topic", transports.Type{}, transports.QoS{}, func(s transports.Sample) { got <- string(s.Payload) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := from.Advertise(t.Context(), "topic", transports.Type{}, transports.QoS{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for n, changed := p.(transports.Matched).Matched(); n == 0; n, changed = p.(transports.Matched).Matched() {
		if _, ok := from.(transports.Grapher); ok {
			return false // in memory a match is there at once or never
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
	if err := p.Publish(ctx, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	select {
	case s := <-got:
		return s == "hello"
	case <-ctx.Done():
		return false
	}
}

func TestInproc(t *testing.T) {
	if hear(t, open(t, "inproc:"), open(t, "inproc:")) {
		t.Error("two private graphs are one")
	}
	if !hear(t, open(t, "inproc:cell"), open(t, "inproc:cell?node=second")) {
		t.Error("one name is two graphs")
	}
	if hear(t, open(t, "inproc:one"), open(t, "inproc:other")) {
		t.Error("two names are one graph")
	}
	g, _ := open(t, "inproc:alone?node=talker").(transports.Grapher).Graph()
	if len(g.Nodes) != 1 || g.Nodes[0] != "talker" {
		t.Errorf("nodes %q", g.Nodes)
	}
}

func TestZenoh(t *testing.T) {
	u := "zenoh://" + strings.TrimPrefix(testenv.ZenohRouter(t), "tcp/")
	if !hear(t, open(t, u), open(t, u+"?lease=5s&node=b")) {
		t.Error("nothing heard")
	}
}

func TestZenohOverTLS(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	u := "zenoh+tls://" + strings.TrimPrefix(r.Endpoint, "tls/")
	trusted := u + "?ca=" + url.QueryEscape(r.CAFile)
	if !hear(t, open(t, trusted), open(t, trusted)) {
		t.Error("nothing heard")
	}
	if _, err := dial.Open(t.Context(), u); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority: %v", err)
	}
}

func TestRefusedURLsNameThePartAndTheRemedy(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for u, part := range map[string]string{
		"":                               "no scheme",
		"localhost:7447x":                `"localhost"`,
		"ros2://host":                    `"ros2"`,
		"://":                            "missing protocol scheme",
		"zenoh://":                       "no host",
		"zenoh:host:7447":                "no host",
		"zenoh://h:port":                 "invalid port",
		"zenoh://h/path":                 `"/path"`,
		"zenoh://me@h":                   "user names",
		"zenoh://h?lease=1":              "lease=1",
		"zenoh://h?lease=-1s":            "lease=-1s",
		"zenoh://h?x=1":                  `"x"`,
		"zenoh://h?ca=f":                 `"ca"`,
		"zenoh+tls://h?ca=/no/such/file": "no such file",
		"zenoh+tls://h?ca=" + empty:      "no certificate",
		"inproc://cell":                  "no host",
		"inproc:cell?lease=1s":           `"lease"`,
		"zenoh://h?%":                    "parameters",
	} {
		_, err := dial.Open(t.Context(), u)
		if !errors.Is(err, dial.ErrURL) || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "write inproc:") || u != "" && !strings.Contains(err.Error(), u) {
			t.Errorf("Open(%q): %v; want it to name %q, the URL and the remedy", u, err, part)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "zenoh://" + ln.Addr().String()
	ln.Close()
	_, err = dial.Open(t.Context(), at)
	if err == nil || errors.Is(err, dial.ErrURL) || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "router") {
		t.Errorf("%v", err)
	}
}

func TestEndedContext(t *testing.T) {
	cause := errors.New("the spec ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, u := range []string{"inproc:", "zenoh://127.0.0.1:1"} {
		if _, err := dial.Open(ctx, u); !errors.Is(err, cause) {
			t.Errorf("Open(%s): %v", u, err)
		}
	}
}
