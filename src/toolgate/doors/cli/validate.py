"""`toolgate validate`: every problem of a file, each at its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolgate.doors.cli.exits import Exit
from toolgate.doors.cli.opening import AsJson, File, keep_logs_quiet, own_loader, problems_of, relative
from toolgate.doors.cli.output import counted, print_json, say, say_problem
from toolgate.errors import ConfigError, Place, Problem


@dataclass(frozen=True, slots=True)
class Verdict:
    """What reading one gateway's files came to."""

    files: tuple[str, ...]
    tools: int
    problems: tuple[Problem, ...]


async def validate(
    *files: Annotated[Path, Parameter(help="The files or folders to check.")],
    file: File = None,
    as_json: AsJson = False,
) -> int:
    """Check files and point at every problem.

    All problems of a file are reported at once, one a line, as
    file:line:column, the key at fault, what is wrong, and how to mend it.
    Nothing that the tools name is imported or started. Exits with 1 if there
    are problems.

    For example
      toolgate validate
      toolgate validate gateway/tools.yaml more/*.yaml
      toolgate validate --json
    """
    named: tuple[Path | None, ...] = (*files, *((file,) if file else ()))
    verdicts = [await examine(each) for each in named or (None,)]
    problems = list(dict.fromkeys(problem for verdict in verdicts for problem in verdict.problems))
    if as_json:
        print_json({"ok": not problems, "problems": [problem.to_dict() for problem in problems]})
    else:
        _say(verdicts, problems)
    return Exit.FAILED if problems else Exit.OK


async def examine(file: Path | None) -> Verdict:
    """Read a gateway's files and the sources they name, without opening it."""
    from toolgate.registry import ToolSpecRegistry, gateway_loaders

    keep_logs_quiet()
    try:
        own = own_loader(file)
        files = tuple(relative(Place(str(path))).file for path in own.files())
        report = await ToolSpecRegistry(gateway_loaders(own)).load_all()
    except ConfigError as error:
        return Verdict((), 0, tuple(problems_of((error,))))
    return Verdict(files, report.specs, tuple(problems_of(report.errors)))


def _say(verdicts: list[Verdict], problems: list[Problem]) -> None:
    for problem in problems:
        say_problem(problem)
    for verdict in verdicts:
        if not verdict.problems:
            say([("OK ", "bold green"), (f"{counted(verdict.tools, 'tool')} in {', '.join(verdict.files)}", "")])
    if problems:
        say([(counted(len(problems), "problem"), "bold red")])
