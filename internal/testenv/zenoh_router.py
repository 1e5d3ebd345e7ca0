"""A Zenoh router for tests: eclipse-zenoh in router mode on a free loopback port.

argv: lease in ms, then for TLS the files of certificate and private key.
Prints its endpoint when ready; ends when stdin is closed.
"""

import json
import sys

import zenoh

lease, tls = int(sys.argv[1]), sys.argv[2:]
conf = zenoh.Config()


def put(key, value):
    conf.insert_json5(key, json.dumps(value))


put("mode", "router")
put("listen/endpoints", ["tls/127.0.0.1:0" if tls else "tcp/127.0.0.1:0"])
put("scouting/multicast/enabled", False)
put("scouting/delay", 0)
put("open/return_conditions/connect_scouted", False)
put("adminspace/enabled", True)
put("transport/link/tx/lease", lease)
if tls:
    put("transport/link/tls/listen_certificate", tls[0])
    put("transport/link/tls/listen_private_key", tls[1])

with zenoh.open(conf) as session:
    for reply in session.get(f"@/{session.zid()}/router"):
        about = json.loads(reply.ok.payload.to_string())
        print(about["locators"][0], flush=True)
    sys.stdin.read()
