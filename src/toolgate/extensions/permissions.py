"""The fixed first step of every call: what the caller may do, and whether a person must be asked."""

from __future__ import annotations

from collections.abc import Iterable

from toolgate.chain import Extension
from toolgate.context import CallContext, ToolContext
from toolgate.errors import ApprovalRequiredError, ToolPermissionError
from toolgate.spec import IMPLIED_PERMISSIONS, SideEffectClass, ToolPermission, ToolSpec

_WRITING = frozenset((ToolPermission.SHELL_EXECUTE.value, ToolPermission.FS_WRITE.value))


class PermissionsExtension(Extension):
    """Refuses calls whose caller lacks a permission, only reads, or would need an approval nobody can give."""

    def __init__(self, spec: ToolSpec, implied: Iterable[str], local: frozenset[str], *, can_approve: bool) -> None:
        super().__init__()
        # What the type implies holds whatever executor runs it: a stand-in for shell tools does not make them harmless.
        self._needed = frozenset((*spec.metadata.permissions, *IMPLIED_PERMISSIONS.get(spec.tool_type, ()), *implied))
        self._local = local
        self._writes = spec.side_effect_class is not SideEffectClass.PURE or bool(self._needed & _WRITING)
        self._needs_approval = (spec.metadata.requires_approval or spec.metadata.is_dangerous) and not can_approve

    async def before_execute(self, ctx: CallContext) -> None:
        """Let the call pass or refuse it."""
        caller = ctx.tool_context
        if self._needed and (missing := caller.missing(self._needed, self._local)):
            raise _lacking(ctx.spec, caller, missing)
        if caller.mode == "ask" and self._writes:
            raise _read_only(ctx.spec, caller)
        if self._needs_approval:
            raise ApprovalRequiredError(
                f"Tool {ctx.spec.name} needs the approval of a person, and nothing here can ask for it",
                tool_name=ctx.spec.name,
                hint="add an approval extension to the chain",
            )


def _lacking(spec: ToolSpec, caller: ToolContext, missing: list[str]) -> ToolPermissionError:
    return ToolPermissionError(
        f"Tool {spec.name} requires permissions {missing} not granted to agent {caller.agent_id}",
        tool_name=spec.name,
        hint="grant them in the call's context, or under local_permissions for callers on this machine",
    )


def _read_only(spec: ToolSpec, caller: ToolContext) -> ToolPermissionError:
    return ToolPermissionError(
        f"Tool {spec.name} may change something, and agent {caller.agent_id} is in ask mode (read-only)",
        tool_name=spec.name,
        hint="a tool that changes nothing says so with side_effect_class: pure",
    )
