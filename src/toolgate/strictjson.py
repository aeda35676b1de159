"""JSON as strict as our YAML: no repeated keys, no NaN, bounded depth and numbers, every value with its place."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # C scanner, undocumented in the stubs
from typing import Any, NoReturn

from toolgate.errors import Problem, one_line
from toolgate.places import MAX_DEPTH, MOST_PROBLEMS, TOO_MANY, Limits, Lines, Marks, Places, StopReading, place_of

SMALLEST_INT, BIGGEST_INT = -(2**63), 2**64 - 1
_BLANK = re.compile(r"[ \t\r\n]*")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_JSON_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"-?[A-Za-z]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonReader:
    """Reads one document; problems are collected, and reading goes on as far as it can."""

    def __init__(self, text: str, name: str, limits: Limits, places: Places) -> None:
        self.text, self.limits, self.places = text, limits, places
        self.lines = Lines(text, name)
        self.most_values = limits.values(len(text))
        self.values = 0
        self.problems: list[Problem] = []

    def read(self) -> tuple[Any, list[Problem]]:
        """Return the value, or None if it could not be read, and the problems."""
        try:
            value, end = self._value(self._skip(0), 1)
            if self._skip(end) != len(self.text):
                raise self._stop("nothing may follow the value", self._skip(end))
            return value, self.problems
        except StopReading:
            return None, self.problems

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        self.values += 1
        if self.values > self.most_values:
            raise self._stop(f"more than {self.most_values:,} values", at)
        first = self.text[at : at + 1]
        if first == '"':
            return self._string(at)
        if first in ("{", "["):
            if depth > self.limits.max_depth:
                raise self._stop(f"nested more than {self.limits.max_depth} levels deep", at)
            return self._object(at, depth) if first == "{" else self._array(at, depth)
        number = _JSON_NUMBER.match(self.text, at)
        if number:
            return self._number(number, at), number.end()
        return self._word(at)

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        result: dict[str, Any] = {}
        marks: dict[str, Marks] = {}
        at = self._skip(at + 1)
        while self.text[at : at + 1] != "}":
            key_at = at
            self.values += 1
            if self.text[at : at + 1] != '"':
                self._expected("a key in quotes", at)
            key, at = self._string(at)
            at = self._skip(self._symbol(":", self._skip(at)))
            mark = self.lines.mark(at)
            value, at = self._value(at, depth + 1)
            if key in result:
                hint = f"the first one is on line {marks[key][0].line + 1}"
                self._add(f'the key "{one_line(key, 60)}" is given twice', key_at, hint)
            result.setdefault(key, value)
            marks.setdefault(key, (self.lines.mark(key_at), mark))
            at = self._comma("}", self._skip(at))
        self.places.remember(result, marks)
        return result, at + 1

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        result: list[Any] = []
        marks: list[Marks] = []
        at = self._skip(at + 1)
        while self.text[at : at + 1] != "]":
            mark = self.lines.mark(at)
            value, at = self._value(at, depth + 1)
            result.append(value)
            marks.append((mark, mark))
            at = self._comma("]", self._skip(at))
        self.places.remember(result, marks)
        return result, at + 1

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise self._stop(error.msg.lower(), error.pos) from None
        if _SURROGATE.search(value):
            self._add("the text holds half of a surrogate pair", at)
            value = value.encode("utf-8", "backslashreplace").decode()
        return value, end

    def _number(self, match: re.Match[str], at: int) -> Any:
        try:
            return finite_float(match.group()) if match.group(1) or match.group(2) else bounded_int(match.group())
        except ValueError as error:
            self._add(str(error), at)
            return None

    def _word(self, at: int) -> tuple[Any, int]:
        match = _WORD.match(self.text, at)
        word = match.group() if match else ""
        if word not in _JSON_WORDS:
            self._expected("a value", at)
        return _JSON_WORDS[word], at + len(word)

    def _comma(self, closing: str, at: int) -> int:
        if self.text[at : at + 1] == closing:
            return at
        at = self._skip(self._symbol(",", at))
        if self.text[at : at + 1] == closing:
            raise self._stop("a comma must not come last", at)
        return at

    def _symbol(self, symbol: str, at: int) -> int:
        if self.text[at : at + 1] != symbol:
            self._expected(f'"{symbol}"', at)
        return at + 1

    def _skip(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def _expected(self, what: str, at: int) -> NoReturn:
        found = self.text[at : at + 12].split("\n")[0]
        raise self._stop(f"expected {what}, found {found!r}" if found else f"expected {what}, found the end", at)

    def _add(self, message: str, at: int, hint: str = "") -> None:
        place = place_of(self.lines.mark(at))
        self.problems.append(Problem(message, place, hint=hint))
        if len(self.problems) >= MOST_PROBLEMS:
            self.problems.append(Problem(TOO_MANY, place))
            raise StopReading

    def _stop(self, message: str, at: int) -> StopReading:
        self._add(message, at)
        return StopReading()


def parse_json(text: str | bytes) -> Any:
    """Read JSON that came from a caller, fast.

    Raises:
        ValueError: It is not strict JSON: bad UTF-8, NaN, a repeated key, too deep, too big a number, half a surrogate.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = _STRICT.decode(decoded)
    except RecursionError:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep") from None
    if _deeper(value, MAX_DEPTH):
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    if _has_half_pair(decoded, value):
        raise ValueError("the text holds half of a surrogate pair")
    return value


def _has_half_pair(text: str, value: Any) -> bool:
    """Return whether half a surrogate pair stands in the text, or is spelt by its escapes."""
    if not text.isascii() and _SURROGATE.search(text):
        return True
    return "\\u" in text and _SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        # A dict keeps the order of first sight: the two part where the first repeated key stands.
        twice = next((key for (key, _), kept in zip(pairs, result, strict=False) if key != kept), pairs[len(result)][0])
        raise ValueError(f'the key "{one_line(twice, 60)}" is given twice')
    return result


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(item, levels - 1) for item in items)


def bounded_int(text: str) -> int:
    """Return the whole number `text`.

    Raises:
        ValueError: It does not fit in 64 bits.
    """
    if len(text) > 24:
        raise ValueError("the number is too big")
    value = int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if not SMALLEST_INT <= value <= BIGGEST_INT:
        raise ValueError(f"the number {text} is too big")
    return value


def finite_float(text: str) -> float:
    """Return the number `text`.

    Raises:
        ValueError: It is too big for a float.
    """
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too big")
    return value


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=bounded_int, parse_float=finite_float
)
