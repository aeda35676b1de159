"""The table of commands, and the one place where an error becomes a message and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from cyclopts import App, CycloptsError, Group, UnknownCommandError

from toolgate.doors.cli.exits import MEANING, CommandError, Exit, exit_for
from toolgate.doors.cli.help import HelpPage
from toolgate.doors.cli.opening import problems_of
from toolgate.doors.cli.output import complain, prepare_streams, print_json, say, say_problem, silence_stdout
from toolgate.errors import ConfigError, Problem, ToolError, ToolgateError, did_you_mean

ABOUT = """A spec-driven tool gateway for LLM agents: tools are data, every call takes one road.

For example
  toolgate init                      write a first tools.yaml
  toolgate call add a=1 b=2          call a tool
  toolgate serve                     serve REST and MCP on http://127.0.0.1:8642
  toolgate install cursor --write    let Cursor use these tools
  toolgate COMMAND --help            more about one command"""

# name -> (what it does, where it is); imported when it is typed.
COMMANDS = {
    "init": ("Write a first tools.yaml, ready to call.", "toolgate.doors.cli.init:init"),
    "validate": ("Check files and point at every problem.", "toolgate.doors.cli.validate:validate"),
    "list": ("List the tools and whether they can be called.", "toolgate.doors.cli.listing:list_tools"),
    "show": ("Show everything about one tool.", "toolgate.doors.cli.show:show"),
    "call": ("Call one tool and print its value.", "toolgate.doors.cli.call:call"),
    "serve": ("Serve the tools over HTTP and MCP.", "toolgate.doors.cli.serve:serve"),
    "schema": ("Print a JSON Schema.", "toolgate.doors.cli.schema:schema"),
    "doctor": ("Check this installation and this gateway.", "toolgate.doors.cli.doctor:doctor"),
    "install": ("Connect an MCP client to this gateway.", "toolgate.doors.cli.install:install"),
}

EXIT_CODES = "Exit codes\n" + "\n".join(f"  {status.value:>3}  {meaning}" for status, meaning in MEANING.items())


def run(words: Sequence[str]) -> int:
    """Carry out one command line and return its exit code; errors are printed, not raised."""
    prepare_streams()
    words = file_behind_command(words)
    try:
        code = _carry_out(words)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return Exit.FAILED
    except KeyboardInterrupt:
        say([("interrupted", "yellow")], sys.stderr)
        return Exit.INTERRUPTED
    return code


def _carry_out(words: Sequence[str]) -> int:
    try:
        return int(build(words)(words) or Exit.OK)
    except BrokenPipeError:
        raise
    except (CycloptsError, CommandError, ToolgateError, OSError) as error:
        return report(error, as_json=wants_json(words))


def build(words: Sequence[str]) -> App:
    """Return the cyclopts application with every command in it; only those in `words` will be imported."""
    app = App(
        name="toolgate",
        help=ABOUT,
        help_format="plaintext",
        help_formatter=HelpPage(),
        help_epilogue=EXIT_CODES,
        version=_version,
        group_commands=Group("Commands", sort_key=0),
        group_arguments=Group("Arguments", sort_key=1),
        group_parameters=Group("Options", sort_key=2),
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    for order, (name, (about, target)) in enumerate(COMMANDS.items()):
        # A help given here would hide the docstring, which is the command's own page.
        app.command(target, name=name, sort_key=order, help=None if name in words else about)
    return app


def _version() -> str:
    from toolgate import __version__

    return f"toolgate {__version__}"


def file_behind_command(words: Sequence[str]) -> list[str]:
    """Return `words` with a leading `-f FILE` moved behind the command, where the command expects it."""
    words = list(words)
    if words[:1] in (["-f"], ["--file"]) and len(words) > 2:
        return [words[2], *words[:2], *words[3:]]
    if len(words) > 1 and words[0].startswith("--file="):
        return [words[1], words[0], *words[2:]]
    return words


def wants_json(words: Sequence[str]) -> bool:
    """Return whether a program will read what is printed; with --stdio, standard output is for MCP alone."""
    words = list(words)
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options and "--stdio" not in options


def report(error: Exception, *, as_json: bool = False) -> int:
    """Print `error`, for a person or as JSON, and return the exit code it stands for."""
    if isinstance(error, ConfigError):
        (_print_problems if as_json else _say_problems)(problems_of((error,)))
        return Exit.CONFIG
    fault = fault_of(error)
    if as_json:
        print_json({"ok": False, "error": {key: value for key, value in asdict(fault).items() if key != "status"}})
    else:
        complain(fault.message, code=fault.code, hint=fault.hint, error_type=fault.error_type)
    return fault.status


def _print_problems(problems: Sequence[Problem]) -> None:
    print_json({"ok": False, "problems": [problem.to_dict() for problem in problems]})


def _say_problems(problems: Sequence[Problem]) -> None:
    for problem in problems:
        say_problem(problem, ("error[config]: ", "bold red"))


@dataclass(frozen=True, slots=True)
class Fault:
    """What there is to say about an error, and how the command ends."""

    status: Exit
    code: str
    message: str
    hint: str = ""
    error_type: str = ""


def fault_of(error: Exception) -> Fault:
    """Return what there is to say about `error`."""
    if isinstance(error, ToolError):
        kind = error.error_type.value
        return Fault(exit_for(error.code, kind), error.code, error.message, error.hint, kind)
    if isinstance(error, CommandError):
        return Fault(error.status, error.code, error.message, error.hint)
    if isinstance(error, CycloptsError):
        return Fault(Exit.USAGE, "usage", *_wrong_usage(error))
    return Fault(Exit.FAILED, "failed", str(error))


def _wrong_usage(error: CycloptsError) -> tuple[str, str]:
    command = " ".join(["toolgate", *(error.command_chain or ())])
    hint = f"see {command} --help"
    if not isinstance(error, UnknownCommandError):
        error.verbose = False
        return str(error), hint
    # Not asked for its own words: to suggest a command it would import them all.
    word = (error.unused_tokens or [""])[0]
    alone = f"a command is missing: {word} cannot stand alone"
    return alone if word[:1] == "-" else f'there is no command "{word}"', did_you_mean(word, COMMANDS) or hint
