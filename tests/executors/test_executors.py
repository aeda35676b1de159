"""Which executor runs a tool, and what is said of tools that none can run."""

from pathlib import Path
from typing import Any

import pytest

from tests.standins import (
    EchoExecutor,
    a_registry,
    a_spec,
    an_executor,
)
from toolgate import (
    BaseExecutor,
    ConfigError,
    ToolContext,
    ToolPermissionError,
    ToolSpec,
    ToolUnavailableError,
    UnifiedToolExecutor,
)
from toolgate.executors import Executors
from toolgate.executors.python import PythonExecutor
from toolgate.executors.shell import ShellExecutor
from toolgate.kinds import Kinds

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("kind", ["http", "mcp", "skill", "custom", "sandbox", "graphql"])
async def test_a_tool_whose_type_nothing_runs_is_listed_with_the_reason_and_says_so_when_called(kind: str) -> None:
    executor = an_executor(specs=[a_spec(tool_type=kind)])
    reason = f'there is no executor for tools of type "{kind}"'

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code, result.error.message) == ("denied", "unavailable", reason)
    assert result.error.tool_name == "echo"
    assert executor.unavailable(executor.spec_registry.get_spec("echo")) == reason
    assert [spec.name for spec in executor.list_tools()] == ["echo"]
    info = executor.get_tool_info("echo")
    assert (info["available"], info["unavailable_reason"]) == (False, reason)
    with pytest.raises(ToolUnavailableError, match=kind):
        executor.executor_for("echo")


async def test_an_unavailable_tool_refuses_every_call_with_an_error_of_its_own() -> None:
    executor = an_executor(specs=[a_spec(tool_type="skill")])
    caught = []

    for _ in range(2):
        with pytest.raises(ToolUnavailableError) as each:
            await executor.execute("echo")
        caught.append(each.value)

    assert caught[0] is not caught[1]


async def test_an_unavailable_tool_still_needs_its_permissions_first() -> None:
    executor = an_executor(specs=[a_spec(tool_type="mcp")])

    with pytest.raises(ToolPermissionError):
        await executor.execute("echo", {}, ToolContext(granted_permissions=()))


async def test_a_shell_tool_is_refused_until_there_is_a_sandbox() -> None:
    executor = an_executor(specs=[a_spec(tool_type="shell", implementation_config={"command": "ls"})])

    denied = await executor.try_execute("echo")
    granted = await executor.try_execute("echo", {}, ToolContext(granted_permissions=("shell:execute",)))

    assert denied.error is not None
    assert granted.error is not None
    assert (denied.error.code, granted.error.code) == ("permission_denied", "unavailable")
    assert isinstance(executor.executor_for("echo"), ShellExecutor)


async def test_an_executor_can_be_registered_for_a_type_of_your_own() -> None:
    executor = an_executor(specs=[a_spec("query", tool_type="graphql")])
    assert (await executor.try_execute("query")).status == "denied"
    graphql = EchoExecutor()

    executor.executors.register("graphql", graphql)

    assert await executor.execute("query", {"q": "{me}"}) == {"q": "{me}"}
    assert executor.executor_for("query") is graphql
    assert executor.unavailable(executor.spec_registry.get_spec("query")) is None


async def test_an_executor_can_be_put_in_the_place_of_a_built_in_one() -> None:
    executor = UnifiedToolExecutor(a_registry(a_spec(implementation_config={"module": "no", "function_name": "no"})))
    assert isinstance(executor.executor_for("echo"), PythonExecutor)

    executor.executors.register("python", EchoExecutor())

    assert await executor.execute("echo", {"a": 1}) == {"a": 1}


async def test_looking_for_a_type_that_is_not_there_happens_once() -> None:
    class Counting(Kinds):
        looked = 0

        def find(self, name: str) -> Any:
            self.looked += 1
            return super().find(name)

    kinds = Counting("executors", {}, BaseExecutor)
    executors = Executors(kinds)

    assert [executors.get("graphql") for _ in range(3)] == [None, None, None]
    assert kinds.looked == 1


@pytest.mark.parametrize("source", ["raise ValueError('broken')", "x = 1", "import nowhere_at_all"])
async def test_a_plug_in_that_cannot_be_used_makes_its_tools_unavailable(tmp_path: Path, source: str) -> None:
    (tmp_path / "graphql.py").write_text(source)
    kinds = Kinds("executors", {}, BaseExecutor, [tmp_path])
    executor = UnifiedToolExecutor(a_registry(a_spec(tool_type="graphql")), executors=kinds)

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.status, result.error.code) == ("denied", "unavailable")
    assert "graphql.py" in result.error.message


class Unmakeable(EchoExecutor):
    def __init__(self) -> None:
        raise OSError("no licence")


class Unsure(EchoExecutor):
    def unavailable(self, spec: ToolSpec) -> str | None:
        raise OSError("cannot tell")


@pytest.mark.parametrize(("kind", "says"), [("Unmakeable", "no licence"), ("Unsure", "cannot tell")])
async def test_an_executor_that_breaks_makes_its_tools_unavailable(kind: str, says: str) -> None:
    kinds = Kinds("executors", {"own": f"{__name__}:{kind}"}, BaseExecutor)
    executor = UnifiedToolExecutor(a_registry(a_spec(tool_type="own")), executors=kinds)

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert (result.error.code, says in result.error.message) == ("unavailable", True)
    assert says in str(executor.unavailable(executor.spec_registry.get_spec("echo")))


async def test_an_executor_that_cannot_be_made_says_so() -> None:
    kinds = Kinds("executors", {"own": f"{__name__}:Unmakeable"}, BaseExecutor)

    with pytest.raises(ConfigError, match="no licence"):
        Executors(kinds).get("own")
