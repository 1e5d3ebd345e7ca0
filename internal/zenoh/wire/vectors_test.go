package wire

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// vectors reads testdata/vectors.txt, whose head says where they come from.
func vectors(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "== "):
			name, _, _ = strings.Cut(line[3:], " ")
			if _, ok := out[name]; ok {
				t.Fatalf("vector %s occurs twice", name)
			}
			out[name] = nil
		default:
			b, err := hex.DecodeString(line)
			if err != nil {
				t.Fatalf("vector %s: %v", name, err)
			}
			out[name] = append(out[name], b...)
		}
	}
	return out
}

// datagram says whether a vector is a scouting datagram and not a batch.
func datagram(name string) bool {
	return strings.HasPrefix(name, "V10-scout") || name == "V10-hello"
}

// current is a copy of the message that r stands on.
func current(r *Reader) message {
	switch r.Kind() {
	case KindInit:
		m := r.Init
		return &m
	case KindOpen:
		m := r.Open
		return &m
	case KindClose:
		m := r.Close
		return &m
	case KindKeepAlive:
		return &KeepAlive{}
	case KindFrame:
		m := r.Frame
		return &m
	case KindFragment:
		m := r.Fragment
		return &m
	case KindJoin:
		m := r.Join
		return &m
	case KindPush:
		m := r.Push
		return &m
	case KindRequest:
		m := r.Request
		return &m
	case KindResponse:
		m := r.Response
		return &m
	case KindResponseFinal:
		m := r.ResponseFinal
		return &m
	case KindDeclare:
		m := r.Declare
		return &m
	case KindInterest:
		m := r.Interest
		return &m
	case KindOAM:
		m := r.OAM
		return &m
	}
	return nil
}

// readAll parses a batch to its end or its first error.
func readAll(batch []byte) ([]message, error) {
	var r Reader
	r.Reset(batch)
	var out []message
	for r.Next() {
		out = append(out, current(&r))
	}
	return out, r.Err()
}

var cmpOpts = cmp.Options{cmp.AllowUnexported(ZenohID{})}

func zid(s string) ZenohID {
	z, err := ParseZenohID(s)
	if err != nil {
		panic(err)
	}
	return z
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// key is a key with the sender's alias flag M, rkey one without.
func key(scope uint16, suffix string) WireExpr {
	k := rkey(scope, suffix)
	k.SenderMapping = true
	return k
}

func rkey(scope uint16, suffix string) WireExpr {
	k := WireExpr{Scope: scope}
	if suffix != "" {
		k.Suffix = []byte(suffix)
	}
	return k
}

// declared is a declaration with Rust's QoS.
func declared(kind DeclareKind, id uint32, k WireExpr) *Declare {
	return &Declare{QoS: QoSDeclare, Kind: kind, ID: id, Key: k}
}

// answered is one that answers an interest.
func answered(interest uint32, d *Declare) *Declare {
	d.Answer, d.InterestID = true, interest
	return d
}

func data(s string) []byte { return []byte(s) }

const (
	cookie1 = "3086cf67eef22e3c6ad3d52d3e61fa34da43f26d8c9a353da2d915362e9b558be19d516482d96b366060" +
		"76e79e6b55222c"
	cookie2 = "201d131e96c9232303e80a929eb5215b452224b56cbb31fdc148e313067f32436d"
	cookie3 = "309112d9c84c5605c2f30131497658a513a45df45265cd6d7e00886b6bbe830669f943d890ec9524d1dd048203e44b939d"

	zidA   = "a102030405060708090a0b0c0d0e0f10"
	zidB   = "4d9b9eb97acfd513e9c17c2be41fe8e7"
	hsrv   = "9/hsrv/std_srvs::srv::dds_::SetBool_/RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a"
	setSrv = "9/set_bool/std_srvs::srv::dds_::SetBool_/RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a"
)

// control is the frame on Rust's control lane.
func control(sn uint32) *Frame {
	return &Frame{Reliable: true, SN: sn, QoS: NewQoS(PriorityControl, false, false)}
}

func reliable(sn uint32) *Frame { return &Frame{Reliable: true, SN: sn} }

func interestKey(id uint32, mode InterestMode, opts InterestOptions, k WireExpr) *Interest {
	return &Interest{ID: id, Mode: mode, Options: opts, Restricted: true, Key: k, QoS: QoSDeclare}
}

// wantVectors holds the fields by hand, from the annotated capture. All vectors
// append back to the identical bytes, also those of other encoders: nothing is
// decode-only.
var wantVectors = map[string][]message{
	"V1-init-syn": {&Init{Version: 9, WhatAmI: Client, ZID: zid(zidA), Resolution: DefaultResolution, BatchSize: 65480,
		Exts: []Ext{{Head: 0x01}, {Head: 0x42, Body: unhex("ffc1abf00b")}, {Head: 0x27, Value: 1}}}},
	"V1-init-ack": {&Init{Ack: true, Version: 9, WhatAmI: Router, ZID: zid("aa01"), Resolution: DefaultResolution, BatchSize: 49152, Cookie: unhex(cookie1),
		Exts: []Ext{{Head: 0x01}, {Head: 0x42, Body: unhex("a4e3e792b591ac9d4eb394f2ca0d")}, {Head: 0x27, Value: 1}}}},
	"V1-open-syn": {&Open{Lease: 10 * time.Second, InitialSN: 64925523, Cookie: unhex(cookie1),
		Exts: []Ext{{Head: 0x42, Body: unhex("f0d5d7d3a3bff0fde1010001020304050607")}}}},
	"V1-open-ack": {&Open{Ack: true, Lease: 10 * time.Second, InitialSN: 97605502,
		Exts: []Ext{{Head: 0x42, Body: unhex("010001020304050607")}}}},

	"V2-init-syn": {&Init{Version: 9, WhatAmI: Client, ZID: zid("4030201"), Resolution: DefaultResolution, BatchSize: 65535}},
	"V2-init-ack": {&Init{Ack: true, Version: 9, ZID: zid("aa01"), Resolution: DefaultResolution, BatchSize: 49152, Cookie: unhex(cookie2)}},
	"V2-open-syn": {&Open{Lease: 10 * time.Second, InitialSN: 5, Cookie: unhex(cookie2)}},
	"V2-open-ack": {&Open{Ack: true, Lease: 10 * time.Second, InitialSN: 265530799}},

	"V3-init-syn": {&Init{Version: 9, WhatAmI: Client, ZID: zid(zidB), Resolution: DefaultResolution, BatchSize: 65480,
		Exts: []Ext{{Head: 0x01}, {Head: 0x27, Value: 1}}}},
	"V3-open-syn": {&Open{Lease: time.Minute, InitialSN: 70938699, Cookie: unhex(cookie3)}},
	"V3-open-ack": {&Open{Ack: true, Lease: time.Minute, InitialSN: 142815512}},

	"V4-keyexpr":          {control(64925523), declared(DeclareKeyExpr, 1, rkey(0, "demo"))},
	"V4-subscriber-alias": {control(64925524), declared(DeclareSubscriber, 1, key(1, "/**"))},
	"V4-subscriber":       {reliable(5), &Declare{Kind: DeclareSubscriber, ID: 1, Key: rkey(0, "to/raw/**")}},
	"V4-undeclare-qos":    {control(64925525), declared(UndeclareSubscriber, 1, WireExpr{})},
	"V4-undeclare":        {reliable(6), &Declare{Kind: UndeclareSubscriber, ID: 1}},

	"V5-put": {reliable(18757219), &Push{Key: key(0, "demo/a"), Data: Data{Payload: data("hi")}}},
	"V5-put-forwarded": {reliable(97605502), &Push{Key: rkey(1, "/a"), Data: Data{
		Timestamp: Timestamp{0x6b0d9e9378de2ed0, zid("aa01")}, Payload: data("hi")}}},
	"V5-put-encoding": {reliable(18757220), &Push{Key: key(0, "demo/a"), Data: Data{
		Timestamp: Timestamp{0x6b0d9e93c59fdc3e, zid("b0b0")}, Encoding: Encoding{4, data("utf-8")},
		Attachment: data("ATT"), Payload: data("hello")}}},
	"V5-delete":    {reliable(18757221), &Push{Key: key(0, "demo/a"), Data: Data{Delete: true}}},
	"V5-put-block": {reliable(18757222), &Push{Key: key(1, ""), QoS: NewQoS(PriorityData, true, false), Data: Data{Attachment: data("att"), Payload: data("x1")}}},
	"V5-put-realtime": {&Frame{SN: 18757219, QoS: NewQoS(PriorityRealTime, false, false)},
		&Push{Key: key(2, ""), QoS: NewQoS(PriorityRealTime, false, true), Data: Data{Payload: data("x2")}}},
	"V5-put-delivered": {reliable(265530799), &Push{Key: key(0, "to/raw/x"), Data: Data{
		Timestamp: Timestamp{0x6b0d9ed4e9ee86f0, zid("aa01")}, Payload: data("py1")}}},

	"V6-interest": {control(18757219), declared(DeclareKeyExpr, 1, rkey(0, "demo/pub")),
		interestKey(1, InterestCurrentFuture, InterestKeyExprs|InterestSubscribers, key(1, ""))},
	"V6-answer": {control(69995233), answered(1, declared(DeclareSubscriber, 1, key(0, "demo/**"))),
		answered(1, declared(DeclareFinal, 0, WireExpr{}))},
	"V6-interest-final": {control(18757221), &Interest{ID: 1, QoS: QoSDeclare}, &Interest{ID: 2, QoS: QoSDeclare}},
	"V6-later":          {control(69995241), declared(DeclareSubscriber, 4, rkey(6, ""))},

	"V7-queryable": {control(64925526), declared(DeclareKeyExpr, 2, rkey(0, "demo/q")),
		&Declare{QoS: QoSDeclare, Kind: DeclareQueryable, ID: 2, Key: key(2, ""), Queryable: QueryableInfo{Complete: true}}},
	"V7-request": {reliable(18757223), &Request{ID: 1, Key: key(0, "demo/q"), QoS: QoSRequest, TimeoutMillis: 3000,
		Consolidation: ConsolidationLatest, Parameters: data("a=1"), Value: Value{Encoding{ID: 7}, data("REQ")}, Attachment: data("QA")}},
	"V7-request-routed": {reliable(97605506), &Request{ID: 1, Key: rkey(2, ""), QoS: QoSRequest, TimeoutMillis: 3000,
		Consolidation: ConsolidationLatest, Parameters: data("a=1"), Value: Value{Encoding{ID: 7}, data("REQ")}, Attachment: data("QA")}},
	"V7-reply": {reliable(64925523), &Response{RequestID: 1, Key: key(0, "demo/q"), QoS: QoSRequest, Responder: EntityID{zid(zidA), 7},
		Data: Data{Attachment: data("RA"), Payload: data("R:REQ")}}},
	"V7-err": {reliable(64925524), &Response{RequestID: 1, Key: key(0, "demo/q"), QoS: QoSRequest, Responder: EntityID{zid(zidA), 7},
		Err: true, Data: Data{Payload: data("E!")}}},
	"V7-final":           {reliable(64925525), &ResponseFinal{RequestID: 1, QoS: QoSRequest}},
	"V7-final-none":      {reliable(69995235), &ResponseFinal{RequestID: 2, QoS: QoSRequest}},
	"V7-request-minimal": {reliable(10), &Request{ID: 77, Key: rkey(0, "py/q")}},
	"V7-reply-minimal":   {reliable(8), &Response{RequestID: 1, Key: rkey(0, "raw/q"), Data: Data{Payload: data("ANS")}}},
	"V7-final-minimal":   {reliable(9), &ResponseFinal{RequestID: 1}},
	"V7-undeclare":       {control(64925527), &Declare{QoS: QoSDeclare, Kind: UndeclareQueryable, ID: 2, HasKey: true}},

	"V8-token": {control(64925528), declared(DeclareKeyExpr, 3, rkey(0, "live/a/1")), declared(DeclareToken, 3, key(3, ""))},
	"V8-interest": {control(18757222), declared(DeclareKeyExpr, 3, rkey(0, "live")),
		interestKey(3, InterestCurrentFuture, InterestKeyExprs|InterestTokens, key(3, "/**"))},
	"V8-answer": {control(69995236), declared(DeclareKeyExpr, 4, rkey(0, "live/a/1")),
		answered(3, declared(DeclareToken, 2, key(4, ""))), answered(3, declared(DeclareFinal, 0, WireExpr{}))},
	"V8-new-token": {control(69995237), declared(DeclareKeyExpr, 5, rkey(0, "live/a/2")), declared(DeclareToken, 3, key(5, ""))},
	"V8-get":       {control(18757223), interestKey(4, InterestCurrent, InterestKeyExprs|InterestTokens, key(3, "/**"))},
	"V8-get-answer": {control(69995238), answered(4, declared(DeclareToken, 0, key(5, ""))), answered(4, declared(DeclareToken, 0, key(4, ""))),
		answered(4, declared(DeclareFinal, 0, WireExpr{}))},
	"V8-token-gone":    {control(69995239), &Declare{QoS: QoSDeclare, Kind: UndeclareToken, ID: 3, HasKey: true}},
	"V8-token-minimal": {reliable(11), &Declare{Kind: DeclareToken, ID: 3, Key: rkey(0, "@ros2_lv/0/x")}},
	"V8-interest-full-keys": {reliable(12), &Interest{ID: 9, Mode: InterestCurrentFuture, Options: InterestTokens, Restricted: true,
		Key: rkey(0, "@ros2_lv/**")}},
	"V8-answer-full-keys": {reliable(265530804), answered(9, declared(DeclareToken, 1, key(0, "@ros2_lv/0/py1"))),
		answered(9, declared(DeclareToken, 2, key(0, "@ros2_lv/0/x"))), answered(9, declared(DeclareFinal, 0, WireExpr{}))},
	"V8-undeclare": {reliable(15), &Declare{Kind: UndeclareToken, ID: 3}},

	"V9-fragment-first":  {&Fragment{Reliable: true, More: true, SN: 18757226, First: true, Payload: unhex("5d0601a08d067a7a")}},
	"V9-fragment-middle": {&Fragment{Reliable: true, More: true, SN: 18757227, Payload: data("zz")}},
	"V9-fragment-last":   {&Fragment{Reliable: true, SN: 18757228, Payload: data("z")}},
	"V9-keepalive":       {&KeepAlive{}},
	"V9-close-link":      {&Close{}},
	"V9-close-session":   {&Close{Session: true}},
	"V9-close-invalid":   {&Close{Reason: CloseInvalid}},

	"V10-scout":     {&Scout{Version: 9, What: Router.Bit() | Peer.Bit()}},
	"V10-scout-zid": {&Scout{Version: 9, What: Router.Bit() | Peer.Bit(), ZID: zid("30201")}},
	"V10-hello": {&Hello{Version: 9, WhatAmI: Router, ZID: zid("aa01"),
		Locators: []string{"udp/127.0.0.1:17451", "tcp/127.0.0.1:17450"}}},
	"V10-init-syn": {&Init{Version: 9, WhatAmI: Client, ZID: zid("8070605"), Resolution: DefaultResolution, BatchSize: 65535}},

	"V11-start": {control(70938699),
		declared(DeclareKeyExpr, 1, rkey(0, "@/"+zidB+"/client/config")),
		declared(DeclareKeyExpr, 2, rkey(0, "@/"+zidB+"/client")),
		declared(DeclareSubscriber, 0, key(1, "/**")),
		declared(DeclareQueryable, 1, key(2, "/**")),
		declared(DeclareKeyExpr, 3, rkey(0, "@ros2_lv/9")),
		interestKey(2, InterestCurrent, InterestKeyExprs|InterestTokens, key(3, "/**"))},
	"V11-node": {control(70938700),
		interestKey(3, InterestCurrentFuture, InterestKeyExprs|InterestTokens, key(3, "/**")),
		declared(DeclareKeyExpr, 4, rkey(0, "@ros2_lv/9/"+zidB+"/0/0/NN/%/%/talker")),
		declared(DeclareToken, 4, key(4, ""))},
	"V11-publisher": {control(70938711), declared(DeclareKeyExpr, 10, rkey(0, "@ros2_lv/9/"+zidB+"/0/3/MP/%/%/talker/%chatter/"+
		"std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,10:,:,:,,"))},

	"V12-two-puts": {reliable(70938703),
		&Push{Key: key(9, ""), Data: Data{Timestamp: Timestamp{0x6b0da2821e500110, zid(zidB)},
			Attachment: unhex("0100000000000000 e20d7d8120dfec18 10 874dcff3b87a0048bd49a3be9706880f"),
			Payload:    data("\x00\x01\x00\x00\x06\x00\x00\x00hello\x00")}},
		&Push{Key: key(15, ""), Data: Data{Timestamp: Timestamp{0x6b0da2821e5493a0, zid(zidB)},
			SourceInfo: SourceInfo{EntityID: EntityID{zid(zidB), 22}},
			Attachment: unhex("0100000000000000 19637e8120dfec18 10 dd30369c8c661cb0adc6524cf15f4942"),
			Payload:    data("\x00\x01\x00\x00\x02\x00\x00\x00L\x00")}}},
	"V12-heartbeat": {reliable(70938705), &Push{Key: key(16, ""), QoS: QoSRequest, Data: Data{
		Timestamp: Timestamp{0x6b0da282948ce030, zid(zidB)}, Payload: unhex("00000000")}}},
	"V12-call": {reliable(70938704), &Request{ID: 2, Key: key(13, ""), QoS: QoSRequest, Target: TargetAllComplete, TimeoutMillis: 600000,
		Consolidation: ConsolidationNone, Value: Value{Payload: unhex("0001000001")},
		Attachment: unhex("0100000000000000 c21e7f8120dfec18 10 36c5ef017038f74dc14e3586a0201be6")}},
	"V12-call-reply": {reliable(142815514),
		&Response{RequestID: 2, Key: key(0, hsrv), QoS: QoSRequest, Data: Data{
			Attachment: unhex("0100000000000000 dfecb68120dfec18 10 36c5ef017038f74dc14e3586a0201be6"),
			Payload:    data("\x00\x01\x00\x00\x01\x00\x00\x00\r\x00\x00\x00from harness\x00")}},
		&ResponseFinal{RequestID: 2, QoS: QoSRequest}},
	"V12-request": {reliable(142815513), &Request{ID: 1, Key: rkey(11, ""), Target: TargetAllComplete, TimeoutMillis: 3000,
		Consolidation: ConsolidationNone, Value: Value{Payload: unhex("0001000001")},
		Attachment: unhex("0100000000000000 3909953f20dfec18 10 01010101010101010101010101010101")}},
	"V12-reply": {reliable(70938702),
		&Response{RequestID: 1, Key: key(0, setSrv), Responder: EntityID{zid(zidB), 18}, Data: Data{
			Attachment: unhex("0100000000000000 52f6aa3f20dfec18 10 01010101010101010101010101010101"),
			Payload:    data("\x00\x01\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00ok\x00")}},
		&ResponseFinal{RequestID: 1}},
	"V12-history": {reliable(70938701), &Request{ID: 1, Key: key(18, "/@adv/**"), QoS: QoSRequest, Target: TargetAll,
		TimeoutMillis: 1<<64 - 1, Consolidation: ConsolidationNone, Parameters: data("_max=1;_anyke")}},

	"V14-init-ack":  {&Init{Ack: true, Version: 9, WhatAmI: Router, ZID: zid("7799"), Resolution: DefaultResolution, BatchSize: 65535, Cookie: data("COOKIE")}},
	"V14-open-ack":  {&Open{Ack: true, Lease: 10 * time.Second, InitialSN: 1}},
	"V14-linkstate": {reliable(1), linkState("7799", Router)},
}

func linkState(z string, w WhatAmI) *OAM {
	m := LinkStateOf(zid(z), w)
	return &m
}

// readVector parses a vector of either sort.
func readVector(name string, b []byte) ([]message, error) {
	if !datagram(name) {
		return readAll(b)
	}
	var m message = &Scout{}
	if name == "V10-hello" {
		m = &Hello{}
	}
	c := NewCursor(b)
	m.Parse(&c)
	return []message{m}, c.Err()
}

func TestVectors(t *testing.T) {
	all := vectors(t)
	if len(all) != len(wantVectors) {
		t.Errorf("%d vectors, %d expectations", len(all), len(wantVectors))
	}
	for name, b := range all {
		want, ok := wantVectors[name]
		if !ok {
			t.Errorf("%s: nothing expected", name)
			continue
		}
		got, err := readVector(name, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, got, cmpOpts); d != "" {
			t.Errorf("%s: messages (-want +got):\n%s", name, d)
		}
		var again []byte
		for _, m := range want {
			again = m.Append(again)
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%s: appended\n%x, want\n%x", name, again, b)
		}
	}
}

// TestVectorsTruncated cuts every vector everywhere. A cut between messages is
// a valid batch with fewer messages, and a fragment may end anywhere in its
// payload; every other cut must be an error.
func TestVectorsTruncated(t *testing.T) {
	for name, b := range vectors(t) {
		whole, err := readVector(name, b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		valid := map[int]bool{} // lengths after which a message may end
		n := 0
		for _, m := range whole {
			valid[n] = true
			n = len(m.Append(b[:n:n]))
			if f, ok := m.(*Fragment); ok {
				for i := range f.Payload {
					valid[n-1-i] = true
				}
			}
		}
		for i := range b {
			got, err := readVector(name, b[:i])
			if i == 0 && datagram(name) {
				valid[0] = false
			}
			switch {
			case valid[i] && err != nil:
				t.Errorf("%s cut to %d bytes, a message boundary: %v", name, i, err)
			case !valid[i] && err == nil:
				t.Errorf("%s cut to %d bytes: no error, got %+v", name, i, got)
			}
		}
	}
}
