"""What happens before the first call of a tool, when it cannot be made ready, and what of that is told."""

from typing import Any

import pytest

from tests.standins import (
    EchoExecutor,
    ListLoader,
    Watching,
    a_registry,
    a_spec,
    an_executor,
    events_of,
    raises,
    types_of,
)
from toolgate import (
    BaseExecutor,
    CallContext,
    Extension,
    ExtensionManager,
    Place,
    ToolContext,
    ToolExecutionError,
    ToolResult,
    ToolSpec,
    ToolSpecRegistry,
    UnifiedToolExecutor,
)

pytestmark = pytest.mark.anyio


# Making a tool ready


class Unready(EchoExecutor):
    """Fails to make a tool ready until it is mended."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error: Exception | None = error

    def bind(self, spec: ToolSpec) -> Any:
        if self.error:
            raise self.error
        return super().bind(spec)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolExecutionError("no such module", outcome="unknown"), "no such module"),
        (KeyError("host"), "the tool cannot be made ready: KeyError: 'host'"),
    ],
)
async def test_a_tool_that_cannot_be_made_ready_denies_the_call_and_tells_the_watchers(
    error: Exception, text: str
) -> None:
    watching = Watching()
    executor = an_executor(Unready(error), extensions=[watching])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code, result.error.message) == ("denied", "execution_failed", text)
    assert (result.error.outcome, result.error.tool_name) == ("not_done", "echo")
    assert await types_of(executor) == watching.event_types == ["tool.denied"]
    assert watching.events[0].payload["tool_id"] == "echo@1.0.0"


async def test_a_caller_without_permission_does_not_learn_why_a_tool_cannot_be_made_ready() -> None:
    spec = a_spec(metadata={"permissions": ["fs:write"]})
    executor = an_executor(Unready(ToolExecutionError("cannot import inner_secrets")), specs=[spec])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert result.error.code == "permission_denied"


async def test_a_tool_that_was_mended_is_found_ready_at_the_next_call() -> None:
    unready = Unready(ToolExecutionError("no such module"))
    executor = an_executor(unready)
    assert (await executor.try_execute("echo")).status == "denied"

    unready.error = None

    assert (await executor.try_execute("echo")).ok


async def test_a_broken_schema_that_slipped_in_makes_a_tool_unavailable() -> None:
    registry = ToolSpecRegistry()
    executor = UnifiedToolExecutor(registry)
    for number, field in enumerate(("input_schema", "output_schema")):
        spec = a_spec(f"tool{number}", **{field: {"type": "objct"}}, origin=Place("elsewhere"))
        registry.register_spec(spec)
        result = await executor.try_execute(spec.name)
        assert (result.status, result.ok) == ("denied", False)


async def test_a_spec_that_was_changed_is_run_as_it_is_now() -> None:
    registry = a_registry(a_spec(description="old"))
    executor = UnifiedToolExecutor(registry)

    class Describing(BaseExecutor):
        async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
            return spec.description

    executor.executors.register("python", Describing())
    assert await executor.execute("echo") == "old"
    registry.unregister_spec("echo")
    registry.register_spec(a_spec(description="new"))

    assert await executor.execute("echo") == "new"


async def test_a_spec_that_only_moved_within_its_file_is_the_one_extensions_see() -> None:
    class Placing(Extension):
        async def after_execute(self, ctx: CallContext, result: ToolResult) -> ToolResult:
            return result.with_output(str(ctx.spec.origin))

    loader = ListLoader(a_spec(origin=Place("tools.yaml", 1)))
    registry = ToolSpecRegistry([loader])
    executor = UnifiedToolExecutor(registry, ExtensionManager([Placing()]))
    executor.executors.register("python", EchoExecutor())
    await registry.load_all()
    assert await executor.execute("echo") == "tools.yaml:1"

    loader.specs = [a_spec(origin=Place("tools.yaml", 2))]
    await registry.load_all()

    assert await executor.execute("echo") == "tools.yaml:2"


async def test_a_tool_is_made_ready_once_however_often_it_is_called() -> None:
    class Counting(EchoExecutor):
        bound = 0

        def bind(self, spec: ToolSpec) -> Any:
            self.bound += 1
            return super().bind(spec)

    counting = Counting()
    executor = an_executor(counting)

    for _ in range(3):
        await executor.execute("echo")

    assert counting.bound == 1


# Secrets


async def test_secrets_of_the_configuration_are_blanked_out_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "s3cret-value")
    spec = a_spec(implementation_config={"headers": [{"auth": "Bearer ${API_KEY}"}]})

    error = ToolExecutionError("401 for s3cret-value", hint="is s3cret-value right?", cause=ValueError("x"))
    executor = an_executor(raises(error), specs=[spec])

    with pytest.raises(ToolExecutionError) as caught:
        await executor.execute("echo")
    result = await executor.try_execute("echo")

    shown = [str(caught.value), repr(caught.value), caught.value.hint, result.model_dump_json(), result.for_agent()]
    shown += [event.model_dump_json() for event in await events_of(executor)]
    assert [text for text in shown if "s3cret" in text] == []
    assert caught.value.message == "401 for ***"


async def test_secrets_are_blanked_out_when_a_tool_cannot_be_made_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "s3cret-value")
    spec = a_spec(implementation_config={"key": "${API_KEY}"})

    result = await an_executor(Unready(ValueError("bad key s3cret-value")), specs=[spec]).try_execute("echo")

    assert result.error is not None
    assert result.error.message == "the tool cannot be made ready: ValueError: bad key ***"
