"""A call goes out: one file a kind of tool. Config names a kind; `KINDS` finds it, imported when first used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar

from pydantic import BaseModel, ValidationError

from toolgate.context import ToolContext
from toolgate.errors import ConfigError
from toolgate.kinds import Kinds
from toolgate.places import Path
from toolgate.result import told
from toolgate.spec import ToolPermission, ToolSpec

KINDS = {
    "python": "toolgate.executors.python:PythonExecutor",
    "shell": "toolgate.executors.shell:ShellExecutor",
}

Run = Callable[[dict[str, Any], ToolContext], Awaitable[Any]]
Fault = tuple[Path, str, str]  # path inside implementation_config, message, hint


class BaseExecutor(ABC):
    """Runs tools of one kind; a subclass needs only `execute`."""

    supported_types: ClassVar[tuple[str, ...]] = ()
    config_model: ClassVar[type[BaseModel] | None] = None
    implied_permissions: ClassVar[tuple[ToolPermission, ...]] = ()

    @classmethod
    def check(cls, spec: ToolSpec) -> Iterable[Fault | ValidationError]:
        """Yield what is wrong with the spec's implementation_config; only reads, starts and imports nothing."""
        if cls.config_model is not None:
            try:
                cls.config_model.model_validate(spec.implementation_config)
            except ValidationError as error:
                yield error

    def unavailable(self, spec: ToolSpec) -> str | None:
        """Return why this spec cannot run here, or None when it can."""
        return None

    def can_execute(self, spec: ToolSpec) -> bool:
        """Return whether this executor takes the spec's type."""
        return not self.supported_types or spec.tool_type in self.supported_types

    def bind(self, spec: ToolSpec) -> Run:
        """Return what runs `spec`; called once when the tool is linked, so that a call discovers nothing.

        Raises:
            ToolError: The tool cannot be run, as when its module does not import.
        """

        async def run(args: dict[str, Any], context: ToolContext) -> Any:
            return await self.execute(spec, args, context)

        return run

    @abstractmethod
    async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
        """Run the tool and return its output."""

    async def down(self) -> None:  # noqa: B027  # most kinds have nothing to close
        """Close what the calls opened."""


class Executors:
    """The executors in use, by tool type; built-in and plug-in ones are made when first asked for."""

    def __init__(self, kinds: Kinds | None = None) -> None:
        self._kinds = kinds or Kinds("executors", KINDS, BaseExecutor)
        self._made: dict[str, BaseExecutor] = {}
        self._unknown: set[str] = set()  # looking for a kind that is not there takes long
        self.revision = 0

    def register(self, tool_type: str, executor: BaseExecutor) -> None:
        """Use `executor` for tools of this type, in place of any other."""
        self._made[str(tool_type)] = executor
        self.revision += 1

    def get(self, tool_type: str) -> BaseExecutor | None:
        """Return the executor for a tool type, or None when there is none.

        Raises:
            ConfigError: There is one, but it cannot be made.
        """
        kind = str(tool_type)
        if kind not in self._made and kind not in self._unknown:
            self._make(kind)
        return self._made.get(kind)

    def _make(self, kind: str) -> None:
        found = self._kinds.find(kind)
        if found is None:
            self._unknown.add(kind)
            return
        try:
            self._made[kind] = found()
        except Exception as error:
            raise ConfigError(f'the executor for "{kind}" cannot be made: {told(error)}') from error

    def made(self) -> list[BaseExecutor]:
        """Return the executors made or registered so far."""
        return list(self._made.values())
