"""What `toolgate --help` and its like say, and how fast they can say it."""

import inspect
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, in_a_process
from toolgate import __version__
from toolgate.doors.cli.app import COMMANDS, build


def example_lines() -> list[str]:
    pages = [inspect.getdoc(command(name)) or "" for name in COMMANDS]
    lines = [line.strip() for page in pages for line in page.partition("For example\n")[2].splitlines()]
    return [re.sub(r".*\| (?=toolgate)| [|>] .*", "", line) for line in lines]


def command(name: str) -> object:
    module, _, attribute = COMMANDS[name][1].partition(":")
    return getattr(import_module(module), attribute)


def test_help_lists_the_commands_and_the_exit_codes(toolgate: Toolgate) -> None:
    ran = toolgate("--help")

    assert ran.code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in ran.out] == []
    assert "\n   78  the configuration must be mended\n" in ran.out


def test_no_words_at_all_get_the_help(toolgate: Toolgate) -> None:
    assert toolgate().out == toolgate("--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_with_examples_that_opens_as_the_list_says(toolgate: Toolgate, name: str) -> None:
    ran = toolgate(name, "--help")

    assert ran.code == 0
    assert f"\n\n{COMMANDS[name][0]}\n\n" in ran.out
    assert f"\nFor example\n  toolgate {name}" in ran.out
    assert "\nExit codes\n" in ran.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_works_on_a_gateway_takes_its_file_and_all_take_json(toolgate: Toolgate, name: str) -> None:
    page = toolgate(name, "--help").out

    assert "  --json " in page
    assert ("  -f, --file PATH " in page) == (name not in ("init", "schema"))


@pytest.mark.parametrize("line", example_lines())
def test_every_example_is_a_command_line_that_can_be_parsed(line: str) -> None:
    program, *words = shlex.split(line)

    build(words).parse_args(words, print_error=False, exit_on_error=False)

    assert program == "toolgate"


def test_help_in_a_pipe_is_neither_coloured_nor_wrapped(folder: Path) -> None:
    ran = in_a_process("call", "--help", cwd=folder, env={"COLUMNS": "40"})

    assert "\x1b" not in ran.out
    assert (
        "  -f, --file PATH    The gateway's file or folder; without it, toolgate.yaml and tools.yaml in this folder.\n"
        in ran.out
    )


@pytest.mark.parametrize("words", [["--version"], ["call", "--version"]])
def test_the_version_is_that_of_the_package(toolgate: Toolgate, words: list[str]) -> None:
    assert toolgate(*words).out == f"toolgate {__version__}\n"


def imported_by(words: list[str], folder: Path) -> set[str]:
    ran = in_a_process(*words, cwd=folder, env={"PYTHONPROFILEIMPORTTIME": "1"})
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.err.splitlines() if "|" in line}


def test_the_version_is_printed_without_any_library(folder: Path) -> None:
    assert (
        imported_by(["--version"], folder) & {"cyclopts", "rich", "pydantic", "asyncio", "importlib_metadata"} == set()
    )


def test_help_is_printed_without_the_core(folder: Path) -> None:
    heavy = {"pydantic", "anyio", "mcp", "httpx", "starlette", "sqlalchemy", "jsonschema", "jsonschema_rs", "yaml"}

    assert imported_by(["--help"], folder) & heavy == set()


@pytest.mark.parametrize("words", [["call", "add", "a=1"], ["list"]])
def test_commands_that_serve_nothing_import_no_server(gateway: Path, words: list[str]) -> None:
    assert imported_by(words, gateway) & {"mcp", "httpx", "starlette", "uvicorn", "sqlalchemy", "rich"} == set()


def test_an_unknown_command_is_refused_with_the_nearest_one(toolgate: Toolgate) -> None:
    ran = toolgate("lst")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err == 'error[usage]: there is no command "lst"\nhint: did you mean "list"?\n'


def test_an_unknown_command_like_no_other_is_sent_to_the_help(toolgate: Toolgate) -> None:
    assert toolgate("frobnicate").err.endswith("hint: see toolgate --help\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["list", "--jsn"], "Did you mean --json?"),
        (["list", "-f"], "-f requires an argument"),
        (["-f"], "a command is missing: -f cannot stand alone"),
        (["-f", "tools.yaml"], "a command is missing: -f cannot stand alone"),
        (["show"], "NAME requires an argument"),
        (["install", "emacs"], '"emacs" for CLIENT'),
        (["serve", "--port", "http"], "--port"),
        (["schema", "nothing"], '"nothing" for OF'),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_is_wrong(toolgate: Toolgate, words: list[str], told: str) -> None:
    ran = toolgate(*words)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error[usage]: ")
    assert told in ran.err
    assert "\nhint: " in ran.err
    assert "Traceback" not in ran.err
