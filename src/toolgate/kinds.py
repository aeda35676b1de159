"""Finding a kind by its name: the built-in table, the gateway's plug-in folders, then installed packages."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from toolgate.errors import ConfigError, Place


class Kinds:
    """One group of kinds, such as executors; nothing is imported until it is asked for."""

    def __init__(self, group: str, table: Mapping[str, str], base: type, folders: Sequence[Path] = ()) -> None:
        self.group, self.base = group, base
        self.folders = tuple(folders)
        self._table = dict(table)
        self._files = self._plugin_files(folders)

    def _plugin_files(self, folders: Sequence[Path]) -> dict[str, Path]:
        files: dict[str, Path] = {}
        for folder in folders:
            if not folder.is_dir():
                raise ConfigError(f"the plug-in folder {folder} does not exist", Place(str(folder)))
            for file in sorted(folder.glob("[!_.]*.py")):
                taken = self._table.get(file.stem) or files.get(file.stem)
                if taken:
                    raise ConfigError(f'"{file.stem}" is already a kind of {self.group}: {taken}', Place(str(file)))
                files[file.stem] = file
        return files

    def with_folders(self, folders: Sequence[Path]) -> Kinds:
        """Return these kinds and those in more plug-in folders.

        Raises:
            ConfigError: A folder does not exist, or defines a kind that there is already.
        """
        return Kinds(self.group, self._table, self.base, [*self.folders, *folders]) if folders else self

    def names(self) -> list[str]:
        """Return the names of all kinds, sorted."""
        return sorted({*self._table, *self._files, *self._installed})

    def find(self, name: str) -> Any:
        """Return the kind called `name`, or None when there is no such kind.

        Raises:
            ConfigError: There is one, but it cannot be imported.
        """
        if name in self._table:
            return imported(self._table[name])
        if name in self._files:
            return self._defined_in(self._files[name])
        entry = self._installed.get(name)
        return imported(entry) if entry else None

    @cached_property
    def _installed(self) -> dict[str, str]:
        # Looking through all installed packages takes milliseconds, and an unknown type may be used by every tool.
        from importlib_metadata import entry_points

        found: dict[str, str] = {}
        for entry in entry_points(group=f"toolgate.{self.group}"):
            taken = self._table.get(entry.name) or self._files.get(entry.name) or found.get(entry.name)
            if taken and taken != entry.value:
                raise ConfigError(f'"{entry.name}" is already a kind of {self.group}: {taken} and {entry.value}')
            found[entry.name] = entry.value
        return found

    def _defined_in(self, file: Path) -> Any:
        module = _module_from(file, f"toolgate_plugins.{self.group}.{file.stem}")
        found = [
            value
            for value in vars(module).values()
            if inspect.isclass(value) and issubclass(value, self.base) and value.__module__ == module.__name__
        ]
        if len(found) != 1:
            raise ConfigError(f"expected one {self.base.__name__} class, found {len(found)}", Place(str(file)))
        return found[0]


def make_importable(folder: Path) -> None:
    """Let modules in `folder` be imported: ahead of installed packages, but never in place of the standard library."""
    if str(folder) not in sys.path:
        installed = (at for at, path in enumerate(sys.path) if path.endswith(("site-packages", "dist-packages")))
        sys.path.insert(next(installed, len(sys.path)), str(folder))


def imported(target: str) -> Any:
    """Return what `module:attribute` names.

    Raises:
        ConfigError: It cannot be imported.
    """
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise ConfigError(f"cannot import {target}: {type(error).__name__}: {error}") from error


def _module_from(file: Path, name: str) -> ModuleType:
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == str(file):
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:  # pragma: no cover - a .py path always has a loader
        raise ConfigError("not a Python file", Place(str(file)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"cannot import the plug-in: {type(error).__name__}: {error}", Place(str(file))) from error
    return module
