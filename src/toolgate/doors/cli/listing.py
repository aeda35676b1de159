"""`toolgate list`: what there is, and whether it can be called."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from toolgate.doors.cli.exits import Exit
from toolgate.doors.cli.opening import AsJson, File, opened
from toolgate.doors.cli.output import one_line, print_json, print_rows, room, say, shortened, wrapped

if TYPE_CHECKING:
    from toolgate.spec import ToolSpec

HEADINGS = ("NAME", "TYPE", "DESCRIPTION", "STATUS")
Listed = tuple["ToolSpec", str | None]  # the spec, and why it cannot be called


async def list_tools(
    *,
    file: File = None,
    tool_type: Annotated[str | None, Parameter(name="--type", metavar="TYPE", help="Only tools of this type.")] = None,
    tag: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            metavar="TAG",
            help="Only tools with this tag; repeat it to ask for several.",
        ),
    ] = (),
    category: Annotated[str | None, Parameter(metavar="NAME", help="Only tools of this category.")] = None,
    as_json: AsJson = False,
) -> int:
    """List the tools and whether they can be called.

    No tool is imported or started to find out. --json prints what a planner
    sees of each tool, with its type, and why it is unavailable if it is.

    For example
      toolgate list
      toolgate list --type python --tag math
      toolgate list --json | jq -r '.[].name'
    """
    async with opened(file) as gate:
        specs = gate.registry.list_specs(tool_type=tool_type, category=category, tags=list(tag) or None)
        listed = [(spec, gate.executor.unavailable(spec)) for spec in specs]
        described = [gate.executor.describe(spec) for spec in specs] if as_json else []
    if as_json:
        print_json(described)
    elif not listed:
        say([("no tools", "dim")], sys.stderr)
    elif columns := room():
        _print_table(listed, columns)
    else:
        print_rows([HEADINGS, *_rows(listed)])
    return Exit.OK


def _rows(listed: list[Listed]) -> list[tuple[str, str, str, str]]:
    several = Counter(spec.name for spec, _ in listed)
    return [
        (
            spec.key if several[spec.name] > 1 else spec.name,
            str(spec.tool_type),
            one_line(spec.description),
            one_line(f"unavailable: {reason}") if reason else "available",
        )
        for spec, reason in listed
    ]


def _print_table(listed: list[Listed], columns: int) -> None:
    """Print one line a tool, its description cut to the terminal, and each reason once below."""
    rows = [(name, kind, about, status.partition(":")[0]) for name, kind, about, status in _rows(listed)]
    widths = [max(map(len, cells)) for cells in zip(HEADINGS, *rows, strict=True)]
    widths[2] = max(min(widths[2], columns - widths[0] - widths[1] - widths[3] - 6), len(HEADINGS[2]))
    lines = [("  ".join(title.ljust(width) for title, width in zip(HEADINGS, widths, strict=True)), "bold")]
    for row in rows:
        name, kind, about, _ = (shortened(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True))
        status = (row[3], "green" if row[3] == "available" else "yellow")
        lines += [(f"\n{name}", "cyan"), (f"  {kind}  {about}  ", ""), status]
    say(lines)
    for reason, count in Counter(reason for _, reason in listed if reason).items():
        say([(f"\n{count:,} unavailable: ", "yellow"), (wrapped(one_line(reason), 2 + len("unavailable: ")), "")])
