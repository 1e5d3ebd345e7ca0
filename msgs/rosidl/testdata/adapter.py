# For each line, a definition as a JSON string: the fields and constants that
# rosidl_adapter reads in it with their values, or "error".
import contextlib
import io
import json
import sys

from rosidl_adapter.parser import parse_message_string


def plain(v):
    if isinstance(v, list):
        return [plain(x) for x in v]
    if v is None or isinstance(v, str):
        return v
    if isinstance(v, float):
        return "float " + {"inf": "+Inf", "-inf": "-Inf"}.get(str(v), "%.6g" % v)
    return str(v)


for line in sys.stdin:
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            m = parse_message_string("p", "X", json.loads(line))
        out = [[f.name, plain(f.default_value)] for f in m.fields] + [[c.name, plain(c.value)] for c in m.constants]
    except Exception:
        out = "error"
    print(json.dumps(out, ensure_ascii=False, separators=(",", ":")))
