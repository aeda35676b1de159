"""What a terminal, a pipe and an old encoding get to see."""

import fcntl
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.doors.cli.typist import Ran, one_tool, write_gateway
from toolgate.doors.cli import main


def on_a_terminal(*words: str, cwd: Path, columns: int = 80, **env: str) -> Ran:
    """Type a command line in a terminal of `columns` and return all it showed."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    unset = ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
    settings = {**{name: value for name, value in os.environ.items() if name not in unset}, "TERM": "xterm", **env}
    process = subprocess.Popen(
        [sys.executable, "-m", "toolgate", *words],
        cwd=cwd,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=settings,
    )
    os.close(terminal)
    shown = b""
    with open(controller, "rb", buffering=0) as screen, process:
        try:
            while chunk := screen.read(65536):
                shown += chunk
        except OSError:  # Linux's way of saying that the other side is closed
            pass
    return Ran(process.returncode, shown.decode().replace("\r\n", "\n"), "")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_a_list_is_cut_to_the_terminal_and_says_each_reason_once(folder: Path) -> None:
    tools = [
        f"{{name: tool_{number}, description: {'Do something. ' * 9}, tool_type: shell, "
        "implementation_config: {command: ls}}"
        for number in range(3)
    ]
    write_gateway(folder, f"tools: [{', '.join(tools)}]")

    shown = plain(on_a_terminal("list", cwd=folder, columns=80).out)
    wide = plain(on_a_terminal("list", cwd=folder, columns=300).out)

    assert max(map(len, shown.splitlines())) <= 80
    assert len([line for line in shown.splitlines() if line.startswith("tool_")]) == 3
    assert "..." in shown
    assert shown.count("3 unavailable: shell tools run only in a sandbox") == 1
    assert "..." not in wide


def test_a_terminal_gets_colours_unless_they_are_unwanted(gateway: Path) -> None:
    coloured = on_a_terminal("list", cwd=gateway).out
    plain_one = on_a_terminal("list", cwd=gateway, NO_COLOR="1").out
    dumb = on_a_terminal("list", cwd=gateway, TERM="dumb").out

    assert "\x1b[32mavailable" in coloured
    assert "\x1b[3" not in plain_one
    assert "\x1b" not in dumb


def test_json_is_indented_for_a_person(gateway: Path) -> None:
    shown = on_a_terminal("call", "echo", "a=1", "b=\x7f\u202e", cwd=gateway).out

    assert shown == '{\n  "a": 1,\n  "b": "\\u007f\\u202e"\n}\n'


def test_what_a_tool_returns_cannot_repaint_the_terminal(gateway: Path) -> None:
    shown = on_a_terminal("call", "say", "text=\x1b[2Jone\ttwo\nthree\x07", cwd=gateway).out

    assert "\\x1b[2Jone\ttwo\nthree\\x07\n" in shown
    assert "\x1b[2J" not in shown


def test_what_a_tool_fails_with_cannot_repaint_the_terminal(folder: Path) -> None:
    write_gateway(folder, one_tool("fail"))
    (folder / "cli_tools.py").write_text("def fail():\n    raise ValueError('\\x1b[2J')\n", "utf-8")

    shown = on_a_terminal("call", "fail", cwd=folder).out

    assert "\\x1b[2J" in shown
    assert "\x1b[2J" not in shown


def test_help_is_wrapped_to_the_terminal_with_names_in_their_column(folder: Path) -> None:
    shown = plain(on_a_terminal("call", "--help", cwd=folder, columns=60).out)
    options = shown.partition("Options\n")[2].partition("\n\n")[0].splitlines()

    assert max(map(len, options)) <= 60
    assert options[0].startswith("  -f, --file PATH    The gateway's file")
    assert options[1].startswith(" " * 21)


@pytest.mark.parametrize("words", [["show", "sweep"], ["doctor"]])
def test_nothing_is_wider_than_the_terminal(gateway: Path, words: list[str]) -> None:
    (gateway / "toolgate.yaml").write_text("server: {port: 1}\n", "utf-8")

    shown = plain(on_a_terminal(*words, cwd=gateway, columns=90).out)
    lines = [line for line in shown.splitlines() if str(Path(sys.prefix)) not in line and "site-packages" not in line]

    assert max(map(len, lines)) <= 90


def test_a_server_says_on_a_terminal_how_to_stop_it(gateway: Path) -> None:
    controller, terminal = pty.openpty()
    words = [sys.executable, "-m", "toolgate", "serve", "--port", "0"]
    with open(controller, "rb") as screen, subprocess.Popen(words, cwd=gateway, stdout=terminal) as process:
        os.close(terminal)
        shown = [screen.readline() for _ in range(6)]
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)

    assert b"Ctrl-C stops it" in shown[-1]
    assert process.returncode == 0


def test_a_server_started_by_hand_says_what_it_waits_for(gateway: Path) -> None:
    controller, terminal = pty.openpty()
    words = [sys.executable, "-m", "toolgate", "serve", "--stdio"]
    with (
        open(controller, "wb") as keyboard,
        subprocess.Popen(
            words, cwd=gateway, stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process,
    ):
        os.close(terminal)
        assert process.stderr is not None
        lines = [process.stderr.readline(), process.stderr.readline()]
        keyboard.write(b"\x04")
        keyboard.flush()
        process.wait(timeout=30)

    assert lines[1] == b"waiting for an MCP client's messages; `toolgate install` connects one\n"
    assert process.returncode == 0


@pytest.mark.parametrize("words", [["list"], ["--help"]])
def test_a_reader_that_leaves_early_is_no_error(gateway: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as gone:
        ran = subprocess.run(
            [sys.executable, "-m", "toolgate", *words],
            cwd=gateway,
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=50,
            check=False,
        )

    assert ran.stderr == b""


def in_ascii(*words: str) -> bytes:
    """Type a command line whose output goes to a stream that knows only ASCII."""
    sink = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(sink, "ascii")):
        assert main(words) == 0
        return sink.getvalue()


@pytest.mark.parametrize("words", [["list"], ["show", "echo"], ["call", "echo", "a=ü"], ["list", "--json"], ["--help"]])
def test_an_encoding_that_lacks_a_character_gets_an_escape(folder: Path, words: list[str]) -> None:
    write_gateway(folder, one_tool("echo", description="Größer → schöner 🙂"))

    assert in_ascii(*words).isascii()


def test_json_is_json_in_any_encoding(folder: Path) -> None:
    write_gateway(folder, one_tool("echo"))

    assert json.loads(in_ascii("call", "echo", "a=Größer")) == {"a": "Größer"}


def test_output_may_go_to_any_stream(gateway: Path) -> None:
    with redirect_stdout(io.StringIO()) as stream:
        main(["call", "add", "a=1"])

    assert stream.getvalue() == "11\n"
