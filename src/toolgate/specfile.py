"""Turning documents into specs and settings, with every problem found at once and each at its place."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from toolgate.config import FILE_KEYS, TOOL_KEYS, GatewayConfig, known_permissions
from toolgate.errors import ConfigError, Place, Problem, did_you_mean, nearest
from toolgate.kinds import Kinds
from toolgate.mistakes import Mistake, explain
from toolgate.places import MOST_PROBLEMS, TOO_MANY, Document, Path, StopReading, dotted
from toolgate.schema import SchemaError, Violation, compile_schema
from toolgate.secrets import mentions_variables, missing, references, resolve
from toolgate.spec import ToolSpec, ToolType

MOST_METADATA = 1_000
MOST_REPEATED = 500_000
_CONFIG = "implementation_config"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What files say: the gateway's settings and its tools."""

    config: GatewayConfig
    specs: tuple[ToolSpec, ...]
    executors: Kinds
    places: Mapping[tuple[str, int], Place]  # of the entries under `sources` and `extensions`


class SpecFileReader:
    """Reads one gateway's documents, which share one `Places`; `executors` finds the kinds that check each tool."""

    def __init__(self, executors: Kinds, permissions: Iterable[str] = (), env: Mapping[str, str] | None = None) -> None:
        self._executors = executors
        self._permissions = known_permissions(permissions)
        self._env = os.environ if env is None else env
        self._problems: dict[Problem, None] = {}
        self._seen: dict[tuple[str, str], Place] = {}
        self._entries: dict[tuple[str, int], Place] = {}
        self._schemas: dict[int, tuple[Violation, ...]] = {}
        self._kinds: dict[str, tuple[Any, str | None]] = {}

    def read(
        self,
        documents: Sequence[Document],
        allowed: Collection[str] = FILE_KEYS,
        repeatable: Collection[str] = ("tools", "defaults"),
    ) -> Catalogue:
        """Return what the documents say together; each may give the keys that are repeatable, but only one any other.

        Raises:
            ConfigError: Something in them is wrong; every problem found is listed.
        """
        config, specs = GatewayConfig(), []
        try:
            whole = self._mappings(documents)
            self._check_keys(whole, allowed, repeatable)
            config = self._settings(whole)
            specs = [spec for document in whole for spec in self._specs(document)]
        except StopReading:
            pass
        if self._problems:
            raise ConfigError(_sorted(self._problems))
        return Catalogue(config, tuple(specs), self._executors, self._entries)

    def _mappings(self, documents: Sequence[Document]) -> list[Document]:
        for document in documents:
            self._problems.update(dict.fromkeys(document.problems))
            if not isinstance(document.value, dict | None):
                self._add(document, (), "a gateway file is a mapping with the key tools", hint="start it with tools:")
        return [document for document in documents if isinstance(document.value, dict)]

    def _check_keys(self, documents: Sequence[Document], allowed: Collection[str], repeatable: Collection[str]) -> None:
        first: dict[str, Document] = {}
        for document in documents:
            for key in document.value:
                if key not in FILE_KEYS:
                    self._add(document, (key,), "no such key", hint=did_you_mean(key, FILE_KEYS), key=True)
                elif key not in allowed:
                    self._add(document, (key,), "settings have no place in this source", key=True)
                elif key in first and key not in repeatable:
                    other = first[key].place((key,), key=True)
                    self._add(document, (key,), f"this key is given in {other} too", hint="keep one", key=True)
                first.setdefault(key, document)

    # Settings

    def _settings(self, documents: Sequence[Document]) -> GatewayConfig:
        raw: dict[str, Any] = {}
        marks: dict[Any, Any] = {}
        for document in documents:
            own = {key: value for key, value in document.value.items() if key in GatewayConfig.model_fields}
            raw.update(own)
            marks.update({key: document.places.marks(document.value)[key] for key in own})
        if not raw:
            return GatewayConfig()
        documents[0].places.remember(raw, marks)
        declared = raw.get("permissions")
        self._permissions |= set(declared) if isinstance(declared, dict) else set()
        return self._validated_settings(Document(documents[0].name, raw, documents[0].places))

    def _validated_settings(self, document: Document) -> GatewayConfig:
        before = len(self._problems)
        for path, problem in missing(document.value, self._env):
            self._add(document, path, problem.message, hint=problem.hint)
        if len(self._problems) > before:
            return GatewayConfig()
        try:
            config = GatewayConfig.model_validate(self._looked_up(document.value))
        except ValidationError as error:
            for mistake in explain(error, document.value, GatewayConfig):
                self._add(document, mistake.path, mistake.message, hint=mistake.hint, key=mistake.on_key)
            return GatewayConfig()
        for key in ("sources", "extensions"):
            for at in range(len(document.value.get(key, ()))):
                self._entries[key, at] = document.place((key, at))
        self._check_local_permissions(document, config)
        self._add_plugins(document, config)
        return config

    def _looked_up(self, raw: dict[str, Any]) -> dict[str, Any]:
        # What sources and extensions are given is looked up when they are made: no secret is kept with the settings.
        values: dict[str, Any] = {**resolve(raw, self._env), **{key: raw[key] for key in ("sources",) if key in raw}}
        for entry, written in zip(_list(values.get("extensions")), _list(raw.get("extensions")), strict=True):
            if isinstance(written, dict) and "options" in written:
                entry["options"] = written["options"]
        return values

    def _check_local_permissions(self, document: Document, config: GatewayConfig) -> None:
        for index, written in enumerate(_list(document.value.get("local_permissions"))):
            if config.local_permissions[index] not in self._permissions:
                hint = did_you_mean(written, self._permissions) or "declare it under permissions:"
                self._add(document, ("local_permissions", index), f'unknown permission "{written}"', hint=hint)

    def _add_plugins(self, document: Document, config: GatewayConfig) -> None:
        base = FilePath(document.name).parent
        for group, folders in config.plugins:
            for index, folder in enumerate(folders):
                if not (base / folder).is_dir():
                    self._add(document, ("plugins", group, index), "there is no such folder")
        try:
            found = [base / folder for folder in config.plugins.executors if (base / folder).is_dir()]
            self._executors = self._executors.with_folders(found)
        except ConfigError as error:
            self._problems.update(dict.fromkeys(error.problems))

    # Tools

    def _specs(self, document: Document) -> Iterator[ToolSpec]:
        tools = document.value.get("tools", [])
        if not isinstance(tools, list):
            self._add(document, ("tools",), "expected a list of tools", hint="start each one with a dash")
            return
        defaults = self._defaults(document, len(tools))
        for index, tool in enumerate(tools):
            if not isinstance(tool, dict):
                text = "expected a mapping with name, description and tool_type"
                self._add(document, ("tools", index), text)
                continue
            value = document.places.merged(defaults, tool) if defaults else tool
            spec = self._spec(_Tool(document, index, value, document.place(("tools", index))))
            if spec is not None:
                yield spec

    def _defaults(self, document: Document, tools: int) -> dict[str, Any]:
        defaults = document.value.get("defaults", {})
        if not isinstance(defaults, dict):
            self._add(document, ("defaults",), "expected a mapping of tool keys")
            return {}
        if _size(defaults) * tools > MOST_REPEATED:
            self._add(document, ("defaults",), f"too much to repeat for {tools:,} tools")
            return {}
        shared = TOOL_KEYS - {"name", "tool_id"}
        for key in defaults.keys() - shared:
            self._add(document, ("defaults", key), "no such key", hint=did_you_mean(key, shared), key=True)
        usable = {key: value for key, value in defaults.items() if key in shared}
        document.places.remember(usable, document.places.marks(defaults))
        return usable

    def _spec(self, here: _Tool) -> ToolSpec | None:
        before = len(self._problems)
        # Each check reads the raw values, so that one mistake does not hide the next.
        spec = self._validated(here)
        self._check_schemas(here)
        self._check_permissions(here)
        self._check_config(here, spec)
        self._check_twins(here)
        return spec if len(self._problems) == before else None

    def _validated(self, here: _Tool) -> ToolSpec | None:
        if "origin" in here.value:
            self._say(here, ("origin",), "no such key", key=True)
        if len(here.mapping("metadata")) > MOST_METADATA:
            self._say(here, ("metadata",), f"more than {MOST_METADATA:,} keys")
            return None
        try:
            return ToolSpec.model_validate({**here.value, "origin": here.start})
        except ValidationError as error:
            mistakes = explain(error, here.value, ToolSpec)
            for mistake in mistakes:
                self._say(here, mistake.path, mistake.message, mistake.hint, key=mistake.on_key)
            if mistakes[0].between:
                self._validated(here.without(mistakes[0].between))
            return None

    def _check_schemas(self, here: _Tool) -> None:
        for key in ("input_schema", "output_schema"):
            for violation in self._violations(here.mapping(key)):
                self._say(here, (key, *violation.path), violation.message, violation.hint)
        if here.mapping("input_schema").get("type", "object") != "object":
            self._say(here, ("input_schema", "type"), "arguments are always an object", "write type: object")

    def _violations(self, schema: dict[str, Any]) -> tuple[Violation, ...]:
        if schema and id(schema) not in self._schemas:  # defaults and aliases share one object among many tools
            try:
                compile_schema(schema)
                self._schemas[id(schema)] = ()
            except SchemaError as error:
                self._schemas[id(schema)] = error.violations
        return self._schemas[id(schema)] if schema else ()

    def _check_permissions(self, here: _Tool) -> None:
        for index, permission in enumerate(_list(here.mapping("metadata").get("permissions"))):
            if isinstance(permission, str) and permission not in self._permissions:
                hint = did_you_mean(permission, self._permissions) or "declare it under permissions:"
                self._say(here, ("metadata", "permissions", index), f'unknown permission "{permission}"', hint)

    def _check_config(self, here: _Tool, spec: ToolSpec | None) -> None:
        config, kind = here.mapping(_CONFIG), here.value.get("tool_type")
        unset, variables = self._check_variables(here, config)
        executor = self._executor(here, kind)
        if executor is None:
            return
        looked_up = resolve(config, self._env) if variables and not unset else config
        for path, message, hint, on_key, *_ in self._faults(here, executor, _probe(here, spec, looked_up)):
            if not any(_is_about(path, variable) for variable in variables):
                text = f'{message} for "{kind}"' if message == "no such key" else message
                self._say(here, (_CONFIG, *path), text, hint, key=on_key)
            elif not unset:
                # Not the executor's own words: they may quote what the variable holds.
                self._say(here, (_CONFIG, *path), "does not fit once its variables are looked up")

    def _check_variables(self, here: _Tool, config: dict[str, Any]) -> tuple[bool, set[Path]]:
        """Return whether a variable cannot be looked up, and the paths of all of them."""
        if not mentions_variables(config):
            return False, set()
        variables = {path for path, _, _ in references(config)}
        unset = set()
        for path, problem in missing(config, self._env):
            self._say(here, (_CONFIG, *path), problem.message, problem.hint)
            unset.add(path)
        return bool(unset), variables | unset

    def _faults(self, here: _Tool, executor: Any, probe: ToolSpec) -> Iterator[Mistake]:
        try:
            faults = dict.fromkeys(executor.check(probe))
        except Exception as error:
            self._say(here, ("tool_type",), f'"{probe.tool_type}" cannot check this tool: {type(error).__name__}')
            return
        for fault in faults:
            if isinstance(fault, ValidationError):
                yield from explain(fault, probe.implementation_config, executor.config_model)
            else:
                yield Mistake(*fault)

    def _executor(self, here: _Tool, kind: Any) -> Any:
        if not isinstance(kind, str):
            return None
        if kind not in self._kinds:
            self._kinds[kind] = self._look_for(kind)
        executor, match = self._kinds[kind]
        if match:
            self._say(here, ("tool_type",), f'unknown tool type "{kind}"', f'did you mean "{match}"?')
        return executor

    def _look_for(self, kind: str) -> tuple[Any, str | None]:
        """Return the executor of a kind, or the name of the kind that was meant, or neither."""
        try:
            executor = self._executors.find(kind)
            known = {*self._executors.names(), *(known.value for known in ToolType)} if executor is None else {kind}
        except ConfigError as error:
            self._problems.update(dict.fromkeys(error.problems))
            return None, None
        return executor, nearest(kind, known) if kind not in known else None

    def _check_twins(self, here: _Tool) -> None:
        version = here.mapping("metadata").get("version", "1.0.0")
        first = self._seen.setdefault((here.name, str(version)), here.start) if here.name else here.start
        if first is not here.start:
            hint = "rename one of them, or give it another metadata.version"
            self._say(here, ("name",), f"a tool of this name and version is defined in {first} too", hint)

    # Problems

    def _say(self, here: _Tool, path: Path, message: str, hint: str = "", *, key: bool = False) -> None:
        who = f"tools[{here.index}] {here.name[:80]}".rstrip()
        place = here.place(path, key=key)
        self._note(Problem(message, place, f"{who}: {dotted(path)}" if path else who, hint))

    def _add(self, document: Document, path: Path, message: str, *, hint: str = "", key: bool = False) -> None:
        self._note(Problem(message, document.place(path, key=key), dotted(path), hint))

    def _note(self, problem: Problem) -> None:
        self._problems[problem] = None
        if len(self._problems) >= MOST_PROBLEMS:
            self._problems[Problem(TOO_MANY)] = None
            raise StopReading


@dataclass(frozen=True, slots=True)
class _Tool:
    """One tool being read, with the defaults laid under it."""

    document: Document
    index: int
    value: dict[str, Any]
    start: Place

    @property
    def name(self) -> str:
        name = self.value.get("name")
        return name if isinstance(name, str) else ""

    def mapping(self, key: str) -> dict[str, Any]:
        value = self.value.get(key)
        return value if isinstance(value, dict) else {}

    def place(self, path: Path, *, key: bool) -> Place:
        return self.document.places.find(self.value, path, key=key) or self.start

    def without(self, key: str) -> _Tool:
        rest = {name: value for name, value in self.value.items() if name != key}
        self.document.places.remember(rest, self.document.places.marks(self.value))
        return _Tool(self.document, self.index, rest, self.start)


def _probe(here: _Tool, spec: ToolSpec | None, config: dict[str, Any]) -> ToolSpec:
    """Return the spec for an executor to check; when there is none yet, what can be had of it."""
    if spec is None:
        return ToolSpec.model_construct(
            None,
            name=here.name,
            description="",
            tool_type=str(here.value.get("tool_type")),
            input_schema=here.mapping("input_schema"),
            implementation_config=config,
        )
    return spec if config is here.mapping(_CONFIG) else spec.model_copy(update={_CONFIG: config})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _size(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else _list(value)
    return 1 + sum(_size(item) for item in inner)


def _is_about(path: Path, variable: Path) -> bool:
    shorter = min(len(path), len(variable))
    return bool(path) and path[:shorter] == variable[:shorter]


def _sorted(problems: Iterable[Problem]) -> list[Problem]:
    placed = [problem for problem in problems if problem.place]
    placed.sort(key=lambda p: (p.place.file, p.place.line or 0, p.place.column or 0) if p.place else ("", 0, 0))
    return placed + [problem for problem in problems if not problem.place]
