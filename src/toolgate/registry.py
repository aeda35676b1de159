"""ToolSpecRegistry: name[@version] -> spec, from any number of sources; a revision moves when anything changes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from toolgate.context import ToolContext
from toolgate.errors import ConfigError, ToolgateError, ToolNotFoundError, ToolRegistrationError, did_you_mean
from toolgate.exporters import KINDS as EXPORTERS
from toolgate.index import SpecIndex
from toolgate.kinds import imported
from toolgate.loaders import KINDS as LOADERS
from toolgate.loaders import SpecLoader, Surroundings, source_loaders
from toolgate.names import aliases, split_version
from toolgate.result import as_text, told
from toolgate.schema import SchemaError, compile_schema
from toolgate.spec import ToolSource, ToolSpec, ToolType

logger = logging.getLogger(__name__)

LoadHook = Callable[[ToolSpec], None]
ANYONE = ToolContext()


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What loading did: how many specs there are, what changed, and what went wrong."""

    specs: int = 0
    errors: tuple[ToolgateError, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong."""
        return not self.errors

    def raise_for_errors(self) -> None:
        """Raise the first error, if there is one.

        Raises:
            ToolgateError: Something went wrong.
        """
        if self.errors:
            raise self.errors[0]


class ToolSpecRegistry:
    """Holds every spec a planner may see and an executor may run."""

    def __init__(self, loaders: Iterable[SpecLoader] = ()) -> None:
        self.revision = 0
        self.report = LoadReport()
        self._loaders = list(loaders)
        self._loaded: dict[int, Sequence[ToolSpec]] = {}
        self._own: dict[str, ToolSpec] = {}
        self._specs: dict[str, ToolSpec] = {}
        self._index = SpecIndex()
        self._listeners: list[Callable[[], None]] = []
        self._pre_load: list[LoadHook] = []
        self._post_load: list[LoadHook] = []
        self._pre_unload: list[LoadHook] = []
        self._loading = anyio.Lock()

    # Loading

    def add_loader(self, loader: SpecLoader) -> None:
        """Add a source for `load_all`."""
        self._loaders.append(loader)

    def add_pre_load_hook(self, hook: LoadHook) -> None:
        """Call `hook` before a spec comes in; raising ToolRegistrationError keeps it out."""
        self._pre_load.append(hook)

    def add_post_load_hook(self, hook: LoadHook) -> None:
        """Call `hook` after a spec came in."""
        self._post_load.append(hook)

    def add_pre_unload_hook(self, hook: LoadHook) -> None:
        """Call `hook` before a spec goes out."""
        self._pre_unload.append(hook)

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every change; returns what stops it."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    async def load_all(self) -> LoadReport:
        """Read every source and swap the catalogue in one step; without a loader, tools.yaml here is read.

        A source that fails keeps the specs it gave before; the report names it, and the others are not affected.
        """
        async with self._loading:
            errors = self._find_loaders() + await self._read_sources()
            specs = self._admit(errors)
            self.report = self._swap(specs, errors)
        for error in self.report.errors:
            logger.error("%s", error)
        return self.report

    def _find_loaders(self) -> list[ToolgateError]:
        try:
            self._loaders = self._loaders or gateway_loaders()
        except ConfigError as error:
            return [error]
        return []

    async def _read_sources(self) -> list[ToolgateError]:
        failures: dict[int, ToolgateError] = {}

        async def read(index: int, loader: SpecLoader) -> None:
            try:
                self._loaded[index] = _only_specs(await loader.load_specs())
            except ToolgateError as error:
                failures[index] = error
            except (Exception, SystemExit) as error:
                name = getattr(loader, "name", type(loader).__name__)
                failures[index] = ConfigError(f"{name}: {type(error).__name__}: {told(error)}")

        async with anyio.create_task_group() as group:
            for index, loader in enumerate(self._loaders):
                group.start_soon(read, index, loader)
        return [failures[index] for index in sorted(failures)]

    def _admit(self, errors: list[ToolgateError]) -> dict[str, ToolSpec]:
        specs = dict(self._own)
        for index in sorted(self._loaded):
            for spec in self._loaded[index]:
                try:
                    self._check_taken(spec, specs)
                    self._check_new(spec)
                except ToolRegistrationError as error:
                    errors.append(error)
                else:
                    specs[spec.key] = spec
        return specs

    def _check_taken(self, spec: ToolSpec, specs: dict[str, ToolSpec]) -> None:
        other = specs.get(spec.key)
        if other is not None:
            raise ToolRegistrationError(
                f"{spec.key} is defined twice: {_where(other)} and {_where(spec)}",
                tool_name=spec.name,
                hint="rename one of them, or give it another version",
            )

    def _check_new(self, spec: ToolSpec) -> None:
        if spec is self._specs.get(spec.key):
            return
        if spec.origin is None:  # whoever read it from a file has checked its schemas
            _check_schemas(spec)
        for hook in self._pre_load:
            try:
                hook(spec)
            except ToolRegistrationError:
                raise
            except Exception:
                logger.exception("a pre-load hook failed on %s", spec.key)

    def _swap(self, specs: dict[str, ToolSpec], errors: Sequence[ToolgateError]) -> LoadReport:
        old = self._specs
        added = [key for key in specs if key not in old]
        removed = [key for key in old if key not in specs]
        changed = [key for key in specs if key in old and _differ(old[key], specs[key])]
        self._tell(self._pre_unload, [old[key] for key in removed])
        # Made aside and put in place at once: other threads see the old catalogue or the new one.
        self._specs, self._index = dict(specs), SpecIndex(specs.values())
        self._tell(self._post_load, [specs[key] for key in added + changed])
        if added or removed or changed:
            self._changed()
        return LoadReport(len(specs), tuple(errors), *(tuple(sorted(keys)) for keys in (added, removed, changed)))

    def _tell(self, hooks: Sequence[LoadHook], specs: Iterable[ToolSpec]) -> None:
        for spec in specs if hooks else ():
            for hook in hooks:
                try:
                    hook(spec)
                except Exception:
                    logger.exception("a load hook failed on %s", spec.key)

    def _changed(self) -> None:
        self.revision += 1
        for listener in list(self._listeners):
            try:
                listener()
            except Exception:
                logger.exception("a listener failed on a change of the registry")

    # One spec at a time

    def register_spec(self, spec: ToolSpec) -> None:
        """Add one spec.

        Raises:
            ToolRegistrationError: Its schema is broken, its name and version are taken, or a hook refused it.
        """
        self._check_taken(spec, self._specs)
        self._check_new(spec)
        self._own[spec.key] = spec
        self._specs[spec.key] = spec
        self._index.add(spec)
        self._tell(self._post_load, [spec])
        self._changed()

    def unregister_spec(self, name: str, version: str | None = None) -> None:
        """Remove one spec: the version given, or the only one of that name.

        Raises:
            ToolNotFoundError: There is no such spec.
            ToolRegistrationError: There are several versions, and none was named.
        """
        spec = self.get_spec(name, version)
        if version is None and len(self.versions(name)) > 1:
            raise ToolRegistrationError(f"several versions: {self.versions(name)}; name one", tool_name=name)
        self._own.pop(spec.key, None)
        self._swap({key: other for key, other in self._specs.items() if other is not spec}, ())

    # Looking up

    def has_spec(self, name: str, version: str | None = None) -> bool:
        """Return whether there is a spec called `name` (in a version of that range)."""
        return self._index.find(name, version) is not None

    def get_spec(self, name: str, version: str | None = None) -> ToolSpec:
        """Return the spec called `name`, `name@range`, or `name` with a version range.

        Raises:
            ToolNotFoundError: There is none.
        """
        spec = self._index.find(name, version)
        if spec is None:
            raise self._not_found(name if version is None else f"{name}@{version}", ANYONE)
        return spec

    def resolve(self, name: str, context: ToolContext) -> ToolSpec:
        """Return the spec called `name` that `context` may see.

        Raises:
            ToolNotFoundError: No such tool, or none this caller may see.
        """
        spec = self._index.newest.get(name)
        if spec is None or not context.may_see(name):
            spec = self._index.find(name, None, context.may_see)
        # One error for both cases: a different answer would tell a caller what exists.
        if spec is None or not context.may_see(spec.name):
            raise self._not_found(name, context)
        return spec

    def versions(self, name: str) -> list[str]:
        """Return the versions there are of `name`, oldest first."""
        return [spec.version for spec in self._index.versions(name)]

    def _not_found(self, name: str, context: ToolContext) -> ToolNotFoundError:
        name = as_text(name)
        base, wanted = split_version(name)
        visible = [spec.name for spec in self.visible(context)]
        hint = did_you_mean(base, visible)
        if wanted is not None and base in visible:
            hint = f"versions: {', '.join(self.versions(base))}"
        elif not hint and self.report.errors and context.allowed_tools is None:  # its text may name hidden tools
            hint = f"a source failed to load: {str(self.report.errors[0]).splitlines()[0]}"
        return ToolNotFoundError(f"Tool {name} not registered", tool_name=name, hint=hint)

    # Listing

    def list_specs(
        self,
        *,
        tool_type: ToolType | str | None = None,
        category: str | None = None,
        tags: Iterable[str] | None = None,
        source: ToolSource | str | None = None,
        permission: str | None = None,
    ) -> list[ToolSpec]:
        """Return the specs that match everything given, by name and then version."""
        wanted = set(tags or ())
        return [
            spec
            for spec in self._index.in_order()
            if tool_type in (None, spec.tool_type)
            and category in (None, spec.metadata.category)
            and source in (None, spec.source)
            and (permission is None or permission in spec.metadata.permissions)
            and wanted <= set(spec.metadata.tags)
        ]

    def visible(self, context: ToolContext = ANYONE) -> list[ToolSpec]:
        """Return the newest version of every tool that `context` may see, by name."""
        index = self._index
        return [spec for spec in index.in_order() if index.newest[spec.name] is spec and context.may_see(spec.name)]

    def export(
        self, dialect: str, names: Iterable[str] | None = None, context: ToolContext = ANYONE
    ) -> list[dict[str, Any]]:
        """Return the tools `context` may see, or only those named, as a provider's tool definitions.

        Raises:
            ToolNotFoundError: One of the names is unknown.
            ToolRegistrationError: Two names would be exported as the same one.
        """
        specs = self.visible(context) if names is None else [self.resolve(name, context) for name in names]
        aliases(spec.name for spec in specs)
        exported: list[dict[str, Any]] = imported(EXPORTERS[dialect])(specs)
        return exported

    def to_openai_tools(
        self, names: Iterable[str] | None = None, context: ToolContext = ANYONE
    ) -> list[dict[str, Any]]:
        """Return the tools as OpenAI chat-completion functions."""
        return self.export("openai", names, context)

    def to_mcp_tools(self, names: Iterable[str] | None = None, context: ToolContext = ANYONE) -> list[dict[str, Any]]:
        """Return the tools as MCP tool objects."""
        return self.export("mcp", names, context)

    def to_claude_tools(
        self, names: Iterable[str] | None = None, context: ToolContext = ANYONE
    ) -> list[dict[str, Any]]:
        """Return the tools as Anthropic client tools."""
        return self.export("anthropic", names, context)


def gateway_loaders(own: Any = None) -> list[SpecLoader]:
    """Return a gateway's loaders: that of its own files, then one for each entry of their `sources:`."""
    own = own or imported(LOADERS["file"]).of_gateway()
    try:
        catalogue = own.read()
    except ConfigError:
        return [own]  # loading will say what is wrong
    permissions = frozenset(catalogue.config.permissions)
    around = Surroundings(own.files()[0].parent, catalogue.executors, permissions)
    return [own, *source_loaders(catalogue.config, around, catalogue.places)]


def _differ(old: ToolSpec, new: ToolSpec) -> bool:
    return old is not new and old.digest != new.digest


def _only_specs(loaded: Iterable[Any]) -> tuple[ToolSpec, ...]:
    specs = tuple(loaded)
    for spec in specs:
        if not isinstance(spec, ToolSpec):
            raise TypeError(f"a loader must return ToolSpecs, not {type(spec).__name__}")
    return specs


def _check_schemas(spec: ToolSpec) -> None:
    for name, schema in (("input_schema", spec.input_schema), ("output_schema", spec.output_schema or {})):
        try:
            compile_schema(schema)
        except SchemaError as error:
            text = f"its {name} is not a JSON Schema: {error}"
            raise ToolRegistrationError(text, tool_name=spec.name) from error
    if spec.input_schema.get("type", "object") != "object":
        raise ToolRegistrationError("its input_schema must be of type object", tool_name=spec.name)


def _where(spec: ToolSpec) -> str:
    return str(spec.origin) if spec.origin else "registered in code"
