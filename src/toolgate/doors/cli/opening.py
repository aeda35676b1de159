"""What commands that work on a gateway share: `-f/--file`, `--json`, and opening it."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from toolgate.doors.cli.output import say_problem
from toolgate.errors import ConfigError, Place, Problem, ToolgateError

if TYPE_CHECKING:
    from toolgate.gateway import Gateway

File = Annotated[
    Path | None,
    Parameter(
        name=["--file", "-f"],
        help="The gateway's file or folder; without it, toolgate.yaml and tools.yaml in this folder.",
    ),
]
AsJson = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")]


@asynccontextmanager
async def opened(file: Path | None) -> AsyncIterator[Gateway]:
    """Open the gateway and close it again; sources that could not be loaded are named on standard error.

    Raises:
        ConfigError: Its files cannot be used as they are.
    """
    from toolgate.gateway import Gateway

    keep_logs_quiet()
    async with AsyncExitStack() as stack:
        with redirect_stdout(sys.stderr):  # an extension's module may print when it is imported
            gate = await stack.enter_async_context(Gateway.open(file))
        for problem in problems_of(gate.report.errors):
            say_problem(problem, ("warning: ", "bold yellow"))
        yield gate


def keep_logs_quiet() -> None:
    """Leave it to the command to say what went wrong: without a handler, logging would print it a second time."""
    logging.getLogger("toolgate").addHandler(logging.NullHandler())


def own_loader(file: Path | None) -> Any:
    """Return the loader of a gateway's own files; `.files()` lists them, and naming the first opens the gateway."""
    from toolgate.kinds import imported
    from toolgate.loaders import KINDS

    return imported(KINDS["file"]).of_gateway(file)


def problems_of(errors: tuple[ToolgateError, ...]) -> list[Problem]:
    """Return every problem in `errors`, its file as seen from this folder."""
    found: list[Problem] = []
    for error in errors:
        found += error.problems if isinstance(error, ConfigError) else [Problem(str(error))]
    return [replace(problem, place=problem.place and relative(problem.place)) for problem in found]


def relative(place: Place) -> Place:
    """Return `place` with its file as seen from this folder, if it is in it."""
    try:
        return replace(place, file=str(Path(place.file).relative_to(Path.cwd())))
    except ValueError:
        return place
