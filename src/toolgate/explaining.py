"""Saying in words what is wrong with a value that breaks its schema."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from toolgate.errors import did_you_mean, nearest
from toolgate.places import Path, dotted

MOST_VIOLATIONS = 20
VALUE = "«value»"  # what jsonschema-rs is told to write where a value would stand, as it copies values of any size
_SHORT = 80


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value breaks its schema."""

    path: Path
    message: str
    keyword: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{dotted(self.path)}: " if self.path else ""
        return f"{where}{self.message}" + (f"; {self.hint}" if self.hint else "")


def explained(errors: Iterable[Any], schema: Any, value: Any) -> list[Violation]:
    """Return what the validator's errors about `value` mean, each once, at most twenty."""
    found: dict[Violation, None] = {}
    for error in errors:
        found.update(dict.fromkeys(_explain(error, schema, value)))
        if len(found) >= MOST_VIOLATIONS:
            break
    return list(found)[:MOST_VIOLATIONS]


def _explain(error: Any, schema: Any, value: Any) -> list[Violation]:
    kind = error.kind
    twofold = isinstance(kind, jsonschema_rs.ValidationErrorKind.OneOfMultipleValid)
    if kind.name in ("anyOf", "oneOf") and not twofold and any(kind.context):
        return _best_branch(error, schema, value)
    path = tuple(error.instance_path)
    if kind.name == "required":
        return [_missing(path, error, schema)]
    if strangers := _strangers(error, value):
        return [_unknown(path, name, error, schema) for name in strangers[:MOST_VIOLATIONS]]
    return [Violation(path, _wording(error, _at(value, error)), kind.name, _hint(error))]


def _strangers(error: Any, value: Any) -> list[str]:
    """Return the properties that a closed object does not take."""
    kind = error.kind
    # An object that takes no property at all is refused by another name.
    if kind.name == "falseSchema" and list(error.schema_path)[-1:] == ["additionalProperties"]:
        found = _at(value, error)
        return list(found) if isinstance(found, dict) else []
    return kind.unexpected if kind.name in ("additionalProperties", "unevaluatedProperties") else []


def _at(value: Any, error: Any) -> Any:
    # Not error.instance: there, what JSON has no word for has become null.
    try:
        for step in error.instance_path:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        return error.instance
    return value


def _best_branch(error: Any, schema: Any, value: Any) -> list[Violation]:
    # The branch that got furthest is the one that was meant: deepest violation first, then the fewest of them.
    branches = [explained(branch, schema, value) for branch in error.kind.context if branch]
    depth = len(error.instance_path)
    telling = [b for b in branches if any(len(v.path) > depth or v.keyword not in ("type", "const") for v in b)]
    if telling:
        return min(telling, key=lambda b: (-max(len(v.path) for v in b), len(b)))
    choices = dict.fromkeys(v.message.removeprefix("expected ").split(", got")[0] for b in branches for v in b)
    message = f"expected {' or '.join(choices)}, got {_short(_at(value, error))}"
    return [Violation(tuple(error.instance_path), message, error.kind.name)]


def _missing(path: Path, error: Any, schema: Any) -> Violation:
    name = error.kind.property
    strangers = set(error.instance) - _known(error, schema)
    match = nearest(name, strangers)
    return Violation((*path, name), "missing", "required", f'is "{match}" a misspelling of it?' if match else "")


def _unknown(path: Path, name: str, error: Any, schema: Any) -> Violation:
    known = _known(error, schema)
    hint = did_you_mean(name, known) or (f"known: {', '.join(sorted(known)[:10])}" if known else "")
    return Violation((*path, name), "no such property", error.kind.name, hint)


def _known(error: Any, schema: Any) -> set[str]:
    """Return the properties declared beside the keyword that failed."""
    for step in error.schema_path[:-1]:
        try:
            schema = schema[step]
        except (KeyError, IndexError, TypeError):
            return set()
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return set(properties) if isinstance(properties, dict) else set()


def _wording(error: Any, value: Any) -> str:
    kind, got = error.kind, _short(value)
    own = {
        "type": lambda: f"expected {' or '.join(kind.types)}, got {got}",
        "enum": lambda: f"must be one of {_short(kind.options, 200)}, got {got}",
        "const": lambda: f"must be {_short(kind.expected_value)}, got {got}",
        "format": lambda: f"{got} is not a valid {kind.format}",
        "falseSchema": lambda: f"nothing is allowed here, got {got}",
        "contains": lambda: f"{_CONTAINS.get(error.schema_path[-1], 'no item fits')} contains, got {got}",
        "propertyNames": lambda: f"the name of a property: {error.message}",
    }
    text: str = own[kind.name]() if kind.name in own else error.message.replace(VALUE, got)
    return text if len(text) <= 300 else f"{text[:300]}…"


_CONTAINS = {"minContains": "too few items fit", "maxContains": "too many items fit"}


def _hint(error: Any) -> str:
    if error.kind.name == "enum" and isinstance(error.instance, str):
        return did_you_mean(error.instance, [option for option in error.kind.options if isinstance(option, str)])
    return ""


def _short(value: Any, most: int = _SHORT) -> str:
    try:
        text = json.dumps(trimmed(value, [most], (), set()), ensure_ascii=False, default=repr)
    except ValueError:  # a number of thousands of digits
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else f"{text[:most]}…"


def items_of(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the keys or indexes of a value with what is there; nothing for what holds nothing."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def trimmed(value: Any, budget: list[int], path: Path, cut: set[Path]) -> Any:
    """Return as much of `value` as the budget allows; `cut` collects the paths of what is not whole."""
    kept = []
    for step, item in items_of(value):
        if budget[0] <= 0:
            cut.add(path)
            break
        budget[0] -= 1
        kept.append((step, trimmed(item, budget, (*path, step), cut)))
    if isinstance(value, dict):
        return dict(kept)
    return [item for _, item in kept] if isinstance(value, list | tuple) else value
