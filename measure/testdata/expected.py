"""Writes expected.json, which the tests of package measure compare with.

    python3 -m venv v && v/bin/pip install numpy scipy
    v/bin/python expected.py > expected.json

Means and spreads are numpy's. Percentiles are by nearest rank with the rank in
exact arithmetic; they are checked here against numpy's method "inverted_cdf",
except where the rank is whole and numpy's 99.9/100*n is a rounding error above
it, so that it takes the next value. Confidence intervals are those of
scipy.stats.quantile_test. The coverage of an interval and the sample sizes
come from exact integer arithmetic on the binomial distribution.
"""
import json
import platform
from fractions import Fraction
from math import ceil, comb

import numpy as np
import scipy
from scipy import stats


def samples():
    rng = np.random.default_rng(20260101)
    yield "log-normal", np.round(rng.lognormal(1.0, 0.8, 4000), 6)
    fast, slow = rng.normal(2.0, 0.1, 400), rng.normal(9.0, 0.5, 100)
    both = np.concatenate([fast, slow])
    rng.shuffle(both)
    yield "bimodal", np.round(both, 6)
    yield "ties", rng.integers(0, 12, 80).astype(float)
    yield "far from zero", np.round(1.7e9 + rng.normal(0, 1e-3, 401), 6)
    yield "five", np.array([3.0, 1.0, 4.0, 1.0, 5.0])


def percentile(xs, p):
    rank = Fraction(str(p)) * len(xs) / 100
    value = float(np.sort(xs)[ceil(rank) - 1])
    if rank.denominator > 1 or p / 100 * len(xs) <= rank:
        assert value == np.percentile(xs, p, method="inverted_cdf"), (p, len(xs))
    return {"p": p, "value": value}


def below(n, q, rank):
    """P(B < rank) for B ~ Bin(n, q), exactly."""
    num, den = q.numerator, q.denominator
    return Fraction(sum(comb(n, k) * num**k * (den - num) ** (n - k) for k in range(rank)), den**n)


def interval(xs, p, confidence):
    q = Fraction(str(p)) / 100
    tail = (1 - Fraction(str(confidence))) / 2
    n = len(xs)
    low, at = 0, Fraction(0)
    cdf = [below(n, q, r) for r in range(n + 1)] if n <= 500 else None
    ci = stats.quantile_test(xs, p=float(q)).confidence_interval(confidence)
    if np.isnan(ci.low) or np.isnan(ci.high):
        return None
    out = {"p": p, "confidence": confidence, "low": ci.low, "high": ci.high}
    if cdf:
        lo = max(r for r in range(n + 1) if cdf[r] <= tail)
        hi = min(r for r in range(1, n + 1) if 1 - cdf[r] <= tail)
        out["coverage"] = float(cdf[hi] - cdf[lo])
        s = np.sort(xs)
        assert (s[lo - 1], s[hi - 1]) == (ci.low, ci.high), (p, n, lo, hi, ci)
    return out


def upper(xs, p, confidence):
    q = Fraction(str(p)) / 100
    ci = stats.quantile_test(xs, p=float(q), alternative="less").confidence_interval(confidence)
    return None if np.isnan(ci.high) else {"p": p, "confidence": confidence, "high": ci.high}


def needed(p, confidence):
    q, n = max(Fraction(str(p)), 100 - Fraction(str(p))) / 100, 1
    miss, power = 1 - Fraction(str(confidence)), q
    while power > miss:
        n, power = n + 1, power * q
    return n


def main():
    out = {"made_with": f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}", "samples": []}
    for name, xs in samples():
        ps = [5, 25, 50, 75, 90, 95, 99, 99.9]
        out["samples"].append({
            "name": name,
            "values": xs.tolist(),
            "mean": float(np.mean(xs.astype(np.longdouble))),
            "min": xs.min(), "max": xs.max(),
            "median": float(np.median(xs)), "range": float(np.ptp(xs)),
            "stddev": float(np.std(xs.astype(np.longdouble))),
            "percentiles": [percentile(xs, p) for p in ps],
            "intervals": [i for p in ps for c in (0.9, 0.95, 0.99) if (i := interval(xs, p, c))],
            "upper": [u for p in ps for c in (0.9, 0.95, 0.99) if (u := upper(xs, p, c))],
        })
    out["needed"] = [{"p": p, "confidence": c, "n": needed(p, c)}
                     for p in (1, 5, 50, 75, 90, 95, 99, 99.5, 99.9) for c in (0.5, 0.9, 0.95, 0.99)]
    print(json.dumps(out, separators=(",", ":")).replace('{"name', '\n{"name').replace('"needed', '\n"needed'))


main()
