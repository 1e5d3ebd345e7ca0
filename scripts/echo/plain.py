"""The echo benchmark's half for plain eclipse-zenoh: callbacks, no asyncio."""

import threading
import time

import common


class Pair:
    """Subscribes to one key and answers each token on another."""

    def __init__(self, session, source, target, first):
        self.next = first
        self.fault = None
        self.publisher = session.declare_publisher(target)
        self.subscriber = session.declare_subscriber(source, self.on_sample)

    def on_sample(self, sample):
        token = int(sample.payload.to_bytes())
        if token != self.next:
            self.fault = f"token {token} came in the place of {self.next}"
            return
        self.next = token + 2
        self.publisher.put(str(token + 1))


def main():
    args = common.arguments(__doc__)
    session = common.open_session(args)
    if args.role != "ping":
        answering = Pair(session, args.ping, args.pong, 0)
    if args.role == "pong":
        common.ready()
        threading.Event().wait()
    measured = Pair(session, args.pong, args.ping, 1)
    common.wait_matched(measured.publisher)
    measured.publisher.put("0")

    time.sleep(args.warmup)
    first, begin = measured.next, time.perf_counter()
    time.sleep(args.seconds)
    last, end = measured.next, time.perf_counter()
    common.report(first, last, end - begin, measured.fault)


main()
