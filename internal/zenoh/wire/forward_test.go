package wire_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/zenoh/wire"
)

// TestForward: a message under another key and id is, read again, the same but
// for those.
func TestForward(t *testing.T) {
	stamp := wire.Timestamp{Time: wire.NTP64FromTime(time.Unix(1, 0)), ID: wire.RandomZenohID()}
	data := wire.Data{Payload: []byte("payload"), Attachment: []byte("att"), Encoding: wire.Encoding{ID: 7, Schema: []byte("s")}}
	long := bytes.Repeat([]byte("k"), 200)
	keys := []wire.WireExpr{{}, {Suffix: []byte("a/b")}, {Suffix: long, SenderMapping: true}, {Scope: 300}, {Scope: 3, Suffix: long, SenderMapping: true}}
	for _, from := range keys {
		for _, to := range keys {
			for _, qos := range []wire.QoS{0, wire.QoSRequest} {
				for _, net := range []wire.Timestamp{{}, stamp} {
					push := wire.Push{Key: from, QoS: qos, NetTime: net, Data: data}
					msg := push.Append(nil)
					after := wire.AfterKey(msg)
					push.Key = to
					if got := append(wire.AppendForward(nil, msg, 0, &to), msg[after:]...); !bytes.Equal(got, push.Append(nil)) {
						t.Errorf("% x\nbecame % x\nnot    % x", msg, got, push.Append(nil))
					}
					body := wire.Body(msg, after)
					push.Data.Timestamp = stamp
					got := append(wire.AppendForward(nil, msg, 0, &to), msg[after:body]...)
					got = append(wire.AppendStamped(got, msg, body, stamp), msg[body+1:]...)
					if !bytes.Equal(got, push.Append(nil)) {
						t.Errorf("% x\nbecame % x\nnot    % x", msg, got, push.Append(nil))
					}

					req := wire.Request{ID: 5, Key: from, QoS: qos, NetTime: net, Target: wire.TargetAll, TimeoutMillis: 1 << 63, Value: wire.Value{Payload: []byte("v")}}
					msg = req.Append(nil)
					after = wire.AfterKey(msg)
					req.Key, req.ID = to, 1<<28
					if got := append(wire.AppendForward(nil, msg, req.ID, &to), msg[after:]...); !bytes.Equal(got, req.Append(nil)) {
						t.Errorf("% x\nbecame % x\nnot    % x", msg, got, req.Append(nil))
					}
					res := wire.Response{RequestID: 1 << 28, Key: from, QoS: qos, NetTime: net, Responder: wire.EntityID{ZID: stamp.ID, EID: 3}, Data: data}
					msg = res.Append(nil)
					after = wire.AfterKey(msg)
					res.Key, res.RequestID = to, 6
					if got := append(wire.AppendForward(nil, msg, res.RequestID, &to), msg[after:]...); !bytes.Equal(got, res.Append(nil)) {
						t.Errorf("% x\nbecame % x\nnot    % x", msg, got, res.Append(nil))
					}
				}
			}
		}
	}
}
