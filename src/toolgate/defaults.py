"""The defaults a JSON Schema gives, and filling them in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

MOST_NESTED = 10_000


class Defaults:
    """The defaults of a schema's properties and of what is inside them, through references and allOf as well."""

    __slots__ = ("_entries", "_properties", "items")

    def __init__(self) -> None:
        self._properties: dict[str, tuple[bool, Any, Defaults | None]] = {}
        self._entries: tuple[tuple[str, bool, Any, Defaults | None], ...] = ()
        self.items: Defaults | None = None

    def __bool__(self) -> bool:
        return bool(self._properties) or self.items is not None

    def __len__(self) -> int:
        return len(self._entries)

    @classmethod
    def of(cls, root: Any) -> Defaults:
        """Return the defaults of a whole schema."""
        made = {id(root): cls()}
        todo = [root]
        for schema in todo:  # and what is added on the way; each only once, as a schema may refer to itself
            made[id(schema)]._read(schema, root, made, todo)
        for each in reversed(made.values()):
            each._prune()
        return made[id(root)]

    def _read(self, schema: Any, root: Any, made: dict[int, Defaults], todo: list[Any]) -> None:
        for part in _parts(schema, root):
            for name, inner in _properties(part):
                self._properties.setdefault(name, (*_default_of(inner, root), _inside(inner, made, todo)))
            if isinstance(part.get("items"), dict):
                self.items = _inside(part["items"], made, todo)

    def _prune(self) -> None:
        table = {name: (has, default, inner or None) for name, (has, default, inner) in self._properties.items()}
        self._properties = {name: entry for name, entry in table.items() if entry[0] or entry[2]}
        self._entries = tuple((name, *entry) for name, entry in self._properties.items())
        self.items = self.items or None

    def fill(self, value: Any, nest: _Nest | None = None) -> None:
        """Give the mappings inside `value` the defaults they lack."""
        if isinstance(value, dict):
            for name, has, default, inner in self._entries:
                if name in value:
                    if inner is not None:
                        inner.fill(value[name], nest)
                elif has:
                    value[name] = copy_json(default)
                    if inner is not None:
                        (nest or _Nest()).fill(inner, value[name])
        elif isinstance(value, list) and self.items is not None:
            for item in value:
                self.items.fill(item, nest)


class _Nest:
    """Fills defaults inside of defaults, which might call for each other without end."""

    def __init__(self) -> None:
        self.left = MOST_NESTED
        self.active: set[int] = set()

    def fill(self, defaults: Defaults, value: Any) -> None:
        if id(defaults) in self.active or self.left <= 0:
            return
        self.left -= len(defaults)
        self.active.add(id(defaults))
        defaults.fill(value, self)
        self.active.remove(id(defaults))


def _inside(schema: Any, made: dict[int, Defaults], todo: list[Any]) -> Defaults:
    if id(schema) not in made:
        made[id(schema)] = Defaults()
        todo.append(schema)
    return made[id(schema)]


def _parts(schema: Any, root: Any) -> list[dict[str, Any]]:
    """Return the schema and everything that is certain to apply with it: what it refers to, and its allOf."""
    found: dict[int, dict[str, Any]] = {}
    todo = [schema]
    for part in todo:  # and what is added on the way
        if isinstance(part, dict) and id(part) not in found:
            found[id(part)] = part
            if "$ref" in part or "allOf" in part:
                also = part.get("allOf")
                todo += [pointed(root, part.get("$ref")), *(also if isinstance(also, list) else ())]
    return list(found.values())


def _properties(schema: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    properties = schema.get("properties")
    return properties.items() if isinstance(properties, dict) else ()


def _default_of(schema: Any, root: Any) -> tuple[bool, Any]:
    found = [part["default"] for part in _parts(schema, root) if "default" in part]
    return (True, found[0]) if found else (False, None)


def pointed(root: Any, reference: Any) -> Any:
    """Return what `#/a/b` points at inside `root`, or None."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    for step in unquote(reference).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            root = root[int(name)] if isinstance(root, list) else root[name]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return root


def copy_json(value: Any) -> Any:
    """Return a deep copy of JSON-like data; anything that is not a dict or list is shared."""
    kind = type(value)
    if kind is dict:
        return {key: copy_json(item) for key, item in value.items()}
    if kind is list:
        return [copy_json(item) for item in value]
    return value
