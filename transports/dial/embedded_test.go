package dial_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/dial"
)

func TestEmbeddedRouter(t *testing.T) {
	one, other := open(t, "zenoh:?router=embedded&lease=5s&seed=7").(dial.Embedded), open(t, "zenoh:?router=embedded")
	if !hear(t, one, open(t, one.URL())) {
		t.Error("nothing heard")
	}
	got := make(chan string, 1)
	_, err := other.Subscribe(t.Context(), "topic", transports.Type{}, transports.QoS{}, func(s transports.Sample) { got <- string(s.Payload) })
	testenv.Must(t, err)
	if !hear(t, one, one) || len(got) > 0 {
		t.Error("two embedded routers are one graph")
	}
	for _, c := range []any{one, other} {
		if _, ok := c.(transports.Lifer); !ok {
			t.Errorf("%T does not tell life", c)
		}
	}
}

func TestEmbeddedRouterForROS2(t *testing.T) {
	c := open(t, "ros2+zenoh:?router=embedded&domain=5&node=harness&namespace=/ns").(dial.Embedded)
	if !rosHear(t, c, open(t, c.URL())) {
		t.Error("nothing heard")
	}
	g, _ := c.(transports.Grapher).Graph()
	if want := []string{"/ns/harness", "/ns/robospec"}; !slices.Equal(g.Nodes, want) {
		t.Errorf("nodes %q, want %q", g.Nodes, want)
	}
}

func TestEmbeddedRouterEndsWithItsConn(t *testing.T) {
	c := open(t, "ros2+zenoh:?router=embedded").(dial.Embedded)
	far := open(t, c.URL())
	testenv.Must(t, c.Close())
	testenv.Must(t, c.Close())
	<-c.Router().Done()
	<-far.Done()
	var lost *transports.LinkError
	if err := far.Err(); !errors.As(err, &lost) {
		t.Error(err)
	}
	if _, err := dial.Open(t.Context(), c.URL()); err == nil {
		t.Error("somebody still listens")
	}
}

func TestRefusedEmbeddedURLs(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "")
	for u, part := range map[string]string{
		"zenoh:?router=other":                   "router=other",
		"zenoh:?router=":                        "router= is none",
		"zenoh:?router=embedded&seed=x":         "seed=x is no number",
		"zenoh://h?seed=1":                      `"seed"`,
		"zenoh://h?router=embedded":             "leave out its host",
		"zenoh:x?router=embedded":               "leave out its host",
		"ros2+zenoh://h:1?router=embedded":      "leave out its host",
		"zenoh+tls:?router=embedded":            "no TLS",
		"ros2+zenoh+tls:?router=embedded":       "no TLS",
		"zenoh:?router=embedded&ca=f":           `"ca"`,
		"zenoh:?router=embedded&domain=1":       `"domain"`,
		"ros2+zenoh:?router=embedded&domain=-1": "domain=-1",
		"inproc:?router=embedded":               `"router"`,
	} {
		_, err := dial.Open(t.Context(), u)
		if !errors.Is(err, dial.ErrURL) || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), u) {
			t.Errorf("Open(%q): %v; want it to name %q", u, err, part)
		}
	}
	if _, err := dial.Open(t.Context(), "ros2+zenoh:?router=embedded&node=a/b"); err == nil || !strings.Contains(err.Error(), "slash") {
		t.Error(err)
	}
}
