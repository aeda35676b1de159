"""`toolgate doctor`: what is in order, what is not, and what to do about it."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, in_a_process, one_tool, write_gateway
from toolgate import __version__
from toolgate.doors.cli import doctor


@pytest.fixture
def port(folder: Path) -> int:
    """A port that was free a moment ago, and the one the gateway serves on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    (folder / "toolgate.yaml").write_text(f"server: {{port: {number}}}\n", "utf-8")
    return number


@pytest.fixture
def taken(folder: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = int(server.getsockname()[1])
        (folder / "toolgate.yaml").write_text(f"server: {{port: {number}}}\n", "utf-8")
        yield number


def test_what_is_in_order_is_listed(gateway: Path, port: int) -> None:
    ran = in_a_process("doctor", cwd=gateway)

    assert (ran.code, ran.err) == (0, "")
    checks = {line[6:20].strip(): (line[:6].strip(), line[20:]) for line in ran.out.splitlines()}
    assert checks["python"] == ("ok", f"{sys.version.split()[0]} ({sys.executable})")
    assert checks["toolgate"][1].startswith(__version__)
    assert checks["mcp"][0] == "ok"
    assert checks["files"] == ("ok", "4 tools in toolgate.yaml, tools.yaml")
    assert checks["environment"] == ("ok", "TOOLGATE_ENV is not set")
    assert checks["python tools"] == ("ok", "3 targets imported")
    assert checks["shell tools"][0] == "warn"
    assert checks["shell tools"][1].startswith("1 tool unavailable: shell tools run only in a sandbox")
    assert checks["port"] == ("ok", f"127.0.0.1:{port} is free")


def test_json_lists_every_check(gateway: Path, port: int, toolgate: Toolgate) -> None:
    ran = toolgate("doctor", "--json")

    assert ran.code == 0
    assert ran.json["ok"] is True
    assert {"status": "ok", "check": "port", "message": f"127.0.0.1:{port} is free", "hint": ""} in ran.json["checks"]


def test_a_target_that_cannot_be_imported_fails(folder: Path, toolgate: Toolgate) -> None:
    config = {"module": "cli_tools", "function_name": "ad"}
    write_gateway(folder, one_tool("add", implementation_config=config))

    ran = toolgate("doctor")

    assert ran.code == 1
    assert "fail  python tools  add@1.0.0: cannot import cli_tools.ad: cli_tools has no ad\n" in ran.out
    assert 'did you mean "add"?' in ran.out
    assert "imported" not in ran.out


def test_what_a_module_prints_when_imported_is_kept_out_of_the_report(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, one_tool("echo"))
    (folder / "cli_tools.py").write_text("print('hello from the module')\ndef echo(): ...\n", "utf-8")

    ran = toolgate("doctor", "--json")

    assert ran.json["ok"] is True
    assert ran.err == "hello from the module\n"


def test_files_with_problems_fail_and_nothing_is_opened(folder: Path, toolgate: Toolgate) -> None:
    write_gateway(folder, "tools:\n  - nme: add\n")

    ran = toolgate("doctor")

    assert ran.code == 1
    assert "\nfail  files         tools.yaml:2:5  tools[0]: nme: " in ran.out
    assert "python tools" not in ran.out


def test_no_files_fail_with_what_to_do(toolgate: Toolgate) -> None:
    ran = toolgate("doctor")

    assert ran.code == 1
    assert "fail  files         tools.yaml  there is no such file; run `toolgate init` to write one\n" in ran.out


def test_a_taken_port_is_a_warning(gateway: Path, taken: int, toolgate: Toolgate) -> None:
    ran = toolgate("doctor")

    assert ran.code == 0
    assert f"\nwarn  port          127.0.0.1:{taken}: " in ran.out


def test_a_host_nobody_knows_is_a_warning(gateway: Path, toolgate: Toolgate) -> None:
    (gateway / "toolgate.yaml").write_text("server: {host: no-such-host.invalid}\n", "utf-8")

    assert "\nwarn  port          no-such-host.invalid:8642: " in toolgate("doctor").out


def test_an_overlay_is_named(gateway: Path, toolgate: Toolgate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGATE_ENV", "staging")

    alone = toolgate("doctor")
    (gateway / "tools.staging.yaml").write_text("tools: []\n", "utf-8")
    laid_over = toolgate("doctor")

    assert "warn  environment   TOOLGATE_ENV=staging, but no file is laid over the others\n" in alone.out
    assert "write tools.staging.yaml, or unset TOOLGATE_ENV\n" in alone.out
    assert "ok    environment   TOOLGATE_ENV=staging: tools.staging.yaml\n" in laid_over.out


def test_a_library_that_is_not_installed_is_a_warning(
    gateway: Path, toolgate: Toolgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(doctor.FEATURES, "flux", "time travel")

    ran = toolgate("doctor")

    assert ran.code == 0
    assert "warn  flux          not installed; time travel needs it\n" in ran.out
    assert " pip install flux\n" in ran.out
