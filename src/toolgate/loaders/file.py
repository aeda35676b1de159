"""Specs from local files: one, several, folders and globs; YAML and JSON; with overlays for an environment."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import anyio.to_thread

from toolgate.config import FILE_KEYS
from toolgate.errors import ConfigError, Place, Problem
from toolgate.loaders import SpecLoader, Surroundings
from toolgate.places import MAX_BYTES, Document, Places
from toolgate.reading import collection_paused, read_document
from toolgate.spec import ToolMetadata, ToolSpec
from toolgate.specfile import Catalogue, SpecFileReader

ENDINGS = (".yaml", ".yml", ".json")
ENVIRONMENT = "TOOLGATE_ENV"
MAIN_FILES = ("toolgate.yaml", "tools.yaml")
TOOLS_ONLY = frozenset(("tools", "defaults"))
FIRST_VERSION = ToolMetadata().version


class FileSpecLoader(SpecLoader):
    """Reads gateway files as one catalogue; settings given in two of them are an error."""

    def __init__(
        self,
        paths: Sequence[str | Path] | str | Path,
        *,
        allowed: Collection[str] = FILE_KEYS,
        around: Surroundings | None = None,
    ) -> None:
        self.paths = [paths] if isinstance(paths, str | Path) else list(paths)
        self._allowed = allowed
        self._around = around or Surroundings()
        self._last: tuple[dict[Path, bytes], Catalogue] | None = None

    @classmethod
    def from_config(cls, options: Mapping[str, Any], around: Surroundings) -> Self:
        """Return the loader for `{type: file, path: …}`; such a file holds tools and no settings."""
        return cls(**_paths(**options), allowed=TOOLS_ONLY, around=around)

    @classmethod
    def of_gateway(cls, path: str | Path | None = None, around: Surroundings | None = None) -> Self:
        """Return the loader for a gateway's own files."""
        return cls(main_files(path), around=around)

    @property
    def name(self) -> str:
        """What reports and errors call this source."""
        return ", ".join(str(path) for path in self.paths)

    async def load_specs(self) -> list[ToolSpec]:
        """Return the specs of all files.

        Raises:
            ConfigError: A file is missing or something in one is wrong; every problem found is listed.
        """
        catalogue = await anyio.to_thread.run_sync(self.read)
        return list(catalogue.specs)

    def read(self) -> Catalogue:
        """Return settings and specs of all files; unchanged files are not parsed again.

        Raises:
            ConfigError: A file is missing or something in one is wrong; every problem found is listed.
        """
        overlays = self._overlays()
        contents, unreadable = _read_all([each for file in overlays for each in (file, *overlays[file])])
        if unreadable:
            raise ConfigError(unreadable)
        if self._last is None or self._last[0] != contents:
            with collection_paused():
                self._last = contents, self._parse(contents, overlays)
        return self._last[1]

    def files(self) -> list[Path]:
        """Return the files that the paths, folders and globs name now, without overlays.

        Raises:
            ConfigError: One of them names nothing.
        """
        found: list[Path] = []
        problems: list[Problem] = []
        for path in self.paths:
            try:
                found += self._expand(str(path))
            except ConfigError as error:
                problems += error.problems
        if problems:
            raise ConfigError(problems)
        return list(dict.fromkeys(found))

    def _overlays(self) -> dict[Path, list[Path]]:
        files = self.files()
        # What a folder or a glob finds may be called anything: only a file that is named has an overlay.
        named = {self._full(path) for path in self.paths}
        overlays = overlays_of(file for file in files if file in named)
        taken = {overlay for found in overlays.values() for overlay in found}
        return {file: overlays.get(file, []) for file in files if file not in taken}

    def _full(self, path: str | Path) -> Path:
        return (self._around.base / path).absolute()

    def _expand(self, path: str) -> list[Path]:
        full = self._full(path)
        try:
            if full.is_file():
                return [full]
            if full.is_dir() and full.suffix not in ENDINGS:
                return _usable(full.iterdir())
            pattern = os.path.join(glob.escape(str(self._around.base.absolute())), path)
            found = _usable(Path(match) for match in glob.glob(pattern, recursive=True))
        except (OSError, ValueError) as error:
            raise ConfigError([_unreadable(full, error)]) from None
        if not found:
            raise ConfigError([_absent(full)])
        return found

    def _parse(self, contents: dict[Path, bytes], overlays: dict[Path, list[Path]]) -> Catalogue:
        places = Places()
        documents = {file: read_document(data, str(file), places=places) for file, data in contents.items()}
        merged = [_overlaid(documents[file], [documents[over] for over in overlays[file]]) for file in overlays]
        # Of a gateway's own pair, each key stands in one; other files each bring tools of their own.
        is_pair = {file.name for file in overlays} <= {*MAIN_FILES} and len({file.parent for file in overlays}) == 1
        repeatable = () if is_pair else TOOLS_ONLY
        return SpecFileReader(self._around.executors, self._around.permissions).read(merged, self._allowed, repeatable)


def _paths(path: str | Sequence[str]) -> dict[str, Any]:
    return {"paths": path}


def main_files(path: str | Path | None = None) -> list[Path]:
    """Return the files of a gateway, there or not: the pair toolgate.yaml and tools.yaml, or any other file alone."""
    start = Path(path) if path is not None else Path()
    is_folder = os.path.isdir(start)  # unlike the method of Path, this never raises
    if not is_folder and (start.name not in MAIN_FILES or not os.path.isfile(start)):
        return [start]
    folder = start if is_folder else start.parent
    pair = [folder / name for name in MAIN_FILES if os.path.isfile(folder / name)]
    return pair or [folder / "tools.yaml"]


def overlays_of(files: Iterable[Path]) -> dict[Path, list[Path]]:
    """Return each file with the overlay that TOOLGATE_ENV selects for it, if there is one.

    Raises:
        ConfigError: TOOLGATE_ENV is not a plain name.
    """
    environment = os.environ.get(ENVIRONMENT, "")
    if environment and not environment.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"{ENVIRONMENT} may hold only letters, digits, - and _")
    found: dict[Path, list[Path]] = {}
    for file in files:
        overlay = file.with_suffix(f".{environment}{file.suffix}")
        found[file] = [overlay] if environment and os.path.exists(overlay) else []
    taken = {overlay for over in found.values() for overlay in over}
    return {file: found[file] for file in found if file not in taken}


def _usable(files: Iterable[Path]) -> list[Path]:
    return sorted(file.absolute() for file in files if file.suffix in ENDINGS and file.is_file())


def _read_all(files: Iterable[Path]) -> tuple[dict[Path, bytes], list[Problem]]:
    contents, unreadable = {}, []
    for file in files:
        try:
            with file.open("rb") as stream:
                contents[file] = stream.read(MAX_BYTES + 1)  # reading says when there is more
        except OSError as error:
            unreadable.append(_unreadable(file, error))
    return contents, unreadable


def _unreadable(file: Path, error: OSError | ValueError) -> Problem:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return Problem(f"cannot read the file: {reason.lower()}", Place(str(file)))


def _absent(file: Path) -> Problem:
    if os.path.exists(file):
        return Problem(
            "not a file", Place(str(file)), hint=f"a source is a {', '.join(ENDINGS)} file, or a folder of them"
        )
    hint = "run `toolgate init` to write one" if file.name in MAIN_FILES else "check the path"
    return Problem("there is no such file", Place(str(file)), hint=hint)


def _overlaid(base: Document, overlays: Iterable[Document]) -> Document:
    for over in overlays:
        problems = base.problems + over.problems
        if isinstance(base.value, dict) and isinstance(over.value, dict):
            base = Document(base.name, _laid_over(base, over), base.places, problems)
        elif over.value is None:
            base = Document(base.name, base.value, base.places, problems)
        elif base.value is None and isinstance(over.value, dict):
            base = Document(over.name, over.value, base.places, problems)
        else:
            problems.append(Problem("an overlay and what it lies over are both mappings", over.place()))
            base = Document(base.name, base.value, base.places, problems)
    return base


def _laid_over(base: Document, over: Document) -> dict[str, Any]:
    merged: dict[str, Any] = base.places.merged(base.value, over.value)
    if isinstance(base.value.get("tools"), list) and isinstance(over.value.get("tools"), list):
        merged["tools"] = _tools_laid_over(base, over, _version(merged.get("defaults")) or FIRST_VERSION)
    return merged


def _tools_laid_over(base: Document, over: Document, usual: Any) -> list[Any]:
    places, tools, changes = base.places, base.value["tools"], over.value["tools"]
    result, marks = list(tools), list(places.marks(tools))
    for change, mark in zip(changes, places.marks(changes), strict=True):
        same = _same_tools(tools, change, usual)
        for at in same:
            result[at] = places.merged(result[at], change)
        if not same:
            result.append(change)
            marks.append(mark)
    places.remember(result, marks)
    return result


def _same_tools(tools: list[Any], change: Any, usual: Any) -> list[int]:
    """Return which tools a change is about: every version of its name, or the one it gives."""
    name = change.get("name") if isinstance(change, dict) else None
    if name is None:
        return []
    wanted = _version(change)
    same = [at for at, tool in enumerate(tools) if isinstance(tool, dict) and tool.get("name") == name]
    return [at for at in same if wanted is None or wanted == (_version(tools[at]) or usual)]


def _version(tool: Any) -> Any:
    metadata = tool.get("metadata") if isinstance(tool, dict) else None
    return metadata.get("version") if isinstance(metadata, dict) else None
