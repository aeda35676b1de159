"""`toolgate init`: a first gateway, ready to call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolgate.config import file_schema
from toolgate.doors.cli.exits import CommandError, Exit
from toolgate.doors.cli.files import create_all
from toolgate.doors.cli.opening import AsJson
from toolgate.doors.cli.output import print_json, say, to_json
from toolgate.doors.cli.starter import MY_TOOLS, TOOLS_YAML


def init(
    folder: Annotated[Path, Parameter(help="Where to write; made if it is not there.")] = Path(),
    /,
    *,
    as_json: AsJson = False,
) -> int:
    """Write a first tools.yaml, ready to call.

    Three files: tools.yaml with two commented tools, my_tools.py with their
    functions, and the JSON Schema by which editors complete and check the
    first. Nothing that is there already is ever overwritten.

    For example
      toolgate init
      toolgate init my-gateway
    """
    files = {
        # tools.yaml comes last: where it is, the others are.
        folder / ".toolgate" / "tools.schema.json": to_json(file_schema(), indent=2) + "\n",
        folder / "my_tools.py": MY_TOOLS,
        folder / "tools.yaml": TOOLS_YAML,
    }
    _write(files)
    if as_json:
        print_json({"written": [str(path) for path in files]})
    else:
        _say_next(folder, list(files))
    return Exit.OK


def _write(files: dict[Path, str]) -> None:
    there = [str(path) for path in files if os.path.lexists(path)]
    if there:
        message = f"nothing was written: {', '.join(there)} {'are' if len(there) > 1 else 'is'} there already"
        hint = "name another folder, or move what is there away first"
        raise CommandError(message, hint=hint, code="exists", status=Exit.FAILED)
    create_all(files)


def _say_next(folder: Path, files: list[Path]) -> None:
    for path in files:
        say([("wrote ", "green"), (str(path), "")])
    enter = "" if folder == Path() else f"cd {folder} && "
    say([("\nnext: ", "bold"), (f"{enter}toolgate call add a=1 b=2", "cyan")])
