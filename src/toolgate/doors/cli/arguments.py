"""From the words behind `toolgate call NAME` to the tool's arguments, typed by its input schema.

    name=value     the schema's type; text is taken as it is, arrays and objects are JSON
    name:=json     JSON, whatever the schema says
    a=1 a=2        a repeated name makes an array, where the schema has one
    box.width=3    inside an object, where the schema has one called `box` and no property called `box.width`

Where several types fit, the first of null, boolean, number, array and object that the schema accepts wins, then text.
A value no type fits is handed on as text: the gateway's own validation says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolgate.doors.cli.properties import accepts, has_property, items_schema, property_schema, types_of
from toolgate.errors import ToolValidationError
from toolgate.strictjson import parse_json

_PAIR = re.compile(r"([^=]+?)(:?)=(.*)", re.DOTALL)
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """One `name=value` as typed; `name` loses what stands before its dots as objects are entered."""

    name: str
    text: str
    raw: bool
    full_name: str


def read_object(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object in `text`.

    Raises:
        ToolValidationError: It is not JSON, or not an object.
    """
    try:
        value = parse_json(text)
    except ValueError as error:
        raise ToolValidationError(f"the arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ToolValidationError("the arguments must be a JSON object", hint='as in {"a": 1, "b": 2}')
    return value


def read_pairs(words: Sequence[str], schema: Schema) -> dict[str, Any]:
    """Return the arguments that `words` spell out.

    Raises:
        ToolValidationError: A word is not `name=value`, a name is given twice, or JSON was needed and is broken.
    """
    return _arguments([_pair(word) for word in words], schema, schema)


def _pair(word: str) -> Pair:
    match = _PAIR.fullmatch(word)
    if match is None or word.startswith("--"):
        kind = "an option of this command" if word.startswith("-") else "an argument"
        hint = "write name=value, name:=json, or all arguments as one '{...}'"
        raise ToolValidationError(f'"{word}" is not {kind}', hint=hint)
    name, raw, text = match.groups()
    return Pair(name, text, bool(raw), name)


def _arguments(pairs: Sequence[Pair], schema: Schema, root: Schema) -> dict[str, Any]:
    direct: dict[str, list[Pair]] = {}
    inner: dict[str, list[Pair]] = {}
    for pair in pairs:
        head, inside = _split(pair, schema, root)
        (direct if inside is None else inner).setdefault(head, []).append(inside or pair)
    both = direct.keys() & inner.keys()
    if both:
        raise _wrong(min(both), "it is given both as a whole and in parts")
    found = {name: _value(same, property_schema(schema, name, root), root) for name, same in direct.items()}
    parts = {name: _arguments(same, property_schema(schema, name, root), root) for name, same in inner.items()}
    return {**found, **parts}


def _split(pair: Pair, schema: Schema, root: Schema) -> tuple[str, Pair | None]:
    head, _, rest = pair.name.partition(".")
    if not rest or has_property(schema, pair.name, root) or not has_property(schema, head, root):
        return pair.name, None
    nested = "object" in types_of(property_schema(schema, head, root), root)
    return (head, replace(pair, name=rest)) if nested else (pair.name, None)


def _value(pairs: Sequence[Pair], schema: Schema, root: Schema) -> Any:
    if len(pairs) == 1:
        return _single(pairs[0], schema, root)
    if "array" not in types_of(schema, root):
        raise _wrong(pairs[0].full_name, "it is given twice", hint="only an array may be repeated")
    return [_item(pair, items_schema(schema, root), root) for pair in pairs]


def _single(pair: Pair, schema: Schema, root: Schema) -> Any:
    types = types_of(schema, root)
    readings = _readings(pair, types)
    if readings:
        return _best(readings, schema, root)
    if "array" in types and not pair.text.lstrip().startswith("["):
        return [_item(pair, items_schema(schema, root), root)]
    return _json(pair) if types <= {"array", "object"} else pair.text


def _item(pair: Pair, schema: Schema, root: Schema) -> Any:
    readings = _readings(pair, types_of(schema, root))
    return _best(readings, schema, root) if readings else pair.text


def _best(readings: list[Any], schema: Schema, root: Schema) -> Any:
    if len(readings) == 1:
        return readings[0]
    return next((value for value in readings if accepts(schema, root, value)), readings[0])


def _readings(pair: Pair, types: frozenset[str]) -> list[Any]:
    """Return what a pair's text may mean: JSON of one of the types, then the text itself."""
    if pair.raw:
        return [_json(pair)]
    word = pair.text.lower() if pair.text.lower() in ("true", "false", "null") else pair.text
    try:
        value = parse_json(word)
    except ValueError:
        value = pair.text
    typed = [value] if not isinstance(value, str) and _kinds(value) & types else []
    return [*typed, pair.text] if "string" in types else typed


def _kinds(value: Any) -> set[str]:
    if isinstance(value, float):
        return {"number", "integer"} if value.is_integer() else {"number"}
    names = {bool: "boolean", int: "integer", type(None): "null", list: "array", dict: "object"}
    return {names[type(value)]}


def _json(pair: Pair) -> Any:
    try:
        return parse_json(pair.text)
    except ValueError as error:
        raise _wrong(pair.full_name, f"not JSON: {error}") from None


def _wrong(name: str, message: str, hint: str = "") -> ToolValidationError:
    return ToolValidationError(f"{name}: {message}", field=name, hint=hint)
