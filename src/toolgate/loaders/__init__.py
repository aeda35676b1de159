"""Specs come in: one file a kind of source. Config names a kind; `KINDS` finds it, imported when first used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from toolgate.config import GatewayConfig, executor_kinds
from toolgate.errors import ConfigError, Place, did_you_mean
from toolgate.kinds import Kinds
from toolgate.secrets import resolve, scrub
from toolgate.spec import ToolSpec

KINDS = {
    "file": "toolgate.loaders.file:FileSpecLoader",
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a loader must know of its gateway: where it is, which tool types and permissions it has."""

    base: Path = field(default_factory=Path)
    executors: Kinds = field(default_factory=executor_kinds)
    permissions: frozenset[str] = frozenset()


class SpecLoader(ABC):
    """A place specs come from; a subclass needs only `load_specs`."""

    @property
    def name(self) -> str:
        """What reports and errors call this source."""
        return type(self).__name__

    @classmethod
    def from_config(cls, options: Mapping[str, Any], around: Surroundings) -> Self:
        """Return the loader that an entry of `sources:` describes."""
        return cls(**options)

    @abstractmethod
    async def load_specs(self) -> list[ToolSpec]:
        """Return all specs of this source.

        Raises:
            ConfigError: The source holds something wrong; every problem found is listed.
            OSError: The source cannot be reached.
        """


def source_loaders(
    config: GatewayConfig, around: Surroundings, places: Mapping[tuple[str, int], Place] = MappingProxyType({})
) -> list[SpecLoader]:
    """Return a loader for each entry of `sources:`; `places` says where each one stands.

    Raises:
        ConfigError: An entry names no known kind, or has options its kind does not take.
    """
    kinds = Kinds("loaders", KINDS, SpecLoader, [around.base / folder for folder in config.plugins.loaders])
    loaders = []
    for at, entry in enumerate(config.sources):
        try:
            loaders.append(_loader(entry, kinds, around))
        except ConfigError as error:
            raise ConfigError(str(error), places.get(("sources", at))) from None
    return loaders


def _loader(entry: Any, kinds: Kinds, around: Surroundings) -> SpecLoader:
    written = {"path": entry} if isinstance(entry, str) else entry.model_dump()
    options = resolve(written)
    kind = options.pop("type", "file")
    found = kinds.find(kind)
    if found is None:
        hint = did_you_mean(kind, kinds.names()) or f"known: {', '.join(kinds.names())}"
        raise ConfigError(scrub(f'sources: no such kind "{kind}"; {hint}', written))
    try:
        loader: SpecLoader = found.from_config(options, around)
    except Exception as error:
        reason = scrub(f"{type(error).__name__}: {error}", written)
        raise ConfigError(f'sources: a "{kind}" source cannot be made from these options: {reason}') from None
    return loader
