# For each line {"type", "value", "cdr", "yaml"}: the CDR that rclpy makes of the
# value, or of its defaults when that is null, the value that it reads in the CDR, and the one that PyYAML reads in the
# YAML. Floats that JSON has no number for are strings.
import importlib
import json
import sys

import yaml
from rclpy.serialization import deserialize_message, serialize_message

SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def class_of(name):
    pkg, kind, base = name.split("/")
    base, *parts = base.split("_")
    cls = getattr(importlib.import_module(pkg + "." + kind), base)
    for part in parts:
        if part in ("SendGoal", "GetResult"):
            cls = getattr(cls.Impl, part + "Service")
        elif part == "FeedbackMessage":
            cls = cls.Impl.FeedbackMessage
        else:
            cls = getattr(cls, part)
    return cls


def build(cls, value):
    m = cls()
    for f, t in cls.get_fields_and_field_types().items():
        setattr(m, f, field(cls, f, t, value[f]))
    return m


def field(cls, f, t, v):
    if isinstance(v, list):
        if t.startswith("sequence<"):
            t = t[len("sequence<"):-1].split(",")[0]
        else:
            t = t[:t.rindex("[")]
        return [field(cls, f, t, x) for x in v]
    if t in ("float", "double"):
        return float(SPECIAL.get(v, v))
    if t == "octet":
        return bytes([v])
    if "/" in t:
        pkg, base = t.split("/")
        kind = cls.__module__.split(".")[1] if "_" in base else "msg"
        return build(class_of("/".join([pkg, kind, base])), v)
    return v


def plain(v):
    if hasattr(v, "get_fields_and_field_types"):
        return {f: plain(getattr(v, f)) for f in v.get_fields_and_field_types()}
    if isinstance(v, dict):
        return {f: plain(x) for f, x in v.items()}
    if isinstance(v, bytes):
        return v[0]
    if hasattr(v, "__len__") and not isinstance(v, str):
        return [plain(x) for x in v]
    v = v.item() if hasattr(v, "item") else v
    if isinstance(v, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(v), v)
    return v


for line in sys.stdin:
    given = json.loads(line)
    cls = class_of(given["type"])
    print(json.dumps({
        "cdr": serialize_message(build(cls, given["value"]) if given["value"] else cls()).hex(),
        "value": plain(deserialize_message(bytes.fromhex(given["cdr"]), cls)),
        "yaml": plain(yaml.safe_load(given["yaml"])),
    }))
