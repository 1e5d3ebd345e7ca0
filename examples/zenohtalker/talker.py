"""A program under test that knows nothing of robospec: eclipse-zenoh alone.

argv: the router's endpoint, such as tcp/127.0.0.1:7447. It publishes

    talker/count   a counter as text, 20 times a second
    talker/state   {"Mode": "talking" or "paused", "Count": 12} as JSON, 10 times a second

answers queries of talker/add, {"A": 2, "B": 3} with {"Sum": 5}, and obeys
talker/command: "pause", "resume", "quit". Ctrl-C ends it, too.
"""

import json
import sys
import threading
import time

import zenoh


class Talker:
    def __init__(self, session):
        self.count = 0
        self.paused = False
        self.over = threading.Event()
        # Zenoh shows no publishers. These tokens let robospec see that we are
        # there, also while we are silent.
        self.tokens = [
            session.liveliness().declare_token(f"@robospec/pub/talker/{i}/{key}")
            for i, key in enumerate(["talker/count", "talker/state"])
        ]
        self.counts = session.declare_publisher("talker/count")
        self.states = session.declare_publisher("talker/state")
        self.commands = session.declare_subscriber("talker/command", self.obey)
        self.adder = session.declare_queryable("talker/add", self.add)

    def obey(self, sample):
        command = sample.payload.to_string()
        print("command:", command, flush=True)
        if command == "quit":
            self.over.set()
        self.paused = command == "pause"

    def add(self, query):
        try:
            ask = json.loads(query.payload.to_string())
            total = ask["A"] + ask["B"]
        except (AttributeError, KeyError, TypeError, ValueError) as e:
            query.reply_err(f"cannot add: {e!r}")
            return
        query.reply(query.key_expr, json.dumps({"Sum": total}))

    def run(self):
        began, tick = time.monotonic(), 0
        while not self.over.wait(max(0, began + tick / 20 - time.monotonic())):
            if not self.paused:
                self.count += 1
                self.counts.put(str(self.count))
            if tick % 2 == 0:
                mode = "paused" if self.paused else "talking"
                self.states.put(json.dumps({"Mode": mode, "Count": self.count}))
            tick += 1


def main():
    conf = zenoh.Config()
    conf.insert_json5("mode", json.dumps("client"))
    conf.insert_json5("connect/endpoints", json.dumps([sys.argv[1]]))
    conf.insert_json5("scouting/multicast/enabled", "false")
    with zenoh.open(conf) as session:
        talker = Talker(session)
        print("ready", flush=True)
        try:
            talker.run()
        except KeyboardInterrupt:
            pass
    print("bye", flush=True)


main()
