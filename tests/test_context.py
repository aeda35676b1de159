"""Who is calling, and one call on its way."""

import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from pydantic import ValidationError

from tests.standins import a_spec
from toolgate import CallContext, ToolContext, TraceContext
from toolgate.context import anyone

LOCAL = frozenset(("fs:read", "net:outbound"))


def everything() -> ToolContext:
    """Return a context with nothing left at its default."""
    return ToolContext(
        session_id="s",
        user_id="u",
        instance_id="i",
        agent_id="a",
        mode="ask",
        principal="p",
        trace=TraceContext(parent_span_id="0" * 16, depth=2),
        granted_permissions=("fs:read",),
        working_directory="/srv",
        timeout_ms=5,
        idempotency_key="k",
        allowed_tools=frozenset(("sum",)),
        conversation_id="c",
        tool_call_id="t",
        metadata={"team": ["blue"]},
    )


def a_call(**fields: Any) -> CallContext:
    return CallContext(**{"spec": a_spec(), "args": {}, "tool_context": ToolContext(), "call_id": "1", **fields})


@pytest.mark.parametrize("context", [ToolContext(), everything(), ToolContext(session_id="123")], ids=str)
def test_a_context_survives_json_and_pickle(context: ToolContext) -> None:
    assert ToolContext.model_validate_json(context.model_dump_json()) == context
    assert pickle.loads(pickle.dumps(context)) == context


def test_every_field_of_a_context_has_a_default() -> None:
    default, full = ToolContext(), everything()

    assert default.agent_id == "anonymous"
    assert [field for field in ToolContext.model_fields if getattr(default, field) == getattr(full, field)] == []


def test_a_context_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        ToolContext().mode = "agent"  # type: ignore[misc]  # that is what is tested


@pytest.mark.parametrize(
    "wrong",
    [{"sesion_id": "1"}, {"mode": "root"}, {"timeout_ms": 0}, {"timeout_ms": -5}, {"granted_permissions": "fs"}],
)
def test_a_context_with_something_wrong_in_it_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ToolContext(**wrong)


def test_no_grants_given_means_the_local_ones_and_an_empty_list_means_none() -> None:
    needed = ["net:outbound", "shell:execute", "fs:read"]

    assert ToolContext().missing(needed, LOCAL) == ["shell:execute"]
    assert ToolContext(granted_permissions=()).missing(needed, LOCAL) == ["fs:read", "net:outbound", "shell:execute"]
    assert ToolContext(granted_permissions=("shell:execute",)).missing(needed, LOCAL) == ["fs:read", "net:outbound"]


def test_no_allow_list_shows_every_tool_and_an_empty_one_none() -> None:
    assert ToolContext().may_see("sum")
    assert not ToolContext(allowed_tools=frozenset()).may_see("sum")
    assert everything().may_see("sum")
    assert not everything().may_see("sums")


def test_what_was_set_is_got_before_the_metadata_and_the_default() -> None:
    context = ToolContext(metadata={"a": 1, "b": 2})
    context.set("b", 3)
    context.set("c", None)

    assert [context.get("a"), context.get("b"), context.get("c", 9), context.get("d"), context.get("d", 9)] == [
        1,
        3,
        None,
        None,
        9,
    ]


def test_two_contexts_share_nothing_that_was_set() -> None:
    one, other = ToolContext(), ToolContext()
    one.set("a", 1)

    assert other.get("a") is None


def test_a_caller_without_a_context_is_like_any_default_one_but_never_shared() -> None:
    one, other = anyone(), anyone()
    one.set("a", 1)

    assert other == ToolContext()
    assert other.get("a") is None
    assert ToolContext.model_validate_json(one.model_dump_json()) == ToolContext()
    assert pickle.loads(pickle.dumps(one)).get("a") == 1


def test_a_child_span_is_one_level_down_in_the_same_trace() -> None:
    parent = TraceContext()
    child = parent.child()

    assert (child.trace_id, child.parent_span_id, child.depth) == (parent.trace_id, parent.span_id, 1)
    assert child.span_id != parent.span_id
    assert (len(parent.trace_id), len(parent.span_id)) == (32, 16)
    assert int(parent.trace_id, 16) != int(TraceContext().trace_id, 16)
    assert TraceContext.model_validate_json(child.model_dump_json()) == child


def test_a_call_is_frozen_but_for_the_state_that_extensions_share() -> None:
    call = a_call()
    call.state["user"] = "me"

    with pytest.raises(FrozenInstanceError):
        call.args = {}  # type: ignore[misc]  # that is what is tested
    assert call.state == {"user": "me"}


def test_a_call_with_other_arguments_is_otherwise_the_same_call() -> None:
    call = a_call(state={"user": "me"}, journal=object())
    other = call.with_args({"a": 1})

    assert call.args == {}
    assert other.args == {"a": 1}
    assert replace(other, args={}) == call
    assert other.state is call.state
    assert other.journal is call.journal


def test_two_calls_do_not_share_their_state() -> None:
    assert a_call().state is not a_call().state
