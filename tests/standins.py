"""Stand-ins that play one role in a few lines, and short ways to put an executor together."""

import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import anyio

from toolgate import (
    BaseExecutor,
    CallContext,
    EventEnvelope,
    EventStore,
    Extension,
    ExtensionManager,
    Place,
    SpecLoader,
    ToolContext,
    ToolResult,
    ToolSpec,
    ToolSpecRegistry,
    UnifiedToolExecutor,
)
from toolgate.chain import Run

ROOT = Path(__file__).parents[1]
SECONDS = 10  # longer than anything here takes, shorter than a patient reader

Tool = Callable[[dict[str, Any], ToolContext], Awaitable[Any]]


# Specs


def a_spec(name: str = "echo", **fields: Any) -> ToolSpec:
    """Return a spec with whatever is left out filled in; metadata may be given as a dict."""
    return ToolSpec(**{"name": name, "description": f"The {name} tool.", "tool_type": "python", **fields})


def versioned(name: str, version: str, **metadata: Any) -> ToolSpec:
    return a_spec(name, metadata={"version": version, **metadata})


def numbers(*required: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an object whose properties are the numbers `a` and `b`."""
    properties = {"a": {"type": "number"}, "b": {"type": "number"}}
    return {"type": "object", "properties": properties, "required": list(required), **more}


def python_spec(folder: Path, function: str | None, *, module: str, name: str = "tool", **fields: Any) -> ToolSpec:
    """Return the spec of a function in a module beside the tools file of `folder`."""
    config = {"module": module, **({"function_name": function} if function else {})}
    place = Place(str(folder / "tools.yaml"), 1, 1)
    return a_spec(name, implementation_config={**config, **fields.pop("config", {})}, origin=place, **fields)


# Executors


class EchoExecutor(BaseExecutor):
    """Returns the arguments, and remembers them and who called."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.contexts: list[ToolContext] = []

    async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
        self.seen.append(args)
        self.contexts.append(context)
        return args


class FunctionExecutor(BaseExecutor):
    """Runs one async function for every tool."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
        return await self._tool(args, context)


class SlowTool:
    """Runs until it is stopped, and says when it has begun and when it has ended."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.ended = anyio.Event()

    async def __call__(self, args: dict[str, Any], context: ToolContext) -> Any:
        self.begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.ended.set()


def returns(value: Any) -> Tool:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        return value

    return tool


def raises(error: BaseException) -> Tool:
    async def tool(args: dict[str, Any], context: ToolContext) -> Any:
        raise error

    return tool


def a_registry(*specs: ToolSpec) -> ToolSpecRegistry:
    registry = ToolSpecRegistry()
    for spec in specs:
        registry.register_spec(spec)
    return registry


def an_executor(
    tool: BaseExecutor | Tool | None = None,
    *,
    specs: Sequence[ToolSpec] = (),
    extensions: Iterable[Extension] = (),
    **options: Any,
) -> UnifiedToolExecutor:
    """Return an executor that runs `tool` for every python spec; without specs there is one called echo."""
    executor = UnifiedToolExecutor(a_registry(*(specs or [a_spec()])), ExtensionManager(extensions), **options)
    runs = tool if isinstance(tool, BaseExecutor) else FunctionExecutor(tool) if tool else EchoExecutor()
    executor.executors.register("python", runs)
    return executor


async def events_of(executor: UnifiedToolExecutor, call_id: str | None = None) -> list[EventEnvelope]:
    return await executor.event_store.read(correlation_id=call_id)


async def types_of(executor: UnifiedToolExecutor, call_id: str | None = None) -> list[str]:
    return [event.event_type for event in await events_of(executor, call_id)]


# Extensions


class Recording(Extension):
    """Writes down what it sees on the way in and on the way out, and every event."""

    def __init__(self, name: str = "recording", log: list[str] | None = None, *, priority: int | None = None) -> None:
        super().__init__(priority=priority)
        self.name = name
        self.log: list[str] = [] if log is None else log
        self.events: list[EventEnvelope] = []

    async def before_execute(self, ctx: CallContext) -> None:
        self.log.append(f"{self.name} in")

    async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
        self.log.append(f"{self.name} out")
        return result

    async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
        self.events.append(event)

    @property
    def event_types(self) -> list[str]:
        return [event.event_type for event in self.events]


class Watching(Recording):
    """Only watches."""

    before_execute = Extension.before_execute  # type: ignore[assignment]  # back to the one that does nothing
    after_execute = Extension.after_execute


class Raising(Extension):
    """Raises in the hook it is told to."""

    def __init__(self, hook: str, error: BaseException, *, priority: int | None = None) -> None:
        super().__init__(priority=priority)
        self._hook, self._error = hook, error

    def _in(self, hook: str) -> None:
        if hook == self._hook:
            raise self._error

    def applies_to(self, spec: ToolSpec) -> bool:
        self._in("applies_to")
        return True

    async def before_execute(self, ctx: CallContext) -> None:
        self._in("before_execute")

    async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
        self._in("after_execute")
        return result

    async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
        self._in("around")
        return await call_next(ctx)

    async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
        self._in("on_event")


class Answering(Extension):
    """Answers in place of the tool."""

    def __init__(self, output: Any, *, priority: int | None = None) -> None:
        super().__init__(priority=priority)
        self._output = output

    async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
        return ToolResult(status="ok", output=self._output)


class Approving(Extension):
    """Stands where an approval extension will, and says yes."""

    gives_approval = True


# Stores and loaders


class FailingStore(EventStore):
    """Keeps nothing."""

    async def append(self, event: EventEnvelope) -> int:
        raise OSError("the disk is full")

    async def read(
        self,
        from_offset: int = 0,
        limit: int | None = None,
        event_type: str | None = None,
        correlation_id: str | None = None,
    ) -> list[EventEnvelope]:
        return []

    async def last_offset(self) -> int:
        return -1


class ListLoader(SpecLoader):
    """Gives the specs it holds, or raises the error it holds; both may be changed between loads."""

    def __init__(self, *specs: Any, error: BaseException | None = None) -> None:
        self.specs: Any = list(specs)
        self.error = error

    async def load_specs(self) -> list[ToolSpec]:
        if self.error is not None:
            raise self.error
        loaded: list[ToolSpec] = self.specs
        return loaded


def in_threads(function: Callable[[int], Any], count: int) -> list[Any]:
    """Return what `function(number)` returned or raised in each of `count` threads, by number."""
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        try:
            results[number] = function(number)
        except BaseException as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    return results


def python(code: str) -> str:
    """Return what `code` prints in a process of its own, which must end by itself and complain of nothing."""
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("COV")},
        timeout=SECONDS * 3,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout
