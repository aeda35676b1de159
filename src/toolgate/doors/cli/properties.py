"""What a JSON Schema says about one property: enough to read a word by it, no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from toolgate.defaults import pointed
from toolgate.schema import compile_schema

Schema = Mapping[str, Any]
TYPES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
# Schemas may come from strangers: looking further would let one keep us busy for ever.
_DEEPEST, _BROADEST, _LONGEST = 3, 32, 16
_CHOICES = ("anyOf", "oneOf", "allOf")
_SHARED = ("$schema", "$id", "$defs", "definitions", "properties")


def has_property(schema: Schema, name: str, root: Schema) -> bool:
    """Return whether `schema`, or one of its choices, declares the property `name`."""
    return any(name in _mapping(part.get("properties")) for part in _parts(schema, root))


def property_schema(schema: Schema, name: str, root: Schema) -> Schema:
    """Return the schema of the property `name`; an empty one when nothing is said about it."""
    named = [_mapping(part.get("properties")) for part in _parts(schema, root)]
    return _either([_mapping(properties[name]) for properties in named if name in properties]) or _mapping(
        schema.get("additionalProperties")
    )


def items_schema(schema: Schema, root: Schema) -> Schema:
    """Return the schema of an array's items; an empty one when nothing is said about them."""
    return _either([_mapping(part["items"]) for part in _parts(schema, root) if "items" in part])


def _either(schemas: list[Schema]) -> Schema:
    return {"anyOf": schemas} if len(schemas) > 1 else next(iter(schemas), {})


def types_of(schema: Schema, root: Schema, depth: int = _DEEPEST) -> frozenset[str]:
    """Return the JSON types a value of `schema` may have; all of them when it does not say."""
    schema = follow(schema, root)
    types = _own_types(schema)
    if not depth:
        return types
    for word in ("anyOf", "oneOf"):
        branches = [types_of(branch, root, depth - 1) for branch in _branches(schema, (word,))]
        types = types & frozenset().union(*branches) if branches else types
    for branch in _branches(schema, ("allOf",)):
        types &= types_of(branch, root, depth - 1)
    return types


def _own_types(schema: Schema) -> frozenset[str]:
    named = schema.get("type", TYPES)
    types = frozenset((named,) if isinstance(named, str) else named)
    if "number" in types:
        types |= {"integer"}
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return types & frozenset(map(_type_name, values)) if values else types


def _type_name(value: Any) -> str:
    names: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return "null" if value is None else names.get(type(value), "object")


def accepts(schema: Schema, root: Schema, value: Any) -> bool:
    """Return whether `value` fits `schema`, a part of `root`."""
    shared = {word: root[word] for word in _SHARED if word in root}
    whole = {**shared, "properties": {**shared.get("properties", {}), "\0": dict(schema)}}
    return bool(compile_schema(whole).is_valid({"\0": value}))


def follow(schema: Schema, root: Schema) -> Schema:
    """Return what a local `$ref` leads to, with what stands beside it; other references are left alone."""
    for _ in range(_LONGEST):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        beside = {word: value for word, value in schema.items() if word != "$ref"}
        schema = {**_mapping(pointed(root, reference)), **beside}
    return schema


def _parts(schema: Schema, root: Schema, depth: int = _DEEPEST) -> Iterator[Schema]:
    """Yield `schema` and its choices, references followed."""
    schema = follow(schema, root)
    yield schema
    for branch in _branches(schema, _CHOICES) if depth else ():
        yield from _parts(branch, root, depth - 1)


def _branches(schema: Schema, words: Iterable[str]) -> Iterator[Schema]:
    for word in words:
        yield from map(_mapping, islice(schema.get(word, ()), _BROADEST))


def _mapping(value: Any) -> Schema:
    return value if isinstance(value, dict) else {}
