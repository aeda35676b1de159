"""Shell tools: command templates are split when they are loaded, so that no value can become syntax."""

from typing import Any

import pytest

from tests.standins import a_spec
from toolgate import ToolContext, ToolUnavailableError
from toolgate.executors.shell import ShellExecutor, TemplateError, placeholders, split_template

pytestmark = pytest.mark.anyio


def faults(config: dict[str, Any], *arguments: str) -> list[Any]:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in arguments}}
    spec = a_spec(tool_type="shell", implementation_config=config, input_schema=schema)
    return list(ShellExecutor.check(spec))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("rm {path}", ["rm", "{path}"]),
        ("du -h --max-depth={depth} {path}", ["du", "-h", "--max-depth={depth}", "{path}"]),
        ("tar -f={file}", ["tar", "-f={file}"]),
        ("echo 'two words' \"{text}\"", ["echo", "two words", "{text}"]),
        ("ls $HOME/* ~", ["ls", "$HOME/*", "~"]),
        (["sh", "-c", "a | b"], ["sh", "-c", "a | b"]),
        (["cp", "{a}", "{b}", "{a}"], ["cp", "{a}", "{b}", "{a}"]),
    ],
)
def test_a_template_is_split_into_words(command: str | list[str], words: list[str]) -> None:
    assert split_template(command) == words


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("''", "empty"),
        ([], "empty"),
        ("{program} x", "comes from an argument"),
        ("/bin/{program}", "comes from an argument"),
        ("rm 'x", "cannot split the command"),
        ("rm x\\", "cannot split the command"),
        ("cat {a} | wc", "needs a shell"),
        ("a && b", "needs a shell"),
        ("a; b", "needs a shell"),
        ("a > b", "needs a shell"),
        ("a < b", "needs a shell"),
        ("a `b`", "needs a shell"),
        ("a $(b)", "needs a shell"),
        ("rm {path}.bak", "mixes text and placeholders"),
        ("rm x{path}", "mixes text and placeholders"),
        ("cp {a}{b}", "mixes text and placeholders"),
        ("x --o={a}{b}", "mixes text and placeholders"),
        ("x {0}", "is not a placeholder"),
        ("x {a.b}", "is not a placeholder"),
        ("x {}", "is not a placeholder"),
        ("x {a", "is not a placeholder"),
        ("x a}", "is not a placeholder"),
        (["ls", "a\0b"], "NUL"),
    ],
)
def test_a_template_that_cannot_be_used_safely_is_refused(command: str | list[str], says: str) -> None:
    with pytest.raises(TemplateError, match=says):
        split_template(command)


def test_the_placeholders_are_named_in_order() -> None:
    assert placeholders(["cp", "--to={b}", "{a}", "{b}"]) == ["b", "a", "b"]


def test_a_good_command_has_no_faults() -> None:
    assert faults({"command": "rm {path}"}, "path") == []


def test_a_placeholder_that_is_no_argument_is_a_fault_with_the_nearest_one() -> None:
    assert faults({"command": "rm {pth} {other}"}, "path") == [
        (("command",), "the placeholder {pth} is not a declared argument", 'did you mean "path"?'),
        (
            ("command",),
            "the placeholder {other} is not a declared argument",
            "declare it under input_schema.properties",
        ),
    ]


def test_properties_that_are_no_mapping_declare_nothing() -> None:
    spec = a_spec(tool_type="shell", implementation_config={"command": "rm {path}"}, input_schema={"properties": 5})

    assert len(list(ShellExecutor.check(spec))) == 1


def test_a_broken_template_is_a_fault_with_a_way_out() -> None:
    assert faults({"command": "a | b"}) == [
        (
            ("command",),
            '"|" needs a shell, and commands are run without one',
            "write one command, or put the pipeline in a script",
        )
    ]


@pytest.mark.parametrize(
    "config", [{}, {"comand": "ls"}, {"command": 5}, {"command": ["ls", ""]}, {"command": "ls", "x": 1}]
)
def test_a_configuration_without_a_proper_command_is_a_fault(config: dict[str, Any]) -> None:
    assert len(faults(config)) == 1


async def test_nothing_runs_a_command_as_long_as_there_is_no_sandbox() -> None:
    spec = a_spec(tool_type="shell", implementation_config={"command": "ls"})
    executor = ShellExecutor()

    assert "sandbox" in str(executor.unavailable(spec))
    with pytest.raises(ToolUnavailableError, match="sandbox"):
        await executor.execute(spec, {}, ToolContext())
