"""Tools a page at a time, rendered once per revision of the registry; cursors that survive a reload."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from toolgate.registry import ToolSpecRegistry
from toolgate.spec import NAME_PATTERN, ToolSpec

T = TypeVar("T")
_MARK = b"after:"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of the tools, and the cursor that asks for the ones after them."""

    items: list[T]
    next_cursor: str | None


class PerRevision(Generic[T]):
    """Something made from the registry, made again only when the registry's revision has moved."""

    def __init__(self, registry: ToolSpecRegistry, make: Callable[[], T]) -> None:
        self._registry, self._make = registry, make
        self._made: tuple[int, T] | None = None

    def __call__(self) -> T:
        """Return it, up to date."""
        revision = self._registry.revision
        if self._made is None or self._made[0] != revision:
            self._made = (revision, self._make())
        return self._made[1]


@dataclass(frozen=True, slots=True)
class _Stock(Generic[T]):
    specs: list[ToolSpec]
    names: list[str]
    rendered: dict[str, T] = field(default_factory=dict)


class Shelf(Generic[T]):
    """The tools one door shows, in order of name; each is rendered when first shown, and kept until a change."""

    def __init__(
        self, registry: ToolSpecRegistry, specs: Callable[[], list[ToolSpec]], render: Callable[[ToolSpec], T]
    ) -> None:
        self._stock = PerRevision(registry, lambda: self._take_stock(specs()))
        self._render = render

    @staticmethod
    def _take_stock(specs: list[ToolSpec]) -> _Stock[T]:
        ordered = sorted(specs, key=lambda spec: spec.name)
        return _Stock(ordered, [spec.name for spec in ordered])

    @property
    def specs(self) -> list[ToolSpec]:
        """Every spec on the shelf, by name."""
        return self._stock().specs

    def page(self, cursor: str | None, limit: int) -> Page[T]:
        """Return up to `limit` tools, those after `cursor` if there is one.

        Raises:
            ValueError: The cursor is not one this shelf gave out.
        """
        stock = self._stock()
        # By name, not by number: a tool added or removed meanwhile neither repeats nor hides another.
        start = bisect_right(stock.names, name_in(cursor)) if cursor is not None else 0
        chosen = stock.specs[start : start + limit]
        more = start + limit < len(stock.specs)
        return Page([self._show(spec, stock) for spec in chosen], cursor_after(chosen[-1].name) if more else None)

    def _show(self, spec: ToolSpec, stock: _Stock[T]) -> T:
        shown = stock.rendered.get(spec.name)
        if shown is None:
            shown = stock.rendered[spec.name] = self._render(spec)
        return shown


def cursor_after(name: str) -> str:
    """Return the cursor that asks for the tools after `name`."""
    return base64.urlsafe_b64encode(_MARK + name.encode()).decode().rstrip("=")


def name_in(cursor: str) -> str:
    """Return the name a cursor was made from.

    Raises:
        ValueError: It is not such a cursor.
    """
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        name = text.removeprefix(_MARK).decode("ascii")
    except (binascii.Error, ValueError):
        raise ValueError("not a cursor of this list") from None
    if not text.startswith(_MARK) or not NAME_PATTERN.fullmatch(name):
        raise ValueError("not a cursor of this list")
    return name
