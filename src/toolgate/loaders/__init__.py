"""Specs come in: one file a kind of source. Config names a kind; `KINDS` finds it, imported when first used."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from toolgate.config import GatewayConfig, executor_kinds
from toolgate.errors import ConfigError, Place, Problem, did_you_mean, one_line
from toolgate.kinds import Kinds
from toolgate.result import told
from toolgate.secrets import HIDDEN, mentions_variables, references, resolve, scrub
from toolgate.spec import ToolSpec

KINDS = {
    "file": "toolgate.loaders.file:FileSpecLoader",
}
CUT = "…"  # where a problem's text was too long


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


class ConfiguredLoader(SpecLoader):
    """A loader made from an entry with `${NAME}` in it: what the variables held stays out of its name and errors."""

    def __init__(self, inner: SpecLoader, written: Any) -> None:
        self.inner = inner
        self._written = written
        # What was looked up for the loader, which the environment may no longer hold when it fails.
        self._env = {name: os.environ.get(name, "") for _, name, _ in references(written)}

    @property
    def name(self) -> str:
        """The path as it is written, or what the loader calls itself without its secrets."""
        return self._written if isinstance(self._written, str) else self._scrubbed(self.inner.name)

    async def load_specs(self) -> list[ToolSpec]:
        """Return all specs of this source.

        Raises:
            ConfigError: The source holds something wrong or cannot be reached; its secrets are blanked out.
        """
        try:
            return await self.inner.load_specs()
        except ConfigError as error:
            failure = ConfigError([self._without_secrets(problem) for problem in error.problems])
        except (Exception, SystemExit) as error:
            failure = ConfigError(f"{self.name}: {self._scrubbed(_reason(error))}")
        raise failure  # out here, so that it does not carry the first error along

    def _without_secrets(self, problem: Problem) -> Problem:
        place = problem.place and replace(problem.place, file=self._told_before(str(Place(problem.place.file))))
        message, path, hint = (self._told_before(text) for text in (problem.message, problem.path, problem.hint))
        return Problem(message, place, path, hint)

    def _told_before(self, text: str) -> str:
        # What a problem says has been put on one line, and may have been cut in the middle of a secret.
        printed = {name: one_line(value, len(value)) for name, value in self._env.items()}
        text = scrub(self._scrubbed(text), self._written, printed)
        return _without_stub(text, printed.values()) if text.endswith(CUT) else text

    def _scrubbed(self, text: str) -> str:
        return scrub(text, self._written, self._env)


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
        reason = _reason(error)
    else:
        return _guarded(loader, entry if isinstance(entry, str) else written)
    raise ConfigError(scrub(f'sources: a "{kind}" source cannot be made from these options: {reason}', written))


def _guarded(loader: SpecLoader, written: Any) -> SpecLoader:
    return ConfiguredLoader(loader, written) if mentions_variables(written) else loader


def _without_stub(text: str, secrets: Iterable[str]) -> str:
    body = text.removesuffix(CUT)
    stubs = (secret[:size] for secret in secrets for size in range(min(len(secret), len(body)), 2, -1))
    stub = max((stub for stub in stubs if body.endswith(stub)), key=len, default="")
    return f"{body.removesuffix(stub)}{HIDDEN}{CUT}" if stub else text


def _reason(error: BaseException) -> str:
    name = type(error).__name__
    return f"{name}: {told(error).removeprefix(f'{name}: ')}"  # of some errors the name is told already
