"""The part of JSON Schema that the contracts use, checked by hand: no validator is among the trainer's dependencies."""

import json
import re
from pathlib import Path
from typing import Any

SCHEMAS = json.loads((Path(__file__).parent / "fixtures" / "worker-schema.json").read_text(encoding="utf-8"))
TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def faults(value: Any, schema: dict[str, Any], place: str = "") -> list[str]:
    """What is wrong with `value`; empty where it is valid."""
    if "anyOf" in schema:
        tried = [faults(value, option, place) for option in schema["anyOf"]]
        return [] if any(not found for found in tried) else [f"{place}: no alternative fits: {min(tried, key=len)}"]
    if "const" in schema and value != schema["const"]:
        return [f"{place}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place}: {value!r} is not among {schema['enum']}"]
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [f"{place}: {value!r} is no {kind}"]
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return [f"{place}: {value!r} does not match"]
    limits = {"minimum": lambda a, b: a >= b, "maximum": lambda a, b: a <= b, "exclusiveMinimum": lambda a, b: a > b}
    if broken := [word for word, holds in limits.items() if word in schema and not holds(value, schema[word])]:
        return [f"{place}: {value} is out of {broken[0]}"]
    if kind == "array":
        each = schema["items"] if isinstance(schema["items"], list) else [schema["items"]] * len(value)
        if len(each) != len(value):
            return [f"{place}: has {len(value)} items, not {len(each)}"]
        pairs = enumerate(zip(value, each, strict=True))
        return [fault for index, (item, inner) in pairs for fault in faults(item, inner, f"{place}[{index}]")]
    return _object_faults(value, schema, place) if kind == "object" else []


def _object_faults(value: dict[str, Any], schema: dict[str, Any], place: str) -> list[str]:
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    found = [f"{place}.{name} is missing" for name in schema.get("required", []) if name not in value]
    for name, item in value.items():
        inner = properties.get(name) or next((s for p, s in patterns.items() if re.search(p, name)), None)
        if inner is not None:
            found += faults(item, inner, f"{place}.{name}")
        elif schema.get("additionalProperties") is False:
            found.append(f"{place}.{name} is unknown")
    return found
