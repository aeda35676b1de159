"""Where the values of a document stand, so that every complaint can name its line and column."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolgate.errors import Place, Problem

Path = tuple[str | int, ...]
MOST_PROBLEMS = 100
TOO_MANY = "too many problems; the rest was not checked"
MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 64
MAX_ALIASED = 100_000
MAX_VALUES = 200_000


class Mark(Protocol):
    """A position; libyaml's marks count lines and columns from 0."""

    @property
    def name(self) -> str:
        """The file."""

    @property
    def line(self) -> int:
        """The line, from 0."""

    @property
    def column(self) -> int:
        """The column, from 0."""


Marks = tuple[Mark, Mark]  # of the key (or the item itself) and of the value


class Places:
    """Remembers where the keys and items of every mapping and sequence stand."""

    def __init__(self) -> None:
        self._marks: dict[int, Mapping[Any, Marks] | Sequence[Marks]] = {}
        self._alive: list[Any] = []  # an id is only good while its object lives

    def remember(self, container: Any, marks: Mapping[Any, Marks] | Sequence[Marks]) -> None:
        """Keep the marks of a mapping's keys or a sequence's items."""
        self._marks[id(container)] = marks
        self._alive.append(container)

    def marks(self, container: Any) -> Any:
        """Return what was remembered of `container`, or an empty mapping."""
        return self._marks.get(id(container), {})

    def find(self, root: Any, path: Path, *, key: bool = False) -> Place | None:
        """Return the place of the value at `path` (of its key, if asked), or of the nearest parent that has one."""
        found: Mark | None = None
        for step in path:
            try:
                pair = self.marks(root)[step]
                root = root[step]
            except (KeyError, IndexError, TypeError):
                break
            found = pair[0] if key else pair[1]
        return None if found is None else place_of(found)

    def merged(self, base: Any, over: Any) -> Any:
        """Return `over` laid over `base`: mappings key by key, anything else replaced; places come along."""
        if not isinstance(base, dict) or not isinstance(over, dict):
            return over
        result = dict(base)
        for name, value in over.items():
            result[name] = self.merged(base[name], value) if name in base else value
        self.remember(result, {**self.marks(base), **self.marks(over)})
        return result


def place_of(mark: Mark) -> Place:
    """Return a mark as a place, counting from 1."""
    return Place(mark.name, mark.line + 1, mark.column + 1)


@dataclass
class Document:
    """One file as read: its value, where everything stands, and what is wrong with it."""

    name: str
    value: Any
    places: Places
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: Path = (), *, key: bool = False) -> Place:
        """Return where `path` stands, or the file's start."""
        return self.places.find(self.value, path, key=key) or Place(self.name, 1, 1)


class Lines:
    """Turns offsets into lines and columns."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]

    def mark(self, offset: int) -> OffsetMark:
        """Return the mark of an offset."""
        return OffsetMark(self, offset)


class OffsetMark:
    """A position known by its offset; line and column are worked out only when asked for."""

    __slots__ = ("lines", "offset")

    def __init__(self, lines: Lines, offset: int) -> None:
        self.lines, self.offset = lines, offset

    @property
    def name(self) -> str:
        """The file."""
        return self.lines.name

    @property
    def line(self) -> int:
        """The line, from 0."""
        return bisect.bisect_right(self.lines.starts, self.offset) - 1

    @property
    def column(self) -> int:
        """The column, from 0."""
        return self.offset - self.lines.starts[self.line]


def dotted(path: Path) -> str:
    """Return a path the way a person writes it: `tools[3].metadata.tags[0]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a document may ask of its reader."""

    max_bytes: int = MAX_BYTES
    max_depth: int = MAX_DEPTH
    max_aliased: int = MAX_ALIASED
    max_values: int = MAX_VALUES

    def values(self, size: int) -> int:
        """Return how many values a text of `size` characters may hold: real ones are less dense than one in five."""
        return max(self.max_values, size // 5)


LOCAL = Limits()
REMOTE = Limits(max_aliased=0)


class StopReading(Exception):
    """Nothing more can be read."""
