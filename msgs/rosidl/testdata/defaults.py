# For each line "pkg kind Name": the constants of the class that rosidl
# generated, and the values of the fields of a fresh instance; nested messages as
# null.
import importlib
import json
import sys


def plain(v):
    if hasattr(v, "get_fields_and_field_types"):
        return None
    if isinstance(v, bytes):
        return str(v[0])
    if isinstance(v, str):
        return v
    if hasattr(v, "__len__"):
        return [plain(x) for x in v]
    v = v.item() if hasattr(v, "item") else v
    return "float %.6g" % v if isinstance(v, float) else str(v)


for line in sys.stdin:
    pkg, kind, name = line.split()
    base, *parts = name.split("_")
    cls = getattr(importlib.import_module(pkg + "." + kind), base)
    for part in parts:
        if part in ("SendGoal", "GetResult"):
            cls = getattr(cls.Impl, part + "Service")
        elif part == "FeedbackMessage":
            cls = cls.Impl.FeedbackMessage
        else:
            cls = getattr(cls, part)
    constants = {k: v for k, v in type(cls).__prepare__("", ()).items() if not k.endswith("__DEFAULT")}
    m = cls()
    print(json.dumps({
        "constants": {k: plain(v) for k, v in constants.items()},
        "fields": {f: plain(getattr(m, f)) for f in m.get_fields_and_field_types()},
    }))
