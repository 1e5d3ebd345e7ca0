"""Writes pairs.tsv and canon.tsv: what the reference library says.

Run once with the PyPI package eclipse-zenoh (1.10.2 made the files here):

    python generate.py

The random numbers are seeded, so the same library writes the same files.
Inputs with "$*$*" in them stay out: autocanonize panics on some in 1.10.2.
"""

import random
from importlib.metadata import version

import zenoh

K = zenoh.KeyExpr
rng = random.Random(5)

LITERAL = ["a", "b", "ab", "ba", "aab", "abab", "é", "a b", "%ns%x"]
SUB = ["a$*", "$*b", "$*a$*", "a$*b", "$*ab$*", "a$*a$*b", "$*b$*a", "$*é", "$*@a"]
VERBATIM = ["@", "@a", "@b", "@a$*", "@$*"]
WILD = ["*", "**", "*", "**", "**"]


def key(n, kinds):
    return K.autocanonize("/".join(rng.choice(rng.choice(kinds)) for _ in range(n)))


def vary(k):
    """A neighbour of k: some chunks widened, dropped or doubled."""
    out = []
    for c in str(k).split("/"):
        r = rng.random()
        if r < 0.2:
            out.append("*")
        elif r < 0.35:
            out.append("**")
        elif r < 0.45 and not c.startswith("@") and len(c) > 1 and c[0] not in "*$":
            out.append(c[0] + "$*")
        elif r < 0.5:
            continue
        elif r < 0.55:
            out += [c, rng.choice(LITERAL)]
        else:
            out.append(c)
    return K.autocanonize("/".join(out or ["**"]))


head = f"# eclipse-zenoh {version('eclipse-zenoh')}, written by generate.py\n"

pairs = {}
concrete = [LITERAL, LITERAL, VERBATIM]
pattern = [LITERAL, WILD, SUB, VERBATIM]
subs = [SUB, SUB, WILD, LITERAL]
while len(pairs) < 4000:
    n = rng.randint(1, 5)
    r = rng.random()
    if r < 0.35:
        b = key(n, concrete)
        a = vary(b)
    elif r < 0.65:
        b = key(n, pattern)
        a = vary(b)
    elif r < 0.85:
        a, b = key(rng.randint(1, 3), subs), key(rng.randint(1, 3), subs)
    else:
        a, b = key(n, pattern), key(rng.randint(1, 5), pattern)
    pairs[str(a), str(b)] = (a.intersects(b), a.includes(b), b.includes(a))

with open("pairs.tsv", "w", encoding="utf-8") as f:
    f.write(head + "# a, b, a intersects b, a includes b, b includes a\n")
    for (a, b), v in pairs.items():
        f.write("\t".join([a, b, *(str(int(x)) for x in v)]) + "\n")

canon = {}
odd = ["", "#", "a?", "$", "a$b", "a*", "***", "*$*", "$**", "**a", "$*", "@$*", "@*", "a#b"]
while len(canon) < 600:
    n = rng.randint(1, 6)
    kinds = [WILD, ["$*"], LITERAL, SUB, VERBATIM] if rng.random() < 0.7 else [WILD, LITERAL, odd]
    s = "/".join(rng.choice(rng.choice(kinds)) for _ in range(n))
    try:
        want = str(K.autocanonize(s))
    except zenoh.ZError:
        want = ""
    canon[s] = want

with open("canon.tsv", "w", encoding="utf-8") as f:
    f.write(head + "# key, its canonical form or nothing if it is no key expression\n")
    for s, want in canon.items():
        f.write(f"{s}\t{want}\n")
