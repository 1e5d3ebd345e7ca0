"""ROS 2 nodes for tests, on zenoh-ros2-sdk, that do what they are told, one JSON
object a line, and tell what happens to them in the same way. argv: endpoint, ROS
domain id.
"""

import json
import os
import sys
import threading

endpoint, domain = sys.argv[1], sys.argv[2]
os.environ["ROS_DOMAIN_ID"] = domain
os.environ["ZENOH_CONFIG_OVERRIDE"] = f'connect/endpoints=["{endpoint}"];listen/endpoints=["tcp/127.0.0.1:0"]'

import types

import zenoh

# Where the SDK looks for it, to have its reliable publishers wait rather than drop.
zenoh.qos = types.SimpleNamespace(CongestionControl=zenoh.CongestionControl)

import zenoh_ros2_sdk as sdk
from zenoh_ros2_sdk import discovery

lock = threading.Lock()


def tell(**what):
    with lock:
        print(json.dumps(what), flush=True)


TYPES = {"std_msgs/msg/String": "string data", "std_msgs/msg/Int32": "int32 data"}


def node(m):
    return {"node_name": m.get("node"), "namespace": m.get("namespace", "/"), "qos": m.get("qos")}


def topic(m):
    kind = m.get("type", "std_msgs/msg/String")
    return {"msg_type": kind, "msg_definition": TYPES[kind], "type_hash": m.get("hash"), **node(m)}


def service(m):
    return {
        "srv_type": "std_srvs/srv/SetBool",
        "request_definition": "bool data",
        "response_definition": "bool success\nstring message",
        **node(m),
    }


def heard(name, message):
    data = message.data
    if isinstance(data, str) and len(data) > 1000:
        tell(topic=name, size=len(data), sum=sum(data.encode()) % 65536)
    else:
        tell(topic=name, data=data)


def endpoints(of, kind):
    return [
        {"node": e.node_name, "namespace": e.node_namespace, "type": getattr(e, kind), "hash": e.type_hash, "qos": e.qos}
        for e in of
    ]


publishers, subscribers, servers, clients = {}, {}, {}, {}
response = None
shared = sdk.ZenohSession.get_instance()
tell(zid=shared.session_id)
for line in sys.stdin:
    m = json.loads(line)
    what, name = m["do"], m.get("key")
    if what == "publish":
        publishers[name] = sdk.ROS2Publisher(topic=name, **topic(m))
    elif what == "send":
        data = m["data"] * m.get("times", 1) if isinstance(m["data"], str) else m["data"]
        publishers[name].publish(data=data)
    elif what == "subscribe":
        subscribers[name] = sdk.ROS2Subscriber(topic=name, callback=lambda x, name=name: heard(name, x), **topic(m))
    elif what == "serve":

        def answer(request):
            tell(request=request.data)
            return response(success=request.data, message="set" if request.data else "reset")

        hold = m.get("answer") == "hold"
        s = sdk.ROS2ServiceServer(service_name=name, callback=answer, mode="queue" if hold else "callback", **service(m))
        servers[name], response = s, s.response_msg_class
        if hold:

            def take(s=s):
                tell(request=s.take_request()[1].data)

            threading.Thread(target=take, daemon=True).start()
    elif what == "client":
        clients[name] = sdk.ROS2ServiceClient(service_name=name, timeout=m.get("timeout", 10), **service(m))
    elif what == "call":
        r = clients[name].call(data=m["data"])
        tell(reply=None if r is None else [r.success, r.message])
        continue
    elif what == "drop":
        {"publisher": publishers, "subscriber": subscribers, "server": servers, "client": clients}[m["what"]].pop(name).close()
    elif what == "topics":
        tell(topics=dict(discovery.get_topic_names_and_types(include_hidden_topics=True)))
        continue
    elif what == "topic info":
        i = discovery.get_topic_info(name, verbose=True)
        tell(publishers=endpoints(i.publishers, "topic_type"), subscribers=endpoints(i.subscribers, "topic_type"))
        continue
    elif what == "service info":
        i = discovery.get_service_info(name, verbose=True)
        tell(servers=endpoints(i.servers, "service_type"), clients=endpoints(i.clients, "service_type"))
        continue
    elif what == "sync":
        for _ in shared.liveliness.get("@robospec/test/sync"):
            pass
        tell(synced=True)
        continue
    else:
        tell(unknown=what)
        continue
    tell(done=what)
# A thread of the SDK may wait for ever.
os._exit(0)
