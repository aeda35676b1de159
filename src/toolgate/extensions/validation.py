"""The fixed step between authentication and everything that costs: arguments fit the schema, or the call ends here."""

from __future__ import annotations

from collections.abc import Mapping

from toolgate.chain import Extension
from toolgate.context import CallContext
from toolgate.errors import ToolValidationError
from toolgate.places import dotted
from toolgate.schema import CompiledSchema

VALIDATION_PRIORITY = 900


class ValidationExtension(Extension):
    """Fills in the schema's defaults and refuses arguments that break it."""

    priority = VALIDATION_PRIORITY

    def __init__(self, schema: CompiledSchema) -> None:
        super().__init__()
        self._schema = schema

    async def before_execute(self, ctx: CallContext) -> CallContext:
        """Return the call with a copy of its arguments, defaults filled in."""
        return ctx.with_args(validated(self._schema, ctx.args, ctx.spec.name))


def validated(schema: CompiledSchema, args: object, tool_name: str) -> dict[str, object]:
    """Return a copy of `args` with defaults filled in.

    Raises:
        ToolValidationError: They break the schema; `field` names the first part at fault.
    """
    if not isinstance(args, Mapping):
        raise ToolValidationError(
            f"arguments must be an object, got {type(args).__name__}", tool_name=tool_name, hint='pass {"name": value}'
        )
    try:
        whole = schema.with_defaults(args if type(args) is dict else dict(args))
    except RecursionError:
        raise ToolValidationError("arguments are nested too deeply", tool_name=tool_name) from None
    violations = schema.check(whole)
    if violations:
        first = violations[0]
        raise ToolValidationError(
            "; ".join(str(violation) for violation in violations),
            tool_name=tool_name,
            field=dotted(first.path) or None,
            hint="look at the tool's input_schema",
        )
    return whole
