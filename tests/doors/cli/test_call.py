"""`toolgate call`: one tool, called from the shell."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, in_a_process, one_tool, write_gateway


def test_a_call_prints_its_value(gateway: Path) -> None:
    ran = in_a_process("call", "add", "a=1", "b=2", cwd=gateway)

    assert (ran.code, ran.out, ran.err) == (0, "3\n", "")


def test_defaults_are_filled_in(gateway: Path, toolgate: Toolgate) -> None:
    assert toolgate("call", "add", "a=1").out == "11\n"


def test_text_is_printed_as_it_is_and_what_the_tool_prints_is_kept_out_of_it(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("call", "say", 'text={"größer": 1}\n\x1b[1m')

    assert ran.out == '{"größer": 1}\n\x1b[1m\n'
    assert ran.err == "printed by the tool\n"


def test_other_values_are_printed_as_json_on_one_line(gateway: Path, toolgate: Toolgate) -> None:
    assert toolgate("call", "echo", '{"ü": [1, null, true]}').out == '{"ü": [1, null, true]}\n'


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_value_that_was_cut_comes_with_a_warning(gateway: Path, toolgate: Toolgate, words: tuple[str, ...]) -> None:
    (gateway / "toolgate.yaml").write_text("extensions: [{use: 'cli_tools:Cutting'}]\n", "utf-8")

    ran = toolgate("call", "say", "text=whole", *words)

    assert ran.code == 0
    assert (ran.json["output"] if words else ran.out.rstrip()) == "who"
    assert ran.err.splitlines()[1:] == ["warning: the output is not whole: it was cut"]


def test_json_prints_the_whole_result(gateway: Path, toolgate: Toolgate) -> None:
    result = toolgate("call", "add", "a=1", "b=2", "--json").json

    assert result["status"] == "ok"
    assert result["output"] == 3
    assert result["error"] is None
    assert result["call_id"]


def test_json_prints_the_result_of_a_refused_call_too(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("call", "add", "a=x", "--json")

    assert ran.code == 2
    assert ran.err == ""
    assert ran.json["status"] == "denied"
    assert ran.json["error"]["field"] == "a"


def test_json_prints_arguments_that_cannot_even_be_read_as_a_result(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("call", "add", "a:={", "--json")

    assert ran.code == 2
    assert ran.json["status"] == "denied"
    assert ran.json["error"]["code"] == "invalid_arguments"
    assert ran.json["error"]["field"] == "a"


def test_an_unknown_tool_exits_with_3_and_the_nearest_name(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("call", "ad", "a=1")

    assert ran.code == 3
    assert ran.out == ""
    assert ran.err.startswith("error[not_found]: ")
    assert "(NOT_FOUND)" in ran.err
    assert 'hint: did you mean "add"?' in ran.err


def test_bad_arguments_exit_with_2_and_say_where_to_look(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("call", "add", "a=1", "c=2")

    assert ran.code == 2
    assert "c: " in ran.err
    assert "hint: `toolgate show add` lists the arguments it takes" in ran.err


def test_a_tool_that_fails_exits_with_1_and_without_a_stack_trace(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, one_tool("fail"))

    ran = toolgate("call", "fail")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error[execution_failed]: the disk is full (EXECUTION_ERROR)\n"


def test_a_missing_permission_exits_with_4(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, one_tool("echo", metadata={"permissions": ["fs:write"]}))

    ran = toolgate("call", "echo")

    assert ran.code == 4
    assert ran.err.startswith("error[permission_denied]: ")


def test_a_call_that_needs_approval_exits_with_4(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, one_tool("echo", metadata={"requires_approval": True}))

    ran = toolgate("call", "echo")

    assert ran.code == 4
    assert ran.err.startswith("error[approval_required]: ")


def test_a_tool_nothing_can_run_exits_with_6(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, one_tool("echo", tool_type="carrier_pigeon", implementation_config={}))

    ran = toolgate("call", "echo")

    assert ran.code == 6
    assert ran.err.startswith("error[unavailable]: ")


def test_a_late_tool_exits_with_5_even_if_it_never_returns(folder: Path) -> None:
    write_gateway(folder, one_tool("block_for_ever"))

    ran = in_a_process("call", "block_for_ever", "--timeout", "0.2", cwd=folder)

    assert ran.code == 5
    assert "error[timeout]: " in ran.err
    assert "(TIMEOUT)" in ran.err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e9", "x"])
def test_a_timeout_that_is_none_is_refused(gateway: Path, toolgate: Toolgate, seconds: str) -> None:
    ran = toolgate("call", "add", "a=1", "--timeout", seconds)

    assert ran.code == 2
    assert "--timeout" in ran.err


def test_options_say_who_calls_and_how(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, one_tool("context_seen", metadata={"side_effect_class": "pure"}))

    told = toolgate("call", "context_seen", "--session", "s1", "--agent", "a1", "--ask", "--timeout", "1.5")
    plain = toolgate("call", "context_seen")

    assert told.json == ["s1", "a1", "ask", 1500]
    assert plain.json == [None, "anonymous", "agent", None]


def test_ask_mode_refuses_what_changes_things(gateway: Path, toolgate: Toolgate) -> None:
    assert toolgate("call", "echo", "--ask").code == 4


def test_options_may_stand_before_between_and_behind_the_arguments(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("call", "--json", "add", "a=1", "--timeout", "9", "b=2")

    assert ran.json["output"] == 3


def test_a_version_can_be_named(gateway: Path, toolgate: Toolgate) -> None:
    assert toolgate("call", "add@^1", "a=1", "b=2").out == "3\n"
    assert toolgate("call", "add@2.0.0", "a=1").code == 3


@pytest.mark.parametrize(
    "words", [("-f", "there", "call"), ("--file=there", "call"), ("call", "-f", "there/tools.yaml")]
)
def test_the_gateway_can_be_named_before_or_behind_the_command(
    folder: Path, toolgate: Toolgate, words: tuple[str, ...]
) -> None:
    write_gateway(folder / "there")

    assert toolgate(*words, "add", "a=1", "b=2").out == "3\n"


def test_a_broken_configuration_exits_with_78_and_points_at_it(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, "tools:\n  - nme: add\n")

    ran = toolgate("call", "add")

    assert (ran.code, ran.out) == (78, "")
    assert "error[config]: tools.yaml:2:" in ran.err


def test_no_configuration_exits_with_78_and_says_how_to_begin(toolgate: Toolgate) -> None:
    ran = toolgate("call", "add")

    assert ran.code == 78
    assert ran.err == "error[config]: tools.yaml  there is no such file; run `toolgate init` to write one\n"


def test_a_source_that_cannot_be_loaded_is_a_warning_and_the_other_tools_work(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder)
    (folder / "toolgate.yaml").write_text("sources: [more.yaml]\n", "utf-8")
    (folder / "more.yaml").write_text("tools: 5\n", "utf-8")

    ran = toolgate("call", "add", "a=1")

    assert (ran.code, ran.out) == (0, "11\n")
    assert ran.err.startswith("warning: more.yaml:1:8  tools: ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("tool", "told"), [("wait_for_ever", b"cancelled\ninterrupted\n"), ("block_for_ever", b"interrupted\n")]
)
def test_ctrl_c_cancels_the_tool_and_exits_with_130(folder: Path, tool: str, told: bytes) -> None:
    write_gateway(folder, one_tool(tool))
    # A process that ignores Ctrl-C, as those in the background do, would pass that on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen([sys.executable, "-m", "toolgate", "call", tool], cwd=folder, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)

    with process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"running\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)

    assert (process.returncode, err) == (130, told)


def test_who_was_started_to_ignore_ctrl_c_goes_on_ignoring_it(gateway: Path, toolgate: Toolgate) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ran, handler = toolgate("call", "add", "a=1"), signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)

    assert (ran.code, handler) == (0, signal.SIG_IGN)
