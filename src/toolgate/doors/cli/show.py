"""`toolgate show`: everything about one tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from toolgate.context import ToolContext
from toolgate.doors.cli.exits import Exit
from toolgate.doors.cli.opening import AsJson, File, opened, relative
from toolgate.doors.cli.output import one_line, print_json, print_rows, say, to_json, to_yaml, wrapped
from toolgate.doors.cli.properties import TYPES, types_of
from toolgate.spec import IMPLIED_PERMISSIONS

if TYPE_CHECKING:
    from toolgate.spec import ToolSpec

_SHOWN = {
    "version",
    "category",
    "tags",
    "permissions",
    "requires_approval",
    "is_dangerous",
    "determinism_class",
    "side_effect_class",
    "deprecated",
}


async def show(
    name: Annotated[str, Parameter(help="The tool: name, name@1.2.0 or name@^1.")],
    /,
    *,
    file: File = None,
    as_json: AsJson = False,
) -> int:
    """Show everything about one tool.

    Where it was defined, its schemas, its permissions and how it is run.
    References such as ${TOKEN} are shown as they are written, never their values.

    For example
      toolgate show add
      toolgate show add@1.0.0 --json
    """
    async with opened(file) as gate:
        spec = gate.registry.resolve(name, ToolContext())
        reason = gate.executor.unavailable(spec)
        executor = gate.executor.executors.get(spec.tool_type)
    by_type = IMPLIED_PERMISSIONS.get(spec.tool_type, ())
    implied = sorted({str(each) for each in (*by_type, *(executor.implied_permissions if executor else ()))})
    if as_json:
        data = spec.model_dump(mode="json", by_alias=True)
        print_json({**data, "implied_permissions": implied, "available": reason is None, "unavailable_reason": reason})
    else:
        _print(spec, reason, implied)
    return Exit.OK


def _print(spec: ToolSpec, reason: str | None, implied: list[str]) -> None:
    say([(spec.name, "bold cyan"), (f"@{spec.version}", "dim")])
    say([(spec.description.strip(), "")])
    print()
    for title, fact in _facts(spec, reason, implied):
        say([(f"  {title:<14}", "dim"), (wrapped(fact, 16), "")])
    arguments = list(_arguments(spec.input_schema))
    if arguments:
        say([("\nArguments", "bold")])
        print_rows(arguments, indent="  ")
    for title, value in _documents(spec):
        say([(f"\n{title}", "bold")])
        say([(_indented(to_yaml(value)), "")])


def _facts(spec: ToolSpec, reason: str | None, implied: list[str]) -> Iterator[tuple[str, str]]:
    meta = spec.metadata
    yield "status", one_line(f"unavailable: {reason}") if reason else "available"
    yield "type", str(spec.tool_type)
    if spec.origin is not None:
        yield "defined in", str(relative(spec.origin))
    if meta.category:
        yield "category", one_line(meta.category)
    if meta.tags:
        yield "tags", one_line(", ".join(meta.tags))
    permissions = [*meta.permissions, *(f"{name} (as every {spec.tool_type} tool)" for name in implied)]
    yield "permissions", one_line(", ".join(permissions)) or "none needed"
    yield (
        "approval",
        "a person must agree to each call" if meta.requires_approval or meta.is_dangerous else "not needed",
    )
    yield "side effects", f"{meta.side_effect_class.value}, {meta.determinism_class.value}"
    yield "timeout", f"{spec.timeout:g} s, {spec.retries} retries"
    if meta.deprecated:
        yield "deprecated", one_line(str(meta.deprecated)) if meta.deprecated is not True else "yes"


def _arguments(schema: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        about = inner if isinstance(inner, dict) else {}
        default = f"= {to_json(about['default'])}" if "default" in about else ""
        needed = "required" if name in required else default
        yield one_line(name), _type(about, schema), one_line(needed), one_line(about.get("description", ""))


def _type(schema: dict[str, Any], root: dict[str, Any]) -> str:
    types = types_of(schema, root)
    # Every number may be whole.
    named = sorted(types - {"integer"} if "number" in types else types)
    return "any" if types == TYPES else " | ".join(named)


def _documents(spec: ToolSpec) -> Iterator[tuple[str, Any]]:
    yield "Input schema", spec.input_schema
    if spec.output_schema is not None:
        yield "Output schema", spec.output_schema
    if spec.implementation_config:
        yield "How it is run", spec.implementation_config
    if spec.examples:
        yield "Examples", [example.model_dump(mode="json", exclude_defaults=True) for example in spec.examples]
    rest = spec.metadata.model_dump(mode="json", exclude_defaults=True, exclude=_SHOWN)
    if rest:
        yield "More about it", rest


def _indented(text: str) -> str:
    return "  " + text.replace("\n", "\n  ")
