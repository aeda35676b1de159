"""The tool that toolgate's rows call, and the smallest extensions that do something."""

from typing import Any

from toolgate.chain import Extension, ExtensionManager, Run
from toolgate.context import CallContext
from toolgate.dispatch import UnifiedToolExecutor
from toolgate.events import EventEnvelope
from toolgate.registry import ToolSpecRegistry
from toolgate.result import ToolResult
from toolgate.spec import ToolSpec

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}


async def add(a: int, b: int) -> int:
    return a + b


def spec(name: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description="Add two numbers.",
        tool_type="python",
        input_schema=SCHEMA,
        implementation_config={"module": "benchmarks.adding", "function_name": "add"},
    )


class Before(Extension):
    seen = 0

    async def before_execute(self, ctx: CallContext) -> None:
        self.seen += 1


class After(Extension):
    seen = 0

    async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
        self.seen += 1
        return result


class Around(Extension):
    seen = 0

    async def around(self, ctx: CallContext, call_next: Run) -> ToolResult:
        self.seen += 1
        return await call_next(ctx)


class Watching(Extension):
    seen = 0

    async def on_event(self, ctx: CallContext, event: EventEnvelope) -> None:
        self.seen += 1


class Elsewhere(Before):
    def applies_to(self, spec: ToolSpec) -> bool:
        return spec.name != "add"


def named(extension: Extension, name: str) -> Extension:
    extension.name = name
    return extension


def six() -> list[Extension]:
    return [
        named(Before(priority=1000), "auth"),
        named(Before(priority=800), "limit"),
        named(Around(priority=600), "cache"),
        named(After(priority=250), "redact"),
        named(Watching(), "log"),
        named(Watching(), "metrics"),
    ]


def executor(*extensions: Extension, tools: int = 10) -> UnifiedToolExecutor:
    """Return an executor of `tools` tools, `add` among them."""
    registry = ToolSpecRegistry()
    for name in ["add", *(f"add_{number}" for number in range(1, tools))]:
        registry.register_spec(spec(name))
    return UnifiedToolExecutor(registry, ExtensionManager(extensions))
