"""Finding specs by name, version or alias, and listing them in one order whatever order they came in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from toolgate.names import VersionKey, alias, split_version, version_key, version_range
from toolgate.spec import ToolSpec


class SpecIndex:
    """The specs of a registry by name; a new catalogue is indexed aside, then put in place at once."""

    def __init__(self, specs: Iterable[ToolSpec] = ()) -> None:
        self.newest: dict[str, ToolSpec] = {}
        self._versions: dict[str, list[ToolSpec]] = {}
        self._names: dict[str, set[str]] = {}  # by alias
        self._in_order: list[ToolSpec] | None = None
        for spec in specs:
            self.add(spec)

    def add(self, spec: ToolSpec) -> None:
        """Add a spec whose name and version are not there yet."""
        versions = sorted([*self._versions.get(spec.name, ()), spec], key=_age)
        self._versions[spec.name] = versions
        self.newest[spec.name] = _best(versions)
        if alias(spec.name) != spec.name:
            self._names.setdefault(alias(spec.name), set()).add(spec.name)
        self._in_order = None

    def find(
        self, reference: str, version: str | None = None, may_see: Callable[[str], bool] = lambda name: True
    ) -> ToolSpec | None:
        """Return the best spec for `name`, `name@range` or an alias; an alias must be that of one name in sight."""
        name, at_version = split_version(reference)
        wanted = at_version if version is None else version
        if name not in self.newest or not may_see(name):
            names = [each for each in self._names.get(name, ()) if may_see(each)]
            if len(names) != 1:
                return None
            name = names[0]
        return self.newest[name] if wanted is None else self._fitting(name, wanted)

    def _fitting(self, name: str, wanted: str) -> ToolSpec | None:
        exact = [spec for spec in self._versions[name] if spec.version == wanted]
        try:
            matching = exact or [spec for spec in self._versions[name] if version_range(wanted)(spec.version)]
        except ValueError:
            return None
        return _best(matching) if matching else None

    def versions(self, name: str) -> Sequence[ToolSpec]:
        """Return all specs called `name`, oldest version first."""
        return self._versions.get(name, ())

    def in_order(self) -> list[ToolSpec]:
        """Return all specs by name, then version."""
        if self._in_order is None:
            self._in_order = [spec for name in sorted(self._versions) for spec in self._versions[name]]
        return self._in_order


def _age(spec: ToolSpec) -> tuple[VersionKey, str]:
    # Build metadata does not count in a version, but two that differ in nothing else need an order, too.
    return version_key(spec.version), spec.version


def _best(versions: Sequence[ToolSpec]) -> ToolSpec:
    """Return the newest that is not deprecated, a release before a pre-release; if all are deprecated, the newest."""
    current = [spec for spec in versions if not spec.metadata.deprecated] or versions
    releases = [spec for spec in current if version_key(spec.version)[3] == 1]
    return max(releases or current, key=_age)
