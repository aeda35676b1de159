"""The fixed first step: what the caller may do, and whether a person must be asked."""

from typing import Any

import pytest

from tests.standins import Approving, EchoExecutor, Recording, a_spec, an_executor, events_of, numbers, types_of
from toolgate import (
    ApprovalRequiredError,
    ExtensionPriority,
    ToolContext,
    ToolPermission,
    ToolPermissionError,
    ToolSpec,
    UnifiedToolExecutor,
)

pytestmark = pytest.mark.anyio

ALL = tuple(permission.value for permission in ToolPermission)


def everything_runs(*specs: ToolSpec, **options: Any) -> UnifiedToolExecutor:
    """Return an executor that runs tools of any type by echoing."""
    executor = an_executor(specs=specs, **options)
    for kind in ("shell", "http", "mcp"):
        executor.executors.register(kind, EchoExecutor())
    return executor


async def test_missing_permissions_are_refused_and_listed_in_order() -> None:
    spec = a_spec(metadata={"permissions": ["shell:execute", "env:read", "fs:write"]})
    context = ToolContext(agent_id="researcher", granted_permissions=("fs:write",))

    with pytest.raises(ToolPermissionError) as caught:
        await an_executor(specs=[spec]).execute("echo", {}, context)

    text = "Tool echo requires permissions ['env:read', 'shell:execute'] not granted to agent researcher"
    assert (caught.value.message, caught.value.code, caught.value.error_type) == (
        text,
        "permission_denied",
        "AUTH_FAILURE",
    )


@pytest.mark.parametrize("kind", ["python", "shell", "http", "mcp"])
async def test_what_was_granted_is_enough(kind: str) -> None:
    executor = everything_runs(a_spec(tool_type=kind, metadata={"permissions": list(ALL)}))

    assert await executor.execute("echo", {"a": 1}, ToolContext(granted_permissions=ALL)) == {"a": 1}


@pytest.mark.parametrize(
    ("kind", "needed"), [("shell", "shell:execute"), ("http", "net:outbound"), ("mcp", "mcp:connect")]
)
async def test_a_type_needs_its_permission_even_if_its_author_and_its_executor_forgot(kind: str, needed: str) -> None:
    executor = everything_runs(a_spec(tool_type=kind, metadata={"permissions": []}))
    others = ToolContext(granted_permissions=tuple(set(ALL) - {needed}))

    with pytest.raises(ToolPermissionError, match=needed):
        await executor.execute("echo", {}, others)
    assert await executor.execute("echo", {}, ToolContext(granted_permissions=(needed,))) == {}


async def test_an_executor_may_imply_permissions_for_a_type_of_its_own() -> None:
    class Reading(EchoExecutor):
        implied_permissions = (ToolPermission.ENV_READ,)

    executor = an_executor(specs=[a_spec(tool_type="vault")])
    executor.executors.register("vault", Reading())

    with pytest.raises(ToolPermissionError, match="env:read"):
        await executor.execute("echo")
    assert await executor.execute("echo", {}, ToolContext(granted_permissions=("env:read",))) == {}


@pytest.mark.parametrize("permission", ALL)
async def test_a_caller_whose_grants_are_not_given_has_the_local_ones(permission: str) -> None:
    executor = an_executor(specs=[a_spec(metadata={"permissions": [permission]})])

    result = await executor.try_execute("echo", {}, ToolContext())

    assert result.ok == (permission in {"fs:read", "net:outbound", "mcp:connect"})


async def test_the_local_permissions_are_the_operators_to_choose() -> None:
    spec = a_spec(metadata={"permissions": ["billing:charge"]})

    assert (await an_executor(specs=[spec], local_permissions=["billing:charge"]).try_execute("echo")).ok
    assert not (await an_executor(specs=[spec], local_permissions=[]).try_execute("echo")).ok


@pytest.mark.parametrize("permission", ALL)
async def test_a_caller_with_no_grants_has_none(permission: str) -> None:
    executor = an_executor(specs=[a_spec(metadata={"permissions": [permission]})], local_permissions=ALL)

    assert (await executor.try_execute("echo", {}, ToolContext(granted_permissions=()))).status == "denied"


@pytest.mark.parametrize(
    ("metadata", "kind", "runs"),
    [
        ({"side_effect_class": "pure"}, "python", True),
        ({"side_effect_class": "pure", "permissions": ["fs:read"]}, "python", True),
        ({"side_effect_class": "pure"}, "http", True),
        ({"side_effect_class": "pure", "permissions": ["fs:write"]}, "python", False),
        ({"side_effect_class": "pure", "permissions": ["shell:execute"]}, "python", False),
        ({"side_effect_class": "pure"}, "shell", False),
        ({"side_effect_class": "idempotent"}, "python", False),
        ({}, "python", False),
    ],
)
async def test_an_agent_in_ask_mode_never_changes_anything(metadata: dict[str, Any], kind: str, runs: bool) -> None:
    executor = everything_runs(a_spec(tool_type=kind, metadata=metadata))

    result = await executor.try_execute("echo", {}, ToolContext(mode="ask", granted_permissions=ALL, agent_id="a1"))

    assert result.ok == runs
    if result.error:
        assert (result.status, result.error.code) == ("denied", "permission_denied")
        assert "agent a1 is in ask mode" in result.error.message


@pytest.mark.parametrize("flag", ["requires_approval", "is_dangerous"])
async def test_a_tool_that_needs_approval_is_refused_when_nobody_can_give_it(flag: str) -> None:
    echo = EchoExecutor()
    executor = an_executor(echo, specs=[a_spec(metadata={flag: True})], extensions=[Recording()])

    with pytest.raises(ApprovalRequiredError) as caught:
        await executor.execute("echo")

    assert (caught.value.code, caught.value.error_type, echo.seen) == ("approval_required", "AUTH_FAILURE", [])
    assert await types_of(executor) == ["tool.denied"]


@pytest.mark.parametrize("flag", ["requires_approval", "is_dangerous"])
async def test_a_tool_that_needs_approval_is_left_to_the_extension_that_gives_it(flag: str) -> None:
    executor = an_executor(specs=[a_spec(metadata={flag: True})], extensions=[Approving()])

    assert await executor.execute("echo", {"a": 1}) == {"a": 1}


async def test_an_approval_extension_for_other_tools_does_not_count() -> None:
    class ForOthers(Approving):
        def applies_to(self, spec: ToolSpec) -> bool:
            return spec.name != "echo"

    executor = an_executor(specs=[a_spec(metadata={"is_dangerous": True})], extensions=[ForOthers()])

    assert (await executor.try_execute("echo")).status == "denied"


async def test_approval_is_needed_again_once_the_extension_is_gone() -> None:
    executor = an_executor(specs=[a_spec(metadata={"is_dangerous": True})], extensions=[Approving()])
    assert (await executor.try_execute("echo")).ok

    executor.remove_extension("Approving")

    assert (await executor.try_execute("echo")).status == "denied"


@pytest.mark.parametrize("priority", [ExtensionPriority.HIGHEST, 1_000_000, 10**30])
async def test_no_extension_comes_before_the_permissions(priority: int) -> None:
    early = Recording(priority=priority)
    executor = an_executor(specs=[a_spec(metadata={"permissions": ["fs:write"]})], extensions=[early])

    result = await executor.try_execute("echo")

    assert result.error is not None
    assert result.error.code == "permission_denied"
    assert (early.log, early.event_types) == ([], ["tool.denied"])


async def test_a_call_that_fails_several_steps_is_denied_by_the_first() -> None:
    """Permissions, then ask mode, then approval, then the arguments."""
    metadata = {"permissions": ["fs:write"], "is_dangerous": True}
    spec = a_spec(input_schema=numbers("a"), metadata=metadata)
    dangerous = a_spec("harmless", input_schema=numbers("a"), metadata={"is_dangerous": True})
    strict = a_spec("strict", input_schema=numbers("a"))
    executor = an_executor(specs=[spec, dangerous, strict])
    granted = ("fs:write",)

    async def why(name: str, context: ToolContext) -> str:
        result = await executor.try_execute(name, {"a": "wrong"}, context)
        assert result.error is not None
        return f"{result.error.code}: {result.error.message}"

    assert "not granted" in await why("echo", ToolContext(mode="ask", granted_permissions=()))
    assert "ask mode" in await why("echo", ToolContext(mode="ask", granted_permissions=granted))
    assert (await why("echo", ToolContext(granted_permissions=granted))).startswith("approval_required")
    assert (await why("harmless", ToolContext())).startswith("approval_required")
    assert (await why("strict", ToolContext())).startswith("invalid_arguments")


async def test_a_denial_leaves_its_reason_in_the_event() -> None:
    executor = an_executor(specs=[a_spec(metadata={"permissions": ["fs:write"]})])

    result = await executor.try_execute("echo")

    [denied] = await events_of(executor, result.call_id)
    assert result.error is not None
    assert denied.payload == {
        "tool_id": "echo@1.0.0",
        "tool_name": "echo",
        "code": "permission_denied",
        "reason": result.error.message,
        "outcome": "not_done",
    }
