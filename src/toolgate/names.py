"""Tool names: aliases that every model provider takes, and versions behind an `@`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from toolgate.errors import ToolRegistrationError
from toolgate.spec import VERSION_PATTERN

ALIAS_LENGTH = 64
_SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
VersionKey = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]


@lru_cache(maxsize=65_536)
def alias(name: str) -> str:
    """Return the provider-safe form of a tool name; a name that is safe already is its own alias."""
    if _SAFE.fullmatch(name):
        return name
    safe = _UNSAFE.sub("__", name)
    safe = safe if _SAFE.match(safe) else f"_{safe}"
    if len(safe) <= ALIAS_LENGTH:
        return safe
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{safe[: ALIAS_LENGTH - 9]}_{digest}"


def aliases(names: Iterable[str]) -> dict[str, str]:
    """Return alias -> name.

    Raises:
        ToolRegistrationError: Two names have the same alias.
    """
    table: dict[str, str] = {}
    for name in names:
        other = table.setdefault(alias(name), name)
        if other != name:
            raise ToolRegistrationError(
                f'"{other}" and "{name}" would both be exported as "{alias(name)}"', hint="rename one of them"
            )
    return table


def split_version(reference: str) -> tuple[str, str | None]:
    """Split `name@range` into its name and version range; the range is None when there is none."""
    name, at, wanted = reference.partition("@")
    return name, (wanted if at else None)


@lru_cache(maxsize=4_096)
def version_key(version: str) -> VersionKey:
    """Return a sort key by semantic versioning: 1.0.0-rc.1 comes before 1.0.0.

    Raises:
        ValueError: `version` is not MAJOR.MINOR.PATCH.
    """
    match = VERSION_PATTERN.fullmatch(version)
    if match is None:
        raise ValueError(f'"{version}" is not a version like 1.0.0')
    major, minor, patch, pre = match.groups()
    parts = tuple(_identifier(part) for part in pre.split(".")) if pre else ()
    return int(major), int(minor), int(patch), 0 if pre else 1, parts


def _identifier(part: str) -> tuple[int, int, str]:
    # By length first, so that numbers of any size sort without being read.
    digits = part.lstrip("0")
    return (0, len(digits), digits) if part.isdigit() else (1, 0, part)


@lru_cache(maxsize=4_096)
def version_range(wanted: str) -> Callable[[str], bool]:
    """Return a test for versions: `1.2.0`, `^1`, `~1.2`, `>=1.0,<2` or `*`.

    A pre-release fits only a range that names a pre-release of the same version: `<2` does not take 2.0.0-rc.1.

    Raises:
        ValueError: `wanted` is not such a range.
    """
    if "+" in wanted:
        version_key(wanted)  # a build is only ever asked for exactly
        return lambda version: version == wanted
    ranges = [_one_range(part.strip()) for part in wanted.split(",")]
    low, high = max(each.low for each in ranges), min(each.high for each in ranges)
    early = {each.early for each in ranges}

    def fits(version: str) -> bool:
        key = version_key(version)
        return low <= key < high and (key[3] == 1 or key[:3] in early)

    return fits


class _Range(NamedTuple):
    low: VersionKey
    high: VersionKey  # the first key that is too high
    early: tuple[int, int, int] | None = None  # the version whose pre-releases are meant too


_FIRST: VersionKey = (0, 0, 0, 0, ())
_LAST: VersionKey = (10**9, 0, 0, 0, ())
_COMPARATOR = re.compile(r"(\^|~|>=|<=|>|<|=)?\s*(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[0-9A-Za-z.-]+)?", re.ASCII)


def _one_range(part: str) -> _Range:
    if part == "*":
        return _Range(_FIRST, _LAST)
    match = _COMPARATOR.fullmatch(part)
    if match is None:
        raise ValueError(f'"{part}" is not a version range; write 1.2.0, ^1, ~1.2, >=1.0,<2 or *')
    sign, major, minor, patch, pre = match.groups()
    low = version_key(f"{major}.{minor or 0}.{patch or 0}{pre or ''}")
    # What 1 or 1.2 leaves open belongs to it: >1 starts at 2.0.0, and <=1.2 ends before 1.3.0.
    whole = patch is not None or pre is not None
    above = _just_above(low) if whole and sign not in ("^", "~") else _upper(sign, int(major), minor, patch)
    starts, ends = {">": above, "<": _FIRST, "<=": _FIRST}, {">": _LAST, ">=": _LAST, "<": low}
    return _Range(starts.get(sign or "", low), ends.get(sign or "", above), low[:3] if pre else None)


def _just_above(key: VersionKey) -> VersionKey:
    return (*key[:4], (*key[4], (0, -1, "")))


def _upper(sign: str | None, major: int, minor: str | None, patch: str | None) -> VersionKey:
    # ^ lets everything right of the first non-zero number move; ~ and a bare 1.2 only what is right of the last one.
    small = int(minor or 0)
    if sign == "^" and (major or minor is None):
        return (major + 1, 0, 0, 0, ())
    if sign == "^" and not small and patch is not None:
        return (0, 0, int(patch) + 1, 0, ())
    return (major, small + 1, 0, 0, ()) if minor is not None else (major + 1, 0, 0, 0, ())
