"""The echo benchmark's half for asyncio-for-robotics on uvloop: one task per
pair, over listen_reliable, as its own benchmark does it."""

import asyncio
import time

import asyncio_for_robotics.zenoh as afor
import uvloop

import common


class Pair:
    """Subscribes to one key and answers each token on another."""

    def __init__(self, session, source, target, first):
        self.next = first
        self.fault = None
        self.publisher = session.declare_publisher(target)
        self.sub = afor.Sub(source, session)

    async def echo(self):
        async for sample in self.sub.listen_reliable():
            token = int(sample.payload.to_bytes())
            if token != self.next:
                self.fault = f"token {token} came in the place of {self.next}"
                return
            self.next = token + 2
            self.publisher.put(str(token + 1))


async def main():
    args = common.arguments(__doc__)
    session = common.open_session(args)
    if args.role != "ping":
        answering = Pair(session, args.ping, args.pong, 0)
        answering_task = asyncio.create_task(answering.echo())
    if args.role == "pong":
        await asyncio.sleep(0)  # the task listens before anybody is told
        common.ready()
        await answering_task
        raise SystemExit(answering.fault)
    measured = Pair(session, args.pong, args.ping, 1)
    measured_task = asyncio.create_task(measured.echo())
    await asyncio.sleep(0)
    common.wait_matched(measured.publisher)
    measured.publisher.put("0")

    await asyncio.sleep(args.warmup)
    first, begin = measured.next, time.perf_counter()
    await asyncio.sleep(args.seconds)
    last, end = measured.next, time.perf_counter()
    common.report(first, last, end - begin, measured.fault)


uvloop.run(main())
