"""Who is calling, and one call on its way down the road."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ConfigDict, Field, PositiveInt, PrivateAttr

from toolgate.spec import Noun, ToolSpec


class TraceContext(Noun):
    """Where a call stands in a trace; ids are W3C trace-context hex."""

    trace_id: str = Field(default_factory=lambda: secrets.token_hex(16))
    span_id: str = Field(default_factory=lambda: secrets.token_hex(8))
    parent_span_id: str | None = None
    depth: int = 0

    def child(self) -> TraceContext:
        """Return a new span one level below this one, in the same trace."""
        return TraceContext(trace_id=self.trace_id, parent_span_id=self.span_id, depth=self.depth + 1)


class ToolContext(Noun):
    """Who calls, with which rights and limits; every field has a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    session_id: str | None = None
    user_id: str | None = None
    instance_id: str | None = None
    agent_id: str = "anonymous"
    mode: Literal["agent", "ask"] = Field("agent", description='"ask" may read but never change anything.')
    principal: str | None = Field(None, description="Who the credential belongs to; set by doors, never by a body.")
    trace: TraceContext | None = None
    granted_permissions: tuple[str, ...] | None = Field(
        None, description="None means the gateway's local permissions, () means none."
    )
    working_directory: str | None = None
    timeout_ms: PositiveInt | None = None
    idempotency_key: str | None = None
    allowed_tools: frozenset[str] | None = Field(None, description="None means all; anything else is hidden.")
    conversation_id: str | None = None
    tool_call_id: str | None = None
    metadata: Mapping[str, Any] = Field(default_factory=dict)

    _extra: dict[str, Any] = PrivateAttr(default_factory=dict)

    def may_see(self, name: str) -> bool:
        """Return whether the allow-list lets this caller see the tool `name`."""
        return self.allowed_tools is None or name in self.allowed_tools

    def missing(self, needed: Iterable[str], local: frozenset[str]) -> list[str]:
        """Return, sorted, which of the permissions `needed` this caller lacks."""
        granted = local if self.granted_permissions is None else self.granted_permissions
        return sorted(str(permission) for permission in needed if permission not in granted)

    def set(self, key: str, value: Any) -> None:
        """Keep a value for tools called later with this same context."""
        self._extra[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        """Return what `set` kept under `key`, else the metadata's value, else `default`."""
        return self._extra.get(key, self.metadata.get(key, default))


_ANYONE = ToolContext()
_set = object.__setattr__


def anyone() -> ToolContext:
    """Return a new context of defaults for a call that came without one; cheaper than `ToolContext()`."""
    context = ToolContext.__new__(ToolContext)
    _set(context, "__dict__", _ANYONE.__dict__)
    _set(context, "__pydantic_fields_set__", _ANYONE.__pydantic_fields_set__)
    _set(context, "__pydantic_extra__", None)
    _set(context, "__pydantic_private__", {"_extra": {}})  # `set` writes here, so no two calls may share it
    return context


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call as extensions see it; frozen, but for `state`, which they share."""

    spec: ToolSpec
    args: dict[str, Any]
    tool_context: ToolContext
    call_id: str
    state: dict[str, Any] = field(default_factory=dict)
    journal: Any = field(default=None, repr=False, compare=False)  # where the executor writes the call's events

    def with_args(self, args: dict[str, Any]) -> CallContext:
        """Return the same call with other arguments."""
        return CallContext(self.spec, args, self.tool_context, self.call_id, self.state, self.journal)
