package ros2zenoh_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/ros2zenoh"
)

// latin writes bytes as the peer takes them.
func latin(b []byte) string {
	var s strings.Builder
	for _, x := range b {
		s.WriteRune(rune(x))
	}
	return s.String()
}

func unlatin(x any) (b []byte) {
	s, _ := x.(string)
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

// attached is the attachment of a message.
func attached(seq int64, gid measure.PublisherID) string {
	b := binary.LittleEndian.AppendUint64(nil, uint64(seq))
	b = binary.LittleEndian.AppendUint64(b, uint64(time.Now().UnixNano()))
	return latin(append(append(b, 16), gid[:]...))
}

// old is one of rmw_zenoh 0.2.0 to 0.2.3.
func old(seq byte) string {
	b := append([]byte("\x0fsequence_number"), seq, 0, 0, 0, 0, 0, 0, 0)
	b = append(append(b, "\x10source_timestamp"...), make([]byte, 8)...)
	return latin(append(append(b, "\x0asource_gid\x10"...), "0123456789abcdef"...))
}

func key(topic string, t transports.Type) string {
	parts := strings.Split(t.Name, "/")
	return fmt.Sprintf("7%s/%s::%s::dds_::%s_/%s", topic, parts[0], parts[1], parts[2], t.Hash)
}

// token is that of an endpoint of the peer's node /ns/peer.
func token(peer *testenv.ZenohPeer, id int, kind, topic string, t transports.Type, qos string) string {
	parts := strings.SplitN(key(topic, t), topic+"/", 2)
	return fmt.Sprintf("@ros2_lv/7/%s/0/%d/%s/%%/%%ns/peer/%s/%s/%s", peer.ZID, id, kind, strings.ReplaceAll(topic, "/", "%"), parts[1], qos)
}

// idOf waits for an endpoint in the graph.
func idOf(tb testing.TB, c *ros2zenoh.Conn, kind transports.EndpointKind, node, name string) measure.PublisherID {
	tb.Helper()
	ctx := testenv.Soon(tb)
	for {
		g, changed := c.Graph()
		for _, e := range g.Endpoints {
			if e.Kind == kind && e.Node == node && e.Name == name {
				return e.ID
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			tb.Fatalf("no %v of %s on %s in the graph", kind, node, name)
		}
	}
}

func odd(tb testing.TB, c *ros2zenoh.Conn, want ...string) {
	tb.Helper()
	got := c.Diagnostics()
	if len(got) != len(want) {
		tb.Errorf("%d odd things, want %d: %q", len(got), len(want), got)
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			tb.Errorf("odd: %q, want it to tell of %q", got[i], want[i])
		}
	}
}

var dataLine = regexp.MustCompile(`^DATA SampleKind.PUT (7\S+) payload=([0-9a-f]+) att=([0-9a-f]+)  = seq 1, ts ([0-9]+)`)

// TestRealNodesReplayed has the peer repeat the tokens and first messages of
// real nodes.
func TestRealNodesReplayed(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		capture, err := os.ReadFile("testdata/rmw_zenoh.txt")
		testenv.Must(t, err)
		peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at, "harness")
		in := map[string]subscription{}
		for _, topic := range []string{"default10", "sensor", "tl_d1", "keepall", "live_man"} {
			in["/q/"+topic] = subscribe(t, c, "/q/"+topic, text, transports.QoS{Durability: transports.Volatile})
		}
		deaf := subscribe(t, c, "/q/sensor", text, transports.QoS{Reliability: transports.Reliable, Durability: transports.Volatile})
		all := subscribe(t, c, "/ns/sub/talker_node/private", transports.Type{}, transports.QoS{})
		for line := range strings.SplitSeq(string(capture), "\n") {
			if strings.HasPrefix(line, "@ros2_lv/7/") {
				peer.Do("token", line)
			}
		}
		matched(t, all, 1)
		for _, s := range in {
			matched(t, s, 1)
		}
		matched(t, deaf, 0)
		const total = 24 + 13 + 31 + 3
		g, changed := c.Graph()
		own := len(in) + 2 // subscriptions
		for ctx := testenv.Soon(t); len(g.Endpoints) < total+own; g, changed = c.Graph() {
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("the graph shows %d endpoints", len(g.Endpoints))
			}
		}
		if want := []string{"/harness", "/listener_node", "/ns/client_node", "/ns/sub/talker_node", "/server_node"}; !slices.Equal(g.Nodes, want) {
			t.Errorf("nodes %q, want %q", g.Nodes, want)
		}
		kinds := map[transports.EndpointKind]int{}
		for _, e := range g.Endpoints {
			if !e.Local {
				kinds[e.Kind]++
			}
		}
		want := map[transports.EndpointKind]int{transports.PublisherEndpoint: 24, transports.SubscriptionEndpoint: 13, transports.ServerEndpoint: 31, transports.ClientEndpoint: 3}
		if !cmp.Equal(kinds, want) {
			t.Errorf("endpoints %v, want %v", kinds, want)
		}
		sent := map[string][]byte{}
		stamps := map[string]string{}
		for line := range strings.SplitSeq(string(capture), "\n") {
			if m := dataLine.FindStringSubmatch(line); m != nil {
				payload, err := hex.DecodeString(m[2])
				testenv.Must(t, err)
				attachment, err := hex.DecodeString(m[3])
				testenv.Must(t, err)
				topic, _, _ := strings.Cut(m[1][1:], "/std_msgs::")
				sent[topic], stamps[topic] = payload, m[4]
				peer.Do("put", m[1], "payload", latin(payload), "attachment", latin(attachment))
			}
		}
		for topic, s := range in {
			x := testenv.Next(t, s.got)
			id := idOf(t, c, transports.PublisherEndpoint, "/ns/sub/talker_node", topic)
			if !bytes.Equal(x.Payload, sent[topic]) || x.Topic != topic || x.Seq != 1 || !x.HasSeq || x.Publisher != id || fmt.Sprint(x.Sent.UnixNano()) != stamps[topic] {
				t.Errorf("%s: %+v, want publisher %v, payload %q sent at %s", topic, x, id, sent[topic], stamps[topic])
			}
		}
		if x := testenv.Next(t, all.got); len(x.Payload) != 52 { // a geometry_msgs/msg/Twist
			t.Errorf("%+v", x)
		}
		deaf.is(t)
		odd(t, c)
		if l := c.Life("/q/sensor"); l.State != measure.LifeShown || !strings.Contains(l.Sign, "/ns/sub/talker_node") {
			t.Errorf("%+v", l)
		}
		peer.Kill()
		for _, s := range in {
			matched(t, s, 0)
		}
		matched(t, all, 0)
		if l := c.Life("/q/sensor"); l.State != measure.LifeNone {
			t.Errorf("%+v", l)
		}
	})
}

// TestOnTheWire is what others see of us.
func TestOnTheWire(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer := testenv.StartZenohPeer(t, at, "")
		c := dialAs(t, ros2zenoh.Config{Endpoint: at, Domain: 7, Node: "harness", Namespace: "/a/b", Enclave: "/safe"})
		p := advertise(t, c, "/x/y", transports.QoS{Depth: 3, Lifespan: 2 * time.Second})
		id := idOf(t, c, transports.PublisherEndpoint, "/a/b/harness", "/x/y")
		best := advertise(t, c, "/best", transports.QoS{Reliability: transports.BestEffort})
		peer.Start("tokens", "@ros2_lv/7/**")
		var tokens []string
		for x := peer.Next(); x["final"] == nil; x = peer.Next() {
			tokens = append(tokens, x["token"].(string))
		}
		slices.Sort(tokens)
		session, _, _ := strings.Cut(strings.TrimPrefix(tokens[0], "@ros2_lv/7/"), "/")
		space, node := "@ros2_lv/7/"+session+"/0/", "/%safe/%a%b/harness"
		string10 := "std_msgs::msg::dds_::String_/" + text.Hash + "/"
		want := []string{
			space + "0/NN" + node,
			space + "1/MP" + node + "/%x%y/" + string10 + "::,3:,:2,0:,,",
			space + "2/MP" + node + "/%best/" + string10 + "2::,10:,:,:,,",
		}
		if d := cmp.Diff(want, tokens); d != "" {
			t.Error(d)
		}
		peer.Do("token", token(peer, 1, "MS", "/x/y", text, "2::,10:,:,:,,"))
		peer.Do("token", token(peer, 2, "MS", "/best", text, "::,10:,:,:,,")) // asks for reliable
		peer.Do("subscribe", "7/**")
		matched(t, p, 1)
		matched(t, best, 0)
		for seq, payload := range []string{"first", "second"} {
			before := time.Now().UnixNano()
			publish(t, p, payload)
			x, _ := peer.Next()["sample"].(map[string]any)
			a := unlatin(x["attachment"])
			if len(a) != 33 {
				t.Fatalf("attachment %x", a)
			}
			at := int64(binary.LittleEndian.Uint64(a[8:]))
			if x["key"] != key("/x/y", text) || !bytes.Equal(unlatin(x["payload"]), str(payload)) || x["encoding"] != "zenoh/bytes" || x["stamped"] != true || x["source"] != nil ||
				int64(binary.LittleEndian.Uint64(a)) != int64(seq+1) || at < before || at > time.Now().UnixNano() || a[16] != 16 || !bytes.Equal(a[17:], id[:]) {
				t.Errorf("%v, attachment %x", x, a)
			}
		}
		publish(t, best, "heard all the same")
		if x, _ := peer.Next()["sample"].(map[string]any); x["key"] != key("/best", text) {
			t.Errorf("%v", x)
		}

		humble := dialAs(t, ros2zenoh.Config{Endpoint: at, Domain: 7, Humble: true})
		h := advertise(t, humble, "/humble", transports.QoS{})
		publish(t, h, "x")
		if x, _ := peer.Next()["sample"].(map[string]any); x["key"] != "7/humble/std_msgs::msg::dds_::String_/TypeHashNotSupported" {
			t.Errorf("%v", x)
		}
	})
}

func TestLatchedPublisherOfZenohExt(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		for _, numbered := range []bool{true, false} { // reliable and best effort
			peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at, "harness")
			early := subscribe(t, c, "/map", text, latched)
			open := subscribe(t, c, "/map", text, transports.QoS{})
			observer := subscribe(t, c, "/map", transports.Type{}, transports.QoS{})
			peer.Do("token", token(peer, 1, "MP", "/map", text, ":1:,3:,:,:,,"))
			id := idOf(t, c, transports.PublisherEndpoint, "/ns/peer", "/map")
			var payloads, attachments []string
			for i := range 4 {
				payloads = append(payloads, latin(str(fmt.Sprint(i+1))))
				attachments = append(attachments, attached(int64(i+1), id))
			}
			peer.Do("advanced publish", key("/map", text), "depth", 3, "payloads", payloads, "attachments", attachments, "numbered", numbered)
			early.is(t, "1", "2", "3", "4")
			open.is(t, "1", "2", "3", "4")
			observer.is(t, "1", "2", "3", "4")
			late := subscribe(t, c, "/map", text, latched)
			for i := range 3 {
				if x := testenv.Next(t, late.got); x.Seq != uint64(i+2) || x.Publisher != id || x.Sent.IsZero() {
					t.Errorf("kept: %+v", x)
				}
			}
			late.is(t)
			shallow := subscribe(t, c, "/map", text, transports.QoS{Durability: transports.TransientLocal, Depth: 1})
			shallow.is(t, "4")
			subscribe(t, c, "/map", text, transports.QoS{Depth: 2}).is(t, "3", "4")
			subscribe(t, c, "/map", transports.Type{}, transports.QoS{Depth: 2}).is(t, "3", "4")
			subscribe(t, c, "/map", text, transports.QoS{Durability: transports.Volatile}).is(t)
			early.is(t)
			odd(t, c)
			peer.Kill()
			matched(t, early, 0)
		}
	})
}

func TestLatchedSubscriberOfZenohExt(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at, "harness")
		heard := func(p *testenv.ZenohPeer, want ...string) {
			t.Helper()
			for _, w := range want {
				x, _ := p.Next()["sample"].(map[string]any)
				if a := unlatin(x["attachment"]); !bytes.Equal(unlatin(x["payload"]), str(w)) || x["key"] != key("/map", text) || len(a) != 33 || fmt.Sprint(a[0]) != w {
					t.Errorf("the peer heard %v, want %q", x, w)
				}
			}
		}
		peer.Do("advanced subscribe", key("/map", text), "depth", 10) // and asks who comes later
		peer.Do("token", token(peer, 1, "MS", "/map", text, ":1:,10:,:,:,,"))
		p := advertise(t, c, "/map", latched)
		matched(t, p, 1)
		publish(t, p, "1", "2", "3", "4")
		heard(peer, "1", "2", "3", "4")
		late := testenv.StartZenohPeer(t, at, "")
		late.Do("advanced subscribe", key("/map", text), "depth", 2)
		heard(late, "3", "4")
		publish(t, p, "5")
		heard(late, "5")
		heard(peer, "5")
	})
}

func TestServiceOfZenoh(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at, "harness")
		cl := client(t, c, "/arm")
		id := idOf(t, c, transports.ClientEndpoint, "/harness", "/arm")
		serve := func(more ...any) {
			t.Helper()
			peer.Do("queryable", key("/arm", setBool), append([]any{"complete", true, "payload", latin(ok)}, more...)...)
			matched(t, cl, 1)
		}
		asks := func(seq byte) answer {
			t.Helper()
			done := call(testenv.Soon(t), t, cl, yes)
			q, _ := peer.Next()["query"].(map[string]any)
			a := unlatin(q["attachment"])
			if q["key"] != key("/arm", setBool) || !bytes.Equal(unlatin(q["payload"]), yes) || len(a) != 33 || a[0] != seq || a[16] != 16 || !bytes.Equal(a[17:], id[:]) {
				t.Errorf("request %v, attachment %x", q, a)
			}
			return testenv.Next(t, done)
		}
		peer.Do("token", token(peer, 1, "SS", "/arm", setBool, "::,10:,:,:,,"))
		idOf(t, c, transports.ServerEndpoint, "/ns/peer", "/arm")
		matched(t, cl, 0) // a token alone serves nothing
		serve("answer", "attach")
		if a := asks(1); a.err != nil || !bytes.Equal(a.Payload, ok) || a.Seq != 1 || !a.HasSeq || a.Topic != "/arm" {
			t.Errorf("%+v", a)
		}
		odd(t, c)
		for i, bad := range []string{"", "short", old(9)} {
			peer.Do("drop", "")
			matched(t, cl, 0)
			serve("answer", "attach", "attachment", bad)
			if a := asks(byte(i + 2)); a.err != nil || !bytes.Equal(a.Payload, ok) {
				t.Errorf("%+v", a)
			}
		}
		odd(t, c, "reply of /arm: it has no attachment", "reply of /arm: its attachment has 5 bytes", "reply of /arm: its attachment has the form of rmw_zenoh before")
		err := cl.Call(testenv.Soon(t), yes, func(transports.Sample, error) { t.Error("done was called") })
		if err == nil || !strings.Contains(err.Error(), "call /arm: server of /ns/peer: it runs rmw_zenoh before") {
			t.Errorf("a call to a node of the old form: %v", err)
		}
	})
}

func TestRequestsOfZenoh(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at, "harness")
		requests := make(chan transports.Request, 10)
		_, err := c.Serve(testenv.Soon(t), "/arm", setBool, func(r transports.Request) {
			if err := r.Reply(ok); err != nil {
				t.Error(err)
			}
			requests <- r
		})
		testenv.Must(t, err)
		refused := func(part string) {
			t.Helper()
			x := peer.Next()
			if s, _ := x["refusal"].(string); !strings.Contains(s, "request to /arm refused by robospec: "+part) {
				t.Errorf("%v, want a refusal that says %q", x, part)
			}
			told(t, peer, testenv.Told{"final": true})
		}
		peer.Start("get", key("/arm", setBool), "payload", latin(yes))
		refused("it has no attachment")
		peer.Start("get", key("/arm", setBool), "payload", latin(yes), "attachment", "1234567")
		refused("its attachment has 7 bytes")
		peer.Start("get", key("/arm", setBool), "payload", latin(yes), "attachment", old(1))
		refused("its attachment has the form of rmw_zenoh before")
		if len(requests) > 0 {
			t.Errorf("the server got %+v", (<-requests).Sample)
		}
		odd(t, c, "request to /arm: it has no attachment", "7 bytes", "rmw_zenoh before")
		gid := measure.PublisherID{1, 2, 3}
		peer.Start("get", key("/arm", setBool), "payload", latin(yes), "attachment", attached(15, gid))
		x, _ := peer.Next()["reply"].(map[string]any)
		a := unlatin(x["attachment"])
		if !bytes.Equal(unlatin(x["payload"]), ok) || len(a) != 33 || a[0] != 15 || !bytes.Equal(a[17:], gid[:]) {
			t.Errorf("%v", x)
		}
		told(t, peer, testenv.Told{"final": true})
		if r := testenv.Next(t, requests); !bytes.Equal(r.Payload, yes) || r.Seq != 15 || r.Publisher != gid {
			t.Errorf("%+v", r.Sample)
		}
	})
}

// TestBadInput: what nodes would die of is delivered and told of.
func TestBadInput(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at, "harness")
		in := subscribe(t, c, "/chatter", text, transports.QoS{})
		p := advertise(t, c, "/cmd", transports.QoS{})
		peer.Do("token", "@ros2_lv/7/what")
		peer.Do("token", token(peer, 1, "MP", "/chatter", text, "::,10:,:,:"))
		peer.Do("token", token(peer, 2, "MP", "/chatter", text, "::,10:,:,:,,")+"/backends")
		peer.Do("token", token(peer, 3, "MS", "/cmd", text, "::,10:,:,:,,"))
		peer.Do("subscribe", key("/cmd", text))
		matched(t, in, 1)
		matched(t, p, 1)
		odd(t, c, "@ros2_lv/7/what cannot be read: it has 3 chunks", `its QoS "::,10:,:,:": liveliness "" has 1 parts`)
		id := idOf(t, c, transports.PublisherEndpoint, "/ns/peer", "/chatter")
		whole := unlatin(attached(1, id))
		short := bytes.Clone(whole)
		short[16] = 15
		for _, a := range []string{"", latin(whole[:20]), latin(short), "x"} {
			more := []any{"payload", latin(str("x"))}
			if a != "" {
				more = append(more, "attachment", a)
			}
			for range 2 {
				peer.Do("put", key("/chatter", text), more...)
			}
			for range 2 {
				if x := testenv.Next(t, in.got); !bytes.Equal(x.Payload, str("x")) || x.HasSeq || x.Seq != 0 || !x.Publisher.IsZero() || !x.Sent.IsZero() {
					t.Errorf("attachment %q: %+v", a, x)
				}
			}
		}
		peer.Do("put", key("/chatter", text), "payload", "no CDR", "attachment", attached(3, id)+"more")
		if x := testenv.Next(t, in.got); string(x.Payload) != "no CDR" || x.Seq != 3 || x.Publisher != id {
			t.Errorf("%+v", x)
		}
		odd(t, c, "what", "1 parts", "no attachment, and ROS 2 nodes drop it (2 times)", "20 bytes, want 33: it aborts ROS 2 nodes (2 times)", "GID of 15 bytes", "1 bytes")
		publish(t, p, "x")
		if x, _ := peer.Next()["sample"].(map[string]any); x["key"] != key("/cmd", text) {
			t.Errorf("%v", x)
		}

		peer.Do("put", key("/chatter", text), "payload", latin(str("x")), "attachment", old(7))
		if x := testenv.Next(t, in.got); x.Seq != 7 || string(x.Publisher[:]) != "0123456789abcdef" {
			t.Errorf("%+v", x)
		}
		err := p.Publish(testenv.Soon(t), str("x"))
		if err == nil || !strings.Contains(err.Error(), "publish on /cmd: subscription of /ns/peer: it runs rmw_zenoh before Jazzy 0.2.4") {
			t.Errorf("publishing to a node of the old form: %v", err)
		}
		peer.Do("drop", "") // its subscriber, but not its token
		peer.Kill()
		shows(t, c, "/cmd", "publisher /harness "+text.Name+" "+text.Hash+" reliable, volatile, depth 10")
		publish(t, p, "it is gone")
		testenv.Must(t, c.Err())
	})
}

// TestOneTokenTwice: two sessions that declare one token are one to everybody.
func TestOneTokenTwice(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		one, other, c := testenv.StartZenohPeer(t, at, ""), testenv.StartZenohPeer(t, at, ""), dial(t, at, "harness")
		in := subscribe(t, c, "/chatter", text, transports.QoS{})
		x := token(one, 1, "MP", "/chatter", text, "::,10:,:,:,,")
		one.Do("token", x)
		other.Do("token", x)
		matched(t, in, 1)
		fence := subscribe(t, c, "/fence", text, transports.QoS{})
		one.Do("drop", "")
		other.Do("token", token(other, 2, "MP", "/fence", text, "::,10:,:,:,,"))
		matched(t, fence, 1)
		matched(t, in, 1)
		other.Kill()
		matched(t, in, 0)
	})
}

func TestRouterKilled(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{})
	server, c := dial(t, r.Endpoint, "server"), dial(t, r.Endpoint, "caller")
	asked := make(chan struct{}, 1)
	_, err := server.Serve(testenv.Soon(t), "/arm", setBool, func(transports.Request) { asked <- struct{}{} })
	testenv.Must(t, err)
	cl := client(t, c, "/arm")
	matched(t, cl, 1)
	pending := call(testenv.Soon(t), t, cl, yes)
	testenv.Next(t, asked)
	r.Kill()
	a := testenv.Next(t, pending)
	var lost *transports.LinkError
	if !errors.As(a.err, &lost) || !strings.Contains(a.err.Error(), "call /arm") {
		t.Error(a.err)
	}
	<-c.Done()
	if l := c.Life("/x"); l.State != measure.LifeUnknown || !strings.Contains(l.Sign, "lost") {
		t.Errorf("%+v", l)
	}
	if _, err := c.Advertise(testenv.Soon(t), "/x", text, transports.QoS{}); !errors.As(err, &lost) {
		t.Error(err)
	}
}

func TestRefusedTypes(t *testing.T) {
	c := dial(t, testenv.ZenohRouter(t), "harness")
	for _, x := range []struct {
		t    transports.Type
		part string
	}{
		{transports.Type{}, "nothing without a type: name one"},
		{transports.Type{Name: text.Name}, "the type hash of std_msgs/msg/String is part of its key"},
		{transports.Type{Name: "String", Hash: text.Hash}, `"String" is no ROS 2 type: write it as std_msgs/msg/String`},
		{transports.Type{Name: text.Name, Hash: "*"}, `"*" is no type hash`},
	} {
		_, pub := c.Advertise(t.Context(), "/x", x.t, transports.QoS{})
		_, srv := c.Serve(t.Context(), "/x", x.t, func(transports.Request) {})
		_, cl := c.Client(t.Context(), "/x", x.t)
		for what, err := range map[string]error{"advertise /x": pub, "serve /x": srv, "client of /x": cl} {
			if err == nil || !strings.Contains(err.Error(), x.part) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s of %+v: %v, want it to say %q", what, x.t, err, x.part)
			}
		}
	}
	if _, err := c.Subscribe(t.Context(), "/x", transports.Type{Name: "String"}, transports.QoS{}, func(transports.Sample) {}); err == nil || !strings.Contains(err.Error(), "subscribe to /x") {
		t.Error(err)
	}
}

func TestRefusedConfigs(t *testing.T) {
	for part, conf := range map[string]ros2zenoh.Config{
		"domain id 233 is not among 0 to 232": {Domain: 233},
		"domain id -1":                        {Domain: -1},
		"holds no slash":                      {Node: "/ns/node"},
		`"a b"`:                               {Node: "a b"},
		"a__b":                                {Namespace: "/a__b"},
		"1st":                                 {Enclave: "/1st"},
		"locator":                             {Endpoint: "somewhere"},
	} {
		if conf.Endpoint == "" {
			conf.Endpoint = "tcp/127.0.0.1:1"
		}
		if _, err := ros2zenoh.Dial(context.Background(), conf); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%+v: %v, want it to say %q", conf, err, part)
		}
	}
}
