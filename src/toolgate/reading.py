"""Strict YAML and JSON: plain values, the place of every one of them, and every problem at once.

YAML is read from libyaml's event stream, not through a composer or constructor: nothing is ever built from a tag, depth
is bounded before Python's stack is, and each node keeps the line and column it came from.
"""

from __future__ import annotations

import gc
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import yaml

from toolgate.errors import Place, Problem, one_line
from toolgate.places import (
    LOCAL,
    MOST_PROBLEMS,
    TOO_MANY,
    Document,
    Limits,
    Lines,
    Marks,
    Places,
    StopReading,
    place_of,
)
from toolgate.strictjson import JsonReader, bounded_int, finite_float, parse_json

__all__ = ["collection_paused", "parse_json", "read_document"]

# libyaml takes U+0085, U+2028 and U+2029 for line ends, so they could hide a key inside a comment.
_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ufeff]")
_TAG_DIRECTIVE = re.compile(r"(?:^|[\r\n])(%TAG)")
_NO_DIRECTIVES = "directives (%YAML, %TAG) are not allowed"
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NUMBER_START = frozenset("0123456789+-.")
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def read_document(data: bytes, name: str, *, limits: Limits = LOCAL, places: Places | None = None) -> Document:
    """Read `data` as JSON if `name` ends in .json, else as YAML; problems are collected, never raised."""
    places = places if places is not None else Places()
    text, problems = _decode(data, name, limits)
    if text is None:
        return Document(name, None, places, problems)
    reader = JsonReader if name.lower().endswith(".json") else _YamlReader
    with collection_paused():
        value, found = reader(text, name, limits, places).read()
    return Document(name, value, places, problems + found)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Keep the garbage collector out: reading makes many objects and no garbage, so collecting only costs time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _decode(data: bytes, name: str, limits: Limits) -> tuple[str | None, list[Problem]]:
    if len(data) > limits.max_bytes:
        return None, [Problem(f"the file is {len(data):,} bytes; the limit is {limits.max_bytes:,}", Place(name))]
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        place = place_of(Lines(good, name).mark(len(good)))
        return None, [Problem(f"not UTF-8: {error.reason}", place, hint="save the file as UTF-8")]
    found = _refused_characters(text, name)
    return (None, found) if found else (text, [])


def _refused_characters(text: str, name: str) -> list[Problem]:
    matches = list(islice(_REFUSED.finditer(text), MOST_PROBLEMS))
    lines = Lines(text, name) if matches else None
    return [
        Problem(f"the character U+{ord(match.group()):04X} is not allowed", place_of(lines.mark(match.start())))
        for match in matches
        if lines
    ]


class _Anchor(NamedTuple):
    value: Any
    size: int  # values in it, itself included
    levels: int  # of mappings and sequences inside one another


class _YamlReader:
    def __init__(self, text: str, name: str, limits: Limits, places: Places) -> None:
        self.text, self.name, self.limits, self.places = text, name, limits, places
        self.problems: list[Problem] = []
        self.anchors: dict[str, _Anchor] = {}
        self.most_values = limits.values(len(text))
        self.values = 0
        self.aliased = 0
        self.deepest = 0

    def read(self) -> tuple[Any, list[Problem]]:
        stream: Any = io.BytesIO(self.text.encode())
        stream.name = self.name  # libyaml's marks take their name from here
        parser: Any = yaml.cyaml.CParser(stream)  # type: ignore[attr-defined]  # missing from the stubs
        self.next = parser.get_event
        try:
            self._check_directives()
            return self._document(), self.problems
        except StopReading:
            pass
        except yaml.MarkedYAMLError as error:
            self.problems.append(_syntax_problem(error))
        except UnicodeDecodeError:
            self.problems.append(Problem("a tag is not UTF-8", Place(self.name), hint="tags are not allowed"))
        finally:
            parser.dispose()
        return None, self.problems

    def _check_directives(self) -> None:
        # libyaml compares each %TAG with all before it, so a file full of them would take it hours.
        directives = list(islice(_TAG_DIRECTIVE.finditer(self.text), MOST_PROBLEMS))
        if len(directives) == MOST_PROBLEMS:
            raise self._stop(_NO_DIRECTIVES, Lines(self.text, self.name).mark(directives[0].start(1)))

    def _document(self) -> Any:
        self.next()  # stream start
        start = self.next()
        if isinstance(start, yaml.StreamEndEvent):
            return None
        if start.version or start.tags:
            self._add(_NO_DIRECTIVES, start.start_mark)
        value, _ = self._node(self.next(), 1)
        self.next()  # document end
        following = self.next()
        if not isinstance(following, yaml.StreamEndEvent):
            self._add("a second document is not allowed", following.start_mark, hint="keep one document in a file")
        return value

    def _node(self, event: Any, depth: int) -> tuple[Any, Any]:
        if type(event) is yaml.AliasEvent:
            return self._alias(event, depth), event.start_mark
        if event.anchor is not None:
            return self._anchored(event, depth), event.start_mark
        return self._content(event, depth), event.start_mark

    def _content(self, event: Any, depth: int) -> Any:
        if type(event) is yaml.ScalarEvent:
            self._count(event, event.value)
            return event.value if event.style else self._plain(event.value, event.start_mark)
        self._count(event)
        self.deepest = max(self.deepest, depth)
        if depth > self.limits.max_depth:
            raise self._too_deep(event)
        return self._mapping(depth) if type(event) is yaml.MappingStartEvent else self._sequence(depth)

    def _count(self, event: Any, text: str = "") -> None:
        # A long text counts as many values, as repeating it costs as much.
        self.values += 1 + (len(text) >> 6)
        if self.values > self.most_values:
            raise self._stop(f"more than {self.most_values:,} values", event.start_mark)
        if event.tag is not None:
            self._add(f"the tag {one_line(event.tag, 60)} is not allowed", event.start_mark, hint="write a plain value")

    def _mapping(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        marks: dict[str, Marks] = {}
        next_event, end = self.next, yaml.MappingEndEvent
        while type(event := next_event()) is not end:
            key = self._key(event, depth)
            value, mark = self._node(next_event(), depth + 1)
            if key is None:
                continue
            if key in result:
                hint = f"the first one is on line {marks[key][0].line + 1}"
                self._add(f'the key "{one_line(key, 60)}" is given twice', event.start_mark, hint)
                continue
            result[key] = value
            marks[key] = (event.start_mark, mark)
        self.places.remember(result, marks)
        return result

    def _key(self, event: Any, depth: int) -> str | None:
        mark = event.start_mark
        if type(event) is not yaml.ScalarEvent:
            self._add("a key must be text", mark)
            if type(event) is not yaml.AliasEvent:
                self._content(event, depth + 1)
            return None
        key: str = event.value
        self._count(event, key)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(key, 1 + (len(key) >> 6), 0)
        if event.style or _is_text(key):
            return key
        if key == "<<":
            self._add('merge keys ("<<") are not allowed', mark, hint="write the keys out")
        else:
            self._add(f"the key {one_line(key, 60) or 'null'} is not text", mark, hint="put it in quotes")
        return None

    def _sequence(self, depth: int) -> list[Any]:
        result: list[Any] = []
        marks: list[Marks] = []
        next_event, end = self.next, yaml.SequenceEndEvent
        while type(event := next_event()) is not end:
            value, mark = self._node(event, depth + 1)
            result.append(value)
            marks.append((mark, mark))
        self.places.remember(result, marks)
        return result

    def _anchored(self, event: Any, depth: int) -> Any:
        values, deepest, self.deepest = self.values, self.deepest, 0
        value = self._content(event, depth)
        levels = max(0, self.deepest - depth + 1)
        self.anchors[event.anchor] = _Anchor(value, self.values - values, levels)
        self.deepest = max(deepest, self.deepest)
        return value

    def _alias(self, event: Any, depth: int) -> Any:
        if event.anchor not in self.anchors:
            name = one_line(event.anchor, 60)
            self._add(f"the alias *{name} has no anchor before it", event.start_mark)
            return None
        value, size, levels = self.anchors[event.anchor]
        self.aliased += size
        self.values += size
        if self.aliased > self.limits.max_aliased:
            text = "aliases repeat too much" if self.limits.max_aliased else "aliases are not allowed here"
            raise self._stop(text, event.start_mark)
        self.deepest = max(self.deepest, depth + levels - 1)
        if self.deepest > self.limits.max_depth:
            raise self._too_deep(event)
        return value

    def _plain(self, text: str, mark: Any) -> Any:
        try:
            return _plain_scalar(text)
        except ValueError as error:
            self._add(str(error), mark, hint="put it in quotes to keep it as text")
            return None

    def _add(self, message: str, mark: Any, hint: str = "") -> None:
        self.problems.append(Problem(message, place_of(mark), hint=hint))
        if len(self.problems) >= MOST_PROBLEMS:
            self.problems.append(Problem(TOO_MANY, place_of(mark)))
            raise StopReading

    def _stop(self, message: str, mark: Any) -> StopReading:
        self._add(message, mark)
        return StopReading()

    def _too_deep(self, event: Any) -> StopReading:
        return self._stop(f"nested more than {self.limits.max_depth} levels deep", event.start_mark)


def _syntax_problem(error: yaml.MarkedYAMLError) -> Problem:
    mark: Any = error.problem_mark or error.context_mark
    since: Any = error.context_mark
    hint = "what follows was not checked"
    if error.context and since and error.problem:
        hint = f"{error.context} that begins on line {since.line + 1}, column {since.column + 1}; {hint}"
    return Problem(f"{error.problem or error.context}", place_of(mark), hint=hint)


def _is_text(plain: str) -> bool:
    try:
        return plain != "<<" and isinstance(_plain_scalar(plain), str)
    except ValueError:
        return False


def _plain_scalar(text: str) -> Any:
    """Return what unquoted text means by the YAML 1.2 core schema: `no` and `1:30` are text.

    Raises:
        ValueError: It is a number that JSON, or 64 bits, cannot hold.
    """
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    return _number(text) if text[0] in _NUMBER_START else text


def _number(text: str) -> Any:
    if _INT.fullmatch(text):
        return bounded_int(text)
    if _FLOAT.fullmatch(text):
        return finite_float(text)
    if _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
        return bounded_int(text)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} has no place in JSON")
    return text
