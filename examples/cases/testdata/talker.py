"""A talker that prints numbered lines until SIGTERM. Its options are faults."""

import argparse
import itertools
import signal
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--first", type=int, nargs="+", default=[], help="the numbers of the first lines")
parser.add_argument("--lines", type=int, help="end after so many lines")
parser.add_argument("--code", type=int, default=0, help="the exit code")
parser.add_argument("--sigterm", choices=["ends", "ignored", "kills"], default="ends")
parser.add_argument("--last-line", choices=["stderr", "stdout"], default="stderr")
options = parser.parse_args()


def end(*_):
    print("signal handler: shutting down", file=getattr(sys, options.last_line), flush=True)
    sys.exit(options.code)


signal.signal(signal.SIGTERM, {"ends": end, "ignored": signal.SIG_IGN, "kills": signal.SIG_DFL}[options.sigterm])
numbers = itertools.chain(options.first, itertools.count(len(options.first) + 1))
for number in itertools.islice(numbers, options.lines):
    print(f"Publishing: 'Hello World: {number}'", flush=True)
    time.sleep(0.05)
sys.exit(options.code)
