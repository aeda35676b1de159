"""JSON Schema: compiled once, decided fast by jsonschema-rs, and explained in words a caller can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jsonschema_rs

from toolgate.defaults import Defaults, copy_json, pointed
from toolgate.explaining import MOST_VIOLATIONS, VALUE, Violation, explained, items_of, trimmed
from toolgate.places import Path

__all__ = ["CompiledSchema", "SchemaError", "Violation", "compile_schema", "copy_json"]

MOST_EXPLAINED = 500
MOST_CHOICES = 1_000
LONGEST_PATTERN = 2_000
DEEPEST_VALUE = 500
DEEPEST_WAYS = 16
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_CHOICES = ("anyOf", "oneOf", "allOf")


class SchemaError(ValueError):
    """A schema that is not one; `violations` say where and why."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations)
        super().__init__("; ".join(str(violation) for violation in self.violations))


class CompiledSchema:
    """A schema ready to check values and fill in defaults."""

    __slots__ = ("_choices", "_defaults", "_refers", "_validator", "is_valid", "schema")

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        keys = _keys_in(schema)
        if keys & {"pattern", "patternProperties"}:
            _check_patterns(schema)
        self._validator = _validator(schema)
        self._refers = bool(keys & {"$ref", "$dynamicRef", "$recursiveRef"})
        self._choices = _choices_in(schema) if keys & {*_CHOICES} else 0
        self._defaults = Defaults.of(schema) if "default" in keys else None
        self.is_valid = self._validator.is_valid

    def check(self, value: Any) -> Sequence[Violation]:
        """Return what is wrong with `value`, which may be anything at all; at most twenty things, empty for none."""
        try:
            # Only a schema that refers to itself follows a value down, and then to the end of the machine's stack.
            if self._refers and _is_deeper(value, DEEPEST_VALUE):
                return (Violation((), f"nested more than {DEEPEST_VALUE} levels deep", "type"),)
            return () if self.is_valid(value) else self._violations(value)
        except (ValueError, TypeError, RecursionError) as error:
            return (Violation((), f"not JSON: {error}", "type"),)

    def _violations(self, value: Any) -> list[Violation]:
        cut: set[Path] = set()
        # The validator lists every error before it gives the first, so it only gets as much as is worth explaining.
        small = trimmed(value, [MOST_EXPLAINED], (), cut)
        errors: Iterable[Any] = ()
        if self._ways(small) <= MOST_CHOICES:
            errors = (each for each in self._validator.iter_errors(small) if tuple(each.instance_path) not in cut)
            if cut and not self._choices:
                errors = [*errors] or self._first_error(value)
        found = explained(errors, self.schema, value)
        return found or [Violation((), "does not fit its schema", "schema")]

    def _ways(self, value: Any) -> int:
        """Return how many ways through the schema there may be for `value`: explaining a misfit walks them all."""
        if not self._refers or self._choices <= 1:
            return self._choices
        # A schema that refers to itself may offer its choices again at every level of the value.
        levels = next((deep for deep in range(DEEPEST_WAYS) if not _is_deeper(value, deep)), DEEPEST_WAYS)
        return int(self._choices ** max(levels, 1))

    def _first_error(self, value: Any) -> Iterator[Any]:
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            yield error

    def with_defaults(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a deep copy of `value` in which missing properties have the schema's defaults.

        Raises:
            RecursionError: The value is nested too deeply to copy.
        """
        copied: dict[str, Any] = copy_json(value)
        if self._defaults:
            self._defaults.fill(copied)
        return copied


def compile_schema(schema: dict[str, Any]) -> CompiledSchema:
    """Compile a JSON Schema (2020-12 unless it says otherwise).

    Raises:
        SchemaError: It is not a valid schema, or it refers to something outside itself.
    """
    return CompiledSchema(schema)


def _is_deeper(value: Any, levels: int) -> bool:
    level, seen = [value], 0
    while level and seen <= levels:
        level = [item for each in level for _, item in items_of(each) if isinstance(item, dict | list | tuple)]
        seen += 1
    return bool(level)


# Compiling


def _validator(schema: Any) -> Any:
    try:
        return jsonschema_rs.validator_for(schema, validate_formats=True, offline=True, mask=VALUE)
    except jsonschema_rs.ValidationError as error:
        raise SchemaError(_schema_faults(schema, error)) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise SchemaError([Violation((), str(error).split("\n")[0], "schema")]) from None


def _walk(schema: Any) -> Iterator[tuple[Path, str, Any]]:
    """Yield path, key and value of everything in the mappings of a schema, each mapping once."""
    todo: list[tuple[Path, Any]] = [((), schema)]
    seen: set[int] = set()
    for path, value in todo:  # and what is added on the way
        if id(value) in seen:
            continue
        seen.add(id(value))
        for key, item in items_of(value):
            if isinstance(value, dict):
                yield (*path, key), key, item
            if isinstance(item, dict | list) and len(path) < DEEPEST_VALUE:
                todo.append(((*path, key), item))


def _keys_in(schema: Any) -> set[Any]:
    keys: set[Any] = set()
    seen: set[int] = set()
    todo = [schema]
    for value in todo:  # and what is added on the way
        if id(value) not in seen:
            seen.add(id(value))
            keys.update(value if isinstance(value, dict) else ())
            todo += [item for _, item in items_of(value) if isinstance(item, dict | list)]
    return keys


def _check_patterns(schema: Any) -> None:
    """Refuse patterns that would take long to compile."""
    for path, key, value in _walk(schema):
        patterns = list(value) if key == "patternProperties" and isinstance(value, dict) else [value]
        if key in ("pattern", "patternProperties") and any(
            isinstance(pattern, str) and len(pattern) > LONGEST_PATTERN for pattern in patterns
        ):
            raise SchemaError([Violation(path, f"a pattern has at most {LONGEST_PATTERN:,} characters", key)])


def _choices_in(schema: Any) -> int:
    """Return how many ways through the schema there are at most: explaining a misfit has to walk them all."""
    try:
        return _count_choices(schema, schema, {})
    except RecursionError:  # a chain of thousands of references
        return MOST_CHOICES + 1


def _count_choices(schema: Any, root: Any, counted: dict[int, int]) -> int:
    if not isinstance(schema, dict | list) or id(schema) in counted:
        return counted.get(id(schema), 1)
    counted[id(schema)] = 1
    most = 1
    for key, value in items_of(schema):
        inner = pointed(root, value) if key == "$ref" else value
        ways = [_count_choices(each, root, counted) for each in (inner if isinstance(inner, list) else [inner])]
        most = max(most, sum(ways) if key in _CHOICES else max(ways, default=1))
    counted[id(schema)] = most
    return most


def _schema_faults(schema: Any, error: Any) -> Sequence[Violation]:
    if not error.schema_path:  # not about a keyword: a reference that cannot be followed, or the like
        faults = list(_bad_references(schema))
        return faults[:MOST_VIOLATIONS] or [Violation((), error.message.split("\n")[0], "schema")]
    return explained(_meta_errors(schema), {}, schema) or explained([error], {}, schema)


def _bad_references(schema: Any) -> Iterator[Violation]:
    known = {str(value).rstrip("#") for _, key, value in _walk(schema) if key in ("$id", "id")}
    for path, key, value in _walk(schema):
        if key not in ("$ref", "$dynamicRef") or not isinstance(value, str):
            continue
        if value.startswith("#/") and pointed(schema, value) is None:
            yield Violation(path, f'there is nothing at "{value}"', "$ref")
        elif not value.startswith("#") and value.partition("#")[0] not in known:
            hint = "only references within it are followed"
            yield Violation(path, f"a schema may not refer to {value}", "$ref", hint)


def _meta_errors(schema: Any) -> list[Any]:
    draft = schema.get("$schema", _DRAFT) if isinstance(schema, dict) else _DRAFT
    small = trimmed(schema, [MOST_EXPLAINED], (), set())
    try:
        itself = {"$schema": draft, "$ref": draft}
        meta = jsonschema_rs.validator_for(itself, validate_formats=True, offline=True, mask=VALUE)
        return list(meta.iter_errors(small))
    except ValueError:
        return []
