"""Makes and reads ROS 2 messages with rclpy for the tests in Go.

A request and an answer are each a frame: 4 bytes of length, little-endian, and
that much JSON. {"do": "make", "type": T, "seed": S, "n": N, "values": V} is
answered by N random messages of T, and {"do": "read", "type": T, "messages":
[CDR in base64], "values": V} by these, deserialized and serialized again:
[{"cdr": base64, "value": text}], with the text of the first V values. {"do":
"default", "type": T} is answered by the text of T's default value.

The text of a value is such as {sec=1,name="68690a",x=f3ff0000000000000}: names
without underscores, floats as the bits of a float64, strings as their UTF-8, both
in hexadecimal digits.
"""

import base64
import functools
import importlib
import json
import random
import struct
import sys

from rclpy.serialization import deserialize_message, serialize_message
from rosidl_parser import definition as d


@functools.cache
def find(name):
    pkg, kind, rest = name.split('/')
    base, *parts = rest.split('_')
    cls = getattr(importlib.import_module(pkg + '.' + kind), base)
    for p in parts:
        if p in ('SendGoal', 'GetResult'):
            cls = getattr(cls.Impl, p + 'Service')
        elif p == 'FeedbackMessage':
            cls = cls.Impl.FeedbackMessage
        else:
            cls = getattr(cls, p)
    return cls


@functools.cache
def fields(cls):
    names = list(cls.get_fields_and_field_types())
    assert len(names) == len(cls.SLOT_TYPES), cls
    return list(zip(names, cls.SLOT_TYPES))


def nested(t):
    return find('/'.join(t.namespaces + [t.name]))


INTS = {
    'int8': (-2**7, 2**7 - 1), 'uint8': (0, 2**8 - 1), 'int16': (-2**15, 2**15 - 1), 'uint16': (0, 2**16 - 1),
    'int32': (-2**31, 2**31 - 1), 'uint32': (0, 2**32 - 1), 'int64': (-2**63, 2**63 - 1), 'uint64': (0, 2**64 - 1),
}
NAN, INF = float('nan'), float('inf')
EDGES = {
    'float': [0.0, -0.0, 1.5, NAN, INF, -INF, 3.4028234663852886e+38, 1.401298464324817e-45],
    'double': [0.0, -0.0, 1.5, NAN, INF, -INF, 1.7976931348623157e+308, 5e-324],
}
LETTERS = 'ab Z9~\t\n"\'\\äß€ハ\ufffd\U0001f916\U0001d11e'


class Maker:
    """Makes random values; mode is 'min', 'max' or None."""

    def __init__(self, seed, mode):
        self.r = random.Random(seed)
        self.mode = mode

    def basic(self, name):
        if name == 'boolean':
            return self.r.random() < 0.5 if not self.mode else self.mode == 'max'
        if name == 'octet':
            return bytes([self.basic('uint8')])
        if name in INTS:
            lo, hi = INTS[name]
            if self.mode:
                return lo if self.mode == 'min' else hi
            return self.r.choice([0, 1, lo, hi] + [self.r.randint(lo, hi)] * 6)
        if self.mode:
            return EDGES[name][-3 if self.mode == 'min' else -2]
        if self.r.random() < 0.3:
            return self.r.choice(EDGES[name])
        x = self.r.gauss(0, 1000)
        return struct.unpack('<f', struct.pack('<f', x))[0] if name == 'float' else x

    def string(self, bound, width):
        """At most bound units, of which a letter has width(letter)."""
        if self.mode == 'min':
            return ''
        if self.mode == 'max':
            return 'x' * (bound or 40)
        out, left = '', bound or 40
        for _ in range(self.r.choice([0, 1, 2, 3, 4, 5, 9, 30])):
            c = self.r.choice(LETTERS)
            left -= width(c)
            if left < 0:
                break
            out += c
        return out

    def length(self, bound):
        if self.mode == 'min':
            return 0
        if self.mode == 'max':
            return bound if bound is not None and bound <= 100 else 3
        return self.r.randint(0, min(bound, 4) if bound is not None else 4)

    def value(self, t):
        if isinstance(t, d.BasicType):
            return self.basic(t.typename)
        if isinstance(t, d.AbstractString):
            return self.string(getattr(t, 'maximum_size', None), lambda c: len(c.encode()))
        if isinstance(t, d.AbstractWString):
            return self.string(getattr(t, 'maximum_size', None), lambda c: len(c.encode('utf-16-le')) // 2)
        if isinstance(t, d.NamespacedType):
            return self.message(nested(t))
        n = t.size if isinstance(t, d.Array) else self.length(getattr(t, 'maximum_size', None))
        return [self.value(t.value_type) for _ in range(n)]

    def message(self, cls):
        m = cls()
        for name, t in fields(cls):
            setattr(m, name, self.value(t))
        return m


def text(t, v):
    if isinstance(t, d.BasicType):
        if t.typename == 'boolean':
            return 'true' if v else 'false'
        if t.typename in ('float', 'double'):
            return 'nan' if v != v else 'f' + struct.pack('>d', float(v)).hex()
        return str(v[0] if t.typename == 'octet' else int(v))
    if isinstance(t, (d.AbstractString, d.AbstractWString)):
        return '"' + v.encode().hex() + '"'
    if isinstance(t, d.NamespacedType):
        return message_text(v)
    return '[' + ','.join(text(t.value_type, x) for x in v) + ']'


def message_text(m):
    return '{' + ','.join(n.replace('_', '') + '=' + text(t, getattr(m, n)) for n, t in fields(type(m))) + '}'


def answer(q):
    cls = find(q['type'])
    if q['do'] == 'default':
        return message_text(cls())
    if q['do'] == 'make':
        modes = [None, 'min', 'max']
        all = [cls()] + [
            Maker(q['seed'] * 1000 + i, modes[i] if i < 3 else None).message(cls) for i in range(1, q['n'])]
    else:
        all = [deserialize_message(base64.b64decode(b), cls) for b in q['messages']]
    return [{
        'cdr': base64.b64encode(serialize_message(m)).decode(),
        'value': message_text(m) if i < q['values'] else '',
    } for i, m in enumerate(all)]


def main():
    into, out = sys.stdin.buffer, sys.stdout.buffer
    while head := into.read(4):
        q = json.loads(into.read(struct.unpack('<I', head)[0]))
        try:
            a = {'answer': answer(q)}
        except Exception as e:
            a = {'error': f'{q["do"]} {q["type"]}: {type(e).__name__}: {e}'}
        b = json.dumps(a).encode()
        out.write(struct.pack('<I', len(b)) + b)
        out.flush()


main()
