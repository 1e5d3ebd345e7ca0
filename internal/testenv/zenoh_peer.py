"""A Zenoh client for tests that does what it is told, one JSON object a line,
and tells what happens to it in the same way. argv: mode, endpoint, [CA file].
"""

import json
import sys
import threading

import zenoh

conf = zenoh.Config()


def put(key, value):
    conf.insert_json5(key, json.dumps(value))


put("mode", sys.argv[1])
put("connect/endpoints", [sys.argv[2]])
put("listen/endpoints", ["tcp/127.0.0.1:0"] if sys.argv[1] == "peer" else [])
put("scouting/multicast/enabled", False)
put("timestamping/enabled", True)  # which zenoh-ext asks of its publishers
if len(sys.argv) > 3:
    put("transport/link/tls/root_ca_certificate", sys.argv[3])

lock = threading.Lock()


def tell(**what):
    with lock:
        print(json.dumps(what), flush=True)


def text(b):
    return None if b is None else b.to_bytes().decode("latin-1")


def sample(s):
    source = s.source_info
    return {
        "key": str(s.key_expr),
        "payload": text(s.payload) if len(s.payload.to_bytes()) < 1000 else None,
        "size": len(s.payload.to_bytes()),
        "sum": sum(s.payload.to_bytes()) % 65536,
        "kind": "delete" if s.kind == zenoh.SampleKind.DELETE else "put",
        "encoding": str(s.encoding),
        "attachment": text(s.attachment),
        "stamped": s.timestamp is not None,
        "source": None if source is None else [str(source.source_id.zid), source.source_id.eid, source.source_sn],
    }


def payload(m):
    return bytes(m["payload"], "latin-1") * m.get("times", 1)


def options(m):
    o = {}
    if "encoding" in m:
        o["encoding"] = zenoh.Encoding(m["encoding"])
    if "attachment" in m:
        o["attachment"] = bytes(m["attachment"], "latin-1")
    return o


held = []

with zenoh.open(conf) as session:
    tell(zid=str(session.zid()))
    for line in sys.stdin:
        m = json.loads(line)
        what, key = m["do"], m.get("key")
        if what == "subscribe":
            held.append(session.declare_subscriber(key, lambda s: tell(sample=sample(s))))
        elif what == "advanced subscribe":
            import zenoh.ext

            held.append(zenoh.ext.declare_advanced_subscriber(
                session, key, lambda s: tell(sample=sample(s)),
                history=zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=m["depth"]),
                recovery=zenoh.ext.RecoveryConfig(heartbeat=True) if m.get("recover") else None))
        elif what == "advanced publish":
            import zenoh.ext

            p = zenoh.ext.declare_advanced_publisher(
                session, key, cache=zenoh.ext.CacheConfig(max_samples=m["depth"]), publisher_detection=True,
                sample_miss_detection=zenoh.ext.MissDetectionConfig(heartbeat=m.get("heartbeat")) if m.get("numbered") else None)
            held.append(p)
            attachments = m.get("attachments") or [None] * len(m["payloads"])
            for x, a in zip(m["payloads"], attachments):
                p.put(bytes(x, "latin-1"), attachment=None if a is None else bytes(a, "latin-1"))
        elif what == "put":
            session.put(key, payload(m), congestion_control=zenoh.CongestionControl.BLOCK, **options(m))
        elif what == "matching":
            p = session.declare_publisher(key)
            held.append(p.declare_matching_listener(lambda s: tell(matching=s.matching)))
            held.append(p)
            tell(matching=p.matching_status.matching)
        elif what == "querier":
            q = session.declare_querier(key, target=zenoh.QueryTarget.ALL, timeout=10)
            held.append(q.declare_matching_listener(lambda s: tell(matching=s.matching)))
            held.append(q)
            tell(matching=q.matching_status.matching)
        elif what == "ask":
            for r in held[-1].get(payload=m.get("payload")):
                tell(reply=sample(r.ok)) if r.ok is not None else tell(refusal=text(r.err.payload))
            tell(final=True)
            continue
        elif what == "delete":
            session.delete(key)
        elif what == "token":
            held.append(session.liveliness().declare_token(key))
        elif what == "drop":
            held.pop().undeclare()
        elif what == "queryable":
            def answer(q, m=m):
                tell(query={"key": str(q.key_expr), "parameters": str(q.parameters), "payload": text(q.payload),
                            "attachment": text(q.attachment), "encoding": None if q.encoding is None else str(q.encoding)})
                if m["answer"] == "reply":
                    q.reply(str(q.key_expr), b"re: " + q.payload.to_bytes(), attachment=b"here")
                elif m["answer"] == "attach":  # what is given, or what came
                    a = bytes(m["attachment"], "latin-1") if "attachment" in m else q.attachment
                    q.reply(str(q.key_expr), payload(m), attachment=a or None)
                elif m["answer"] == "twice":
                    q.reply(str(q.key_expr), b"1")
                    q.reply(str(q.key_expr), b"2")
                elif m["answer"] == "refuse":
                    q.reply_err(b"no")
                elif m["answer"] == "hold":
                    held.append(q)
                    return
                q.drop()
            held.append(session.declare_queryable(key, answer, complete=m.get("complete", False)))
        elif what == "get":
            replies = session.get(key, payload=m.get("payload"), timeout=m.get("timeout", 10),
                                  target=zenoh.QueryTarget.ALL, consolidation=zenoh.ConsolidationMode.NONE, **options(m))
            for r in replies:
                if r.ok is not None:
                    tell(reply=sample(r.ok))
                else:
                    tell(refusal=text(r.err.payload))
            tell(final=True)
            continue
        elif what == "tokens":
            for r in session.liveliness().get(key):
                tell(token=str(r.ok.key_expr))
            tell(final=True)
            continue
        elif what == "watch tokens":
            held.append(session.liveliness().declare_subscriber(
                key, lambda s: tell(token=str(s.key_expr), gone=s.kind == zenoh.SampleKind.DELETE), history=True))
        elif what == "sync":
            for _ in session.liveliness().get("@robospec/test/sync"):
                pass
            tell(synced=True)
            continue
        else:
            tell(unknown=what)
            continue
        tell(done=what)
