"""What the Python halves of the echo benchmark share: arguments, the session,
and the line of the result.

A token is a number in decimal text. Who hears it answers with its successor on
the other key, so a token's value counts the messages, each one published by
one pair and read by the other, and exactly one is in flight.
"""

import argparse
import json
import os
import time

import zenoh


def arguments(description):
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--connect", required=True, help="the router, such as tcp/127.0.0.1:7447")
    p.add_argument(
        "--role",
        choices=("both", "ping", "pong"),
        required=True,
        help="both pairs in one session, or one of two processes; ping starts and measures",
    )
    p.add_argument("--ping", required=True, help="the key that ping publishes on")
    p.add_argument("--pong", required=True, help="the key that pong publishes on")
    p.add_argument("--warmup", type=float, default=1, help="seconds before the measurement")
    p.add_argument("--seconds", type=float, default=5, help="seconds of the measurement")
    return p.parse_args()


def open_session(args):
    config = zenoh.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("connect/endpoints", json.dumps([args.connect]))
    config.insert_json5("scouting/multicast/enabled", "false")
    return zenoh.open(config)


def wait_matched(publisher, seconds=10):
    """Returns once somebody subscribes to what publisher publishes."""
    deadline = time.monotonic() + seconds
    while not publisher.matching_status.matching:
        if time.monotonic() > deadline:
            raise SystemExit(f"nobody subscribed to {publisher.key_expr} within {seconds} s")
        time.sleep(0.01)


def ready():
    """Tells the driver that this half answers."""
    print("ready", flush=True)


def report(first, last, seconds, fault):
    """Prints the measurement and ends the process.

    It does not close the session: the token still goes round.
    """
    if fault is None and last == first:
        fault = f"the token stopped at {last}"
    if fault is not None:
        print(f"fault: {fault}", flush=True)
        os._exit(1)
    print(json.dumps({"messages": last - first, "seconds": seconds}), flush=True)
    os._exit(0)
