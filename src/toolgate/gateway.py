"""Gateway: reads the configuration, builds everything once, opens and closes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from toolgate.chain import Extension, ExtensionManager
from toolgate.config import ExtensionEntry, GatewayConfig
from toolgate.dispatch import UnifiedToolExecutor
from toolgate.errors import ConfigError, Place, did_you_mean
from toolgate.extensions import KINDS as EXTENSIONS
from toolgate.kinds import Kinds, imported, make_importable
from toolgate.loaders import KINDS as LOADERS
from toolgate.registry import LoadReport, ToolSpecRegistry, gateway_loaders
from toolgate.result import told
from toolgate.secrets import scrub
from toolgate.specfile import Catalogue


class Gateway:
    """A running gateway: `async with Gateway.open("toolgate.yaml") as gate:` leaves nothing behind."""

    config: GatewayConfig
    registry: ToolSpecRegistry
    executor: UnifiedToolExecutor
    files: tuple[Path, ...]

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = path
        self._own: Any = None  # the loader of the gateway's own files
        self._noticed: LoadReport | None = None
        self._stack = AsyncExitStack()

    @classmethod
    def open(cls, path: str | Path | None = None) -> Gateway:
        """Return the gateway at `path`, to be entered with `async with`.

        `path` is a file or a folder; by default, toolgate.yaml and tools.yaml in the working directory. Naming either
        of these two opens both; any other file is opened alone.
        """
        return cls(path)

    @property
    def report(self) -> LoadReport:
        """What the last load or reload did."""
        return self._noticed or self.registry.report

    async def __aenter__(self) -> Self:
        own = self._own = imported(LOADERS["file"]).of_gateway(self._path)
        catalogue = own.read()
        self.config = catalogue.config
        self.files = tuple(own.files())
        make_importable(self.files[0].parent)
        self.registry = ToolSpecRegistry(gateway_loaders(own))
        self.executor = await self._stack.enter_async_context(
            UnifiedToolExecutor(
                self.registry,
                ExtensionManager(_extensions(catalogue, self.files[0].parent)),
                local_permissions=self.config.local_permissions,
                executors=catalogue.executors,
                max_output_bytes=self.config.max_output_bytes,
            )
        )
        try:
            await self.registry.load_all()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._stack.aclose()

    async def reload(self) -> LoadReport:
        """Read the tools again; a source with a mistake in it keeps the tools it gave before.

        Settings are not applied again: when they changed, the report says that a restart is needed.
        """
        report, self._noticed = await self.registry.load_all(), None
        if report.ok and self._settings_changed():
            notice = ConfigError("the settings changed, and apply only after a restart", Place(str(self.files[0])))
            # Not the registry's: no tool is missing because of it.
            self._noticed = dataclasses.replace(report, errors=(notice,))
        return self.report

    def _settings_changed(self) -> bool:
        try:
            return bool(self._own.read().config != self.config)
        except ConfigError:  # gone bad since it was loaded a moment ago: the next reload says so
            return False


def _extensions(catalogue: Catalogue, base: Path) -> Iterator[Extension]:
    folders = [base / folder for folder in catalogue.config.plugins.extensions]
    kinds = Kinds("extensions", EXTENSIONS, Extension, folders)
    for at, entry in enumerate(catalogue.config.extensions):
        try:
            yield _extension(entry, kinds)
        except ConfigError as error:
            raise ConfigError(str(error), catalogue.places.get(("extensions", at))) from error


def _extension(entry: ExtensionEntry, kinds: Kinds) -> Extension:
    try:
        made = imported(entry.use) if ":" in entry.use else kinds.find(entry.use)
        if made is None:
            hint = did_you_mean(entry.use, kinds.names()) or "name a class of your own as module:Class"
            raise ConfigError(f'there is no extension called "{entry.use}"; {hint}')
        extension = made(**entry.options)
    except ConfigError as error:
        raise ConfigError(f"extensions: {error}") from error
    except Exception as error:
        text = scrub(f"{type(error).__name__}: {told(error)}", entry.written)
        raise ConfigError(f"extensions: {entry.use} cannot be made from these options: {text}") from None
    if not isinstance(extension, Extension):
        raise ConfigError(f"extensions: {entry.use} is not an Extension")
    if entry.priority is not None:
        extension.priority = entry.priority
    return extension
