package ros2zenoh

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/transports"
)

// captured is what an eclipse-zenoh session saw of real nodes, rmw_zenoh_cpp
// 0.2.10 of ROS 2 Jazzy.
func captured(tb testing.TB) (lines []string) {
	tb.Helper()
	b, err := os.ReadFile("testdata/rmw_zenoh.txt")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

func capturedTokens(tb testing.TB) (tokens []string) {
	for _, l := range captured(tb) {
		if strings.HasPrefix(l, tokenSpace+"/7/") {
			tokens = append(tokens, l)
		}
	}
	if len(tokens) != 75 {
		tb.Fatalf("the capture has %d tokens", len(tokens))
	}
	return tokens
}

// TestTokensOfRealNodes reads each and writes it again.
func TestTokensOfRealNodes(t *testing.T) {
	kinds := map[kind]int{}
	for _, token := range capturedTokens(t) {
		e, err := parseToken(token)
		if err != nil {
			t.Errorf("%s: %v", token, err)
			continue
		}
		kinds[e.kind]++
		if got := e.token(); got != token {
			t.Errorf("written again:\n%s\n%s", got, token)
		}
	}
	if want := map[kind]int{nodes: 4, publishers: 24, subscriptions: 13, servers: 31, clients: 3}; !cmp.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
}

func TestTokenOfARealPublisher(t *testing.T) {
	const token = "@ros2_lv/7/b5b6bbd54e4f8faa9c4ada0e950c57c/0/24/MP/%/%ns%sub/talker_node/%ns%sub%talker_node%private/geometry_msgs::msg::dds_::Twist_/RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a/::,10:,:,:,,"
	got, err := parseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	want := &entity{domain: 7, zid: "b5b6bbd54e4f8faa9c4ada0e950c57c", eid: 24, kind: publishers,
		enclave: "/", namespace: "/ns/sub", node: "talker_node", name: "/ns/sub/talker_node/private",
		typ: transports.Type{Name: "geometry_msgs/msg/Twist", Hash: "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a"},
		qos: transports.QoS{Reliability: transports.Reliable, Durability: transports.Volatile, Depth: 10}, gid: gidOf(token)}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(entity{})); d != "" {
		t.Error(d)
	}
	if n := got.fullName(); n != "/ns/sub/talker_node" {
		t.Error(n)
	}
}

// TestActionTokens are those of a real action server (zenoh-vectors.md V16).
func TestActionTokens(t *testing.T) {
	for chunks, want := range map[string]string{
		"SS/%/%ns/act/%ns%fib%_action%send_goal/test_msgs::action::dds_::Fibonacci_SendGoal_/RIHS01_d8/::,10:,:,:,,":       "/ns/fib/_action/send_goal test_msgs/action/Fibonacci_SendGoal",
		"SS/%/%ns/act/%ns%fib%_action%cancel_goal/action_msgs::srv::dds_::CancelGoal_/RIHS01_57/::,10:,:,:,,":              "/ns/fib/_action/cancel_goal action_msgs/srv/CancelGoal",
		"MP/%/%ns/act/%ns%fib%_action%feedback/test_msgs::action::dds_::Fibonacci_FeedbackMessage_/RIHS01_37/::,10:,:,:,,": "/ns/fib/_action/feedback test_msgs/action/Fibonacci_FeedbackMessage",
		"MP/%/%ns/act/%ns%fib%_action%status/action_msgs::msg::dds_::GoalStatusArray_/RIHS01_6c/:1:,1:,:,:,,":              "/ns/fib/_action/status action_msgs/msg/GoalStatusArray",
	} {
		token := tokenSpace + "/9/abc/0/5/" + chunks
		e, err := parseToken(token)
		if err != nil {
			t.Errorf("%s: %v", token, err)
			continue
		}
		if got := e.name + " " + e.typ.Name; got != want || e.token() != token {
			t.Errorf("%s is %q, written again %s", token, got, e.token())
		}
	}
}

var attachmentLine = regexp.MustCompile(`([0-9]+/\S+) .*att=([0-9a-f]+)  = seq ([0-9]+), ts ([0-9]+), gid\[16\] ([0-9a-f]{32})`)

// TestAttachmentsOfRealNodes reads each and writes it again.
func TestAttachmentsOfRealNodes(t *testing.T) {
	n := 0
	for _, l := range captured(t) {
		m := attachmentLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		n++
		raw, err := hex.DecodeString(m[2])
		if err != nil {
			t.Fatal(err)
		}
		a, err := parseAttachment(raw)
		if err != nil {
			t.Errorf("%x: %v", raw, err)
			continue
		}
		if seq, ts, gid := fmt.Sprint(a.seq), fmt.Sprint(a.sent), hex.EncodeToString(a.gid[:]); seq != m[3] || ts != m[4] || gid != m[5] {
			t.Errorf("%x: sequence %s, sent %s, GID %s", raw, seq, ts, gid)
		}
		if again := a.append(nil); !bytes.Equal(again, raw) {
			t.Errorf("written again:\n%x\n%x", again, raw)
		}
	}
	if n < 25 {
		t.Errorf("the capture has %d attachments", n)
	}
}

// TestGIDsOfRealNodes: what a real publisher puts on its messages and a client on
// its requests is the GID of its token, and their key that of its name and type.
func TestGIDsOfRealNodes(t *testing.T) {
	of := map[string]*entity{} // by GID
	for _, token := range capturedTokens(t) {
		if e, err := parseToken(token); err == nil && (e.kind == publishers || e.kind == clients) {
			of[hex.EncodeToString(e.gid[:])] = e
		}
	}
	const asker = "000102030405060708090a0b0c0d0e0f" // the capture's own call
	n := 0
	for _, l := range captured(t) {
		m := attachmentLine.FindStringSubmatch(l)
		if m == nil || m[5] == asker {
			continue
		}
		e := of[m[5]]
		if e == nil {
			t.Errorf("GID %s on %s is that of no token", m[5], m[1])
			continue
		}
		n++
		if key, err := dataKey(7, e.name, e.typ); err != nil || key != m[1] {
			t.Errorf("key %s, %v; want %s", key, err, m[1])
		}
	}
	if n < 25 {
		t.Errorf("%d pairs", n)
	}
	// zenoh-vectors.md V13
	gid := gidOf("@ros2_lv/7/65708231267c006bab4f8f4fb2c836c4/0/10/MP/%/%ns%sub/talker_node/%q%default10/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,10:,:,:,,")
	if got := hex.EncodeToString(gid[:]); got != "f20613a71f11c088d61c47ce492e15ea" {
		t.Errorf("V13: %s", got)
	}
}

// TestQoSOfRealNodes are the strings of zenoh-vectors.md V17.
func TestQoSOfRealNodes(t *testing.T) {
	q := func(change func(*transports.QoS)) transports.QoS {
		x := transports.QoS{Reliability: transports.Reliable, Durability: transports.Volatile, Depth: 7}
		change(&x)
		return x
	}
	for _, c := range []struct {
		text string
		want transports.QoS
	}{
		{"::,10:,:,:,,", q(func(x *transports.QoS) { x.Depth = 10 })},
		{"2::,5:,:,:,,", q(func(x *transports.QoS) { x.Reliability, x.Depth = transports.BestEffort, 5 })},
		{"::,:,:,:,,", q(func(x *transports.QoS) { x.Depth = 42 })},
		{":1:,1:,:,:,,", q(func(x *transports.QoS) { x.Durability, x.Depth = transports.TransientLocal, 1 })},
		{"2:1:,3:,:,:,,", q(func(x *transports.QoS) {
			x.Reliability, x.Durability, x.Depth = transports.BestEffort, transports.TransientLocal, 3
		})},
		{"::2,10:,:,:,,", q(func(x *transports.QoS) { x.History, x.Depth = transports.KeepAll, 10 })},
		{"::,7:1,500:,:,,", q(func(x *transports.QoS) { x.Deadline = time.Second + 500 })},
		{"::,7:,:2,7:,,", q(func(x *transports.QoS) { x.Lifespan = 2*time.Second + 7 })},
		{"::,7:,:,:,3,0", q(func(x *transports.QoS) { x.Lease = 3 * time.Second })},
		{"::,7:,:,:3,3,0", q(func(x *transports.QoS) { x.Liveliness, x.Lease = transports.ManualByTopic, 3*time.Second })},
		{":1:,1000:,:10,0:,,", q(func(x *transports.QoS) {
			x.Durability, x.Depth, x.Lifespan = transports.TransientLocal, 1000, 10*time.Second
		})},
		{"::,1000:,:,:,,", q(func(x *transports.QoS) { x.Depth = 1000 })},
	} {
		got, err := parseQoS(c.text)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.text, got, err, c.want)
		}
		if again := qosText(c.want); again != c.text {
			t.Errorf("%+v is written %s, want %s", c.want, again, c.text)
		}
	}
}

// TestQoSOfOthers is what other programs write, and rmw_zenoh reads.
func TestQoSOfOthers(t *testing.T) {
	plain := transports.QoS{Reliability: transports.Reliable, Durability: transports.Volatile, Depth: 42}
	keepAll := plain
	keepAll.History = transports.KeepAll
	for text, want := range map[string]transports.QoS{
		"1:2:1,42:,:,:1,,":      plain,
		"0:0:0,0:0,0:0,0:0,0,0": plain,
		"::2,:,:,:,,":           keepAll, // zenoh-ros2-sdk
		"::,:9223372036,854775807:9223372036,854775807:1,9223372036,854775807": plain,
		"::,:,:,:2,,":    plain, // manual by node
		"::,:,:,:,,:new": plain,
	} {
		if got, err := parseQoS(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ":", "::,10:,:,:", "9::,:,:,:,,", "x::,:,:,:,,", ":3:,:,:,:,,", "::,-1:,:,:,,", "::3,:,:,:,,", "::10:,:,:,,",
		"::,:1:,:,,", "::,:,:,:4,,", "::,:,:,:,", "::,:1,x:,:,,", "::,99999999999999999999:,:,:,,"} {
		if q, err := parseQoS(text); err == nil {
			t.Errorf("%s is taken for %+v", text, q)
		}
	}
}

func TestTokensOfOthers(t *testing.T) {
	const one = "@ros2_lv/7/abc/0/5/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/RIHS01_df/::,10:,:,:,,"
	for _, token := range []string{one, one + "/buffers:cpu", one + "/a/b"} {
		if e, err := parseToken(token); err != nil || e.name != "/chatter" || e.gid != gidOf(token) {
			t.Errorf("%s: %+v, %v", token, e, err)
		}
	}
	// Names without their leading slash, as some programs write them.
	e, err := parseToken("@ros2_lv/7/abc/3/5/SC/%/ns/talker/chatter/Strange/TypeHashNotSupported/::,10:,:,:,,")
	if err != nil || e.name != "/chatter" || e.fullName() != "/ns/talker" || e.typ != (transports.Type{Name: "Strange", Hash: NoTypeHash}) {
		t.Errorf("%+v, %v", e, err)
	}
	for _, token := range []string{
		"", "@ros2_lv", "@ros2_lv/7/abc/0/0/NN/%/%", "@ros2_lv/7/abc/0/0/NN/%/%/%", "@ros2/7/abc/0/0/NN/%/%/talker", "@ros2_lv/x/abc/0/0/NN/%/%/talker",
		"@ros2_lv/7/abc/x/0/NN/%/%/talker", "@ros2_lv/7/abc/0/-1/NN/%/%/talker", "@ros2_lv/7/abc/0/0/XX/%/%/talker",
		"@ros2_lv/7/abc/0/5/MP/%/%/talker", "@ros2_lv/7/abc/0/5/MP/%/%/talker/%chatter/t/h",
		"@ros2_lv/7/abc/0/5/MP/%/%/talker/%/t/h/::,10:,:,:,,", "@ros2_lv/7/abc/0/5/MP/%/%/talker/%chatter/t/h/what",
	} {
		if e, err := parseToken(token); err == nil {
			t.Errorf("%s is taken for %+v", token, e)
		}
	}
}

// old is an attachment of rmw_zenoh 0.2.0 to 0.2.3 (zenoh.md §7.5).
func old(seq, sent byte, gid string) []byte {
	b := []byte("\x0fsequence_number")
	b = append(b, seq, 0, 0, 0, 0, 0, 0, 0)
	b = append(b, "\x10source_timestamp"...)
	b = append(b, sent, 0, 0, 0, 0, 0, 0, 0)
	return append(append(b, "\x0asource_gid\x10"...), gid...)
}

func TestBadAttachments(t *testing.T) {
	good := (&attachment{seq: 15, sent: 3, gid: gidOf("x")}).append(nil)
	if a, err := parseAttachment(append(good, "more"...)); err != nil || a.seq != 15 || a.gid != gidOf("x") {
		t.Errorf("with more behind it: %+v, %v", a, err)
	}
	if _, err := parseAttachment(nil); !errors.Is(err, errNoAttachment) {
		t.Error(err)
	}
	for n := 1; n < len(good); n++ {
		if _, err := parseAttachment(good[:n]); err == nil || !strings.Contains(err.Error(), strconv.Itoa(n)+" bytes") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	short := bytes.Clone(good)
	short[16] = 15
	if _, err := parseAttachment(short); err == nil || !strings.Contains(err.Error(), "GID of 15 bytes") {
		t.Error(err)
	}
	a, err := parseAttachment(old(7, 9, "0123456789abcdef"))
	if !errors.Is(err, errOldAttachment) || a.seq != 7 || a.sent != 9 || string(a.gid[:]) != "0123456789abcdef" {
		t.Errorf("%+v, %v", a, err)
	}
	for n := len(oldSequence); n < len(old(7, 9, "0123456789abcdef")); n++ {
		if a, err := parseAttachment(old(7, 9, "0123456789abcdef")[:n]); !errors.Is(err, errOldAttachment) || a != (attachment{}) {
			t.Errorf("%d bytes of the old form: %+v, %v", n, a, err)
		}
	}
}

func TestTypes(t *testing.T) {
	for ros, dds := range map[string]string{
		"std_msgs/msg/String": "std_msgs::msg::dds_::String_", "std_srvs/srv/SetBool": "std_srvs::srv::dds_::SetBool_",
		"test_msgs/action/Fibonacci_SendGoal": "test_msgs::action::dds_::Fibonacci_SendGoal_",
	} {
		if got, err := ddsType(ros); err != nil || got != dds {
			t.Errorf("%s: %s, %v", ros, got, err)
		}
		if got := rosType(dds); got != ros {
			t.Errorf("%s: %s", dds, got)
		}
	}
	for _, bad := range []string{"String", "std_msgs/String", "std_msgs/msg/", "/msg/String", "a/b/c", "std_msgs/msg/Str*ng", "std_msgs/msg/a/b", "std msgs/msg/String"} {
		if got, err := ddsType(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, got)
		}
	}
	for _, other := range []string{"", "Strange", "a::dds_::", "a::dds_::b", "dds_::b_"} {
		if got := rosType(other); got != other {
			t.Errorf("%q: %q", other, got)
		}
	}
	for _, bad := range []string{"*", "a/b", "a*", "$*", "a#"} {
		if key, err := dataKey(0, "/x", transports.Type{Name: "std_msgs/msg/String", Hash: bad}); err == nil {
			t.Errorf("hash %q: %s", bad, key)
		}
	}
}

func FuzzToken(f *testing.F) {
	for _, token := range capturedTokens(f) {
		f.Add(token)
	}
	f.Add("@ros2_lv/7/abc/0/5/MP/%/%/talker/%chatter/t/h/::,10:,:,:,,/more")
	f.Fuzz(func(t *testing.T, token string) {
		e, err := parseToken(token)
		if err != nil || keyexpr.Validate(token) != nil {
			return
		}
		again, err := parseToken(e.token())
		if err != nil {
			t.Fatalf("%q is written again as %q: %v", token, e.token(), err)
		}
		again.gid = e.gid
		if *again != *e {
			t.Fatalf("%q is written again as %q:\n%+v\n%+v", token, e.token(), e, again)
		}
	})
}

func FuzzQoS(f *testing.F) {
	for _, token := range capturedTokens(f) {
		f.Add(token[strings.LastIndexByte(token, '/')+1:])
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := parseQoS(s)
		if err != nil {
			return
		}
		if again, err := parseQoS(qosText(q)); err != nil || again != q {
			t.Fatalf("%q is %+v, written %q, read %+v, %v", s, q, qosText(q), again, err)
		}
	})
}

func FuzzAttachment(f *testing.F) {
	for _, l := range captured(f) {
		if m := attachmentLine.FindStringSubmatch(l); m != nil {
			raw, _ := hex.DecodeString(m[2])
			f.Add(raw)
		}
	}
	f.Add(old(1, 2, "0123456789abcdef"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAttachment(b)
		if err == nil && !bytes.Equal(a.append(nil), b[:attachmentLen]) {
			t.Fatalf("%x is written again as %x", b, a.append(nil))
		}
		if err != nil && !errors.Is(err, errOldAttachment) && a != (attachment{}) {
			t.Fatalf("%x: %+v beside %v", b, a, err)
		}
	})
}
