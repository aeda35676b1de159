"""`toolgate install`: the entry that makes an MCP client start this gateway, printed or written."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doors.cli.typist import Ran, Toolgate, write_gateway

CLIENTS = ["claude-desktop", "claude-code", "cursor", "vscode"]


def entry(gateway: Path) -> dict[str, Any]:
    args = ["-m", "toolgate", "serve", "--stdio", "-f", str(gateway / "tools.yaml")]
    return {"command": sys.executable, "args": args}


@pytest.fixture
def home(gateway: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of one's own, on Linux."""
    monkeypatch.setenv("HOME", str(gateway / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return gateway / "home"


def test_the_entry_is_printed_and_nothing_is_written(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("install", "cursor")

    assert ran.code == 0
    assert ran.json == {"mcpServers": {"toolgate": entry(gateway)}}
    assert str(gateway / ".cursor" / "mcp.json") in ran.err
    assert not (gateway / ".cursor").exists()


@pytest.mark.parametrize(
    ("client", "file", "written"),
    [
        ("claude-desktop", "home/.config/Claude/claude_desktop_config.json", {"mcpServers": {}}),
        ("claude-code", ".mcp.json", {"mcpServers": {"type": "stdio"}}),
        ("cursor", ".cursor/mcp.json", {"mcpServers": {}}),
        ("vscode", ".vscode/mcp.json", {"servers": {"type": "stdio"}}),
    ],
)
def test_write_puts_it_where_the_client_looks(
    gateway: Path, home: Path, toolgate: Toolgate, client: str, file: str, written: dict[str, dict[str, str]]
) -> None:
    ran = toolgate("install", client, "--write", "--name", "mine")

    ((key, kind),) = written.items()
    assert ran.code == 0
    assert json.loads((gateway / file).read_text("utf-8")) == {key: {"mine": {**kind, **entry(gateway)}}}
    assert f'"mine" is in {gateway / file}' in ran.out
    assert "next: " in ran.out


@pytest.mark.parametrize(
    ("platform", "variables", "file"),
    [
        ("darwin", {}, "home/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": "appdata"}, "appdata/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": ""}, "home/AppData/Roaming/Claude/claude_desktop_config.json"),
        ("linux", {"XDG_CONFIG_HOME": "xdg"}, "xdg/Claude/claude_desktop_config.json"),
    ],
)
def test_claude_desktop_keeps_it_elsewhere_on_each_system(
    gateway: Path,
    home: Path,
    toolgate: Toolgate,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    variables: dict[str, str],
    file: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, str(gateway / value) if value else "")
    monkeypatch.setattr(sys, "platform", platform)

    assert toolgate("install", "claude-desktop", "--json").json["path"] == str(gateway / file)


@pytest.mark.parametrize(
    ("client", "file"),
    [("cursor", ".cursor/mcp.json"), ("claude-desktop", ".config/Claude/claude_desktop_config.json")],
)
def test_global_means_the_home_folder(home: Path, toolgate: Toolgate, client: str, file: str) -> None:
    assert toolgate("install", client, "--global", "--json").json["path"] == str(home / file)


@pytest.mark.parametrize("client", ["claude-code", "vscode"])
def test_a_client_without_a_known_global_file_says_so(gateway: Path, toolgate: Toolgate, client: str) -> None:
    ran = toolgate("install", client, "--global")

    assert ran.code == 2
    assert "--path" in ran.err


def test_json_tells_what_was_done(gateway: Path, toolgate: Toolgate) -> None:
    (gateway / "config.json").write_text("{}", "utf-8")

    ran = toolgate("install", "vscode", "--write", "--path", "config.json", "--json")

    assert ran.json == {
        "client": "vscode",
        "path": str(gateway / "config.json"),
        "written": True,
        "backup": str(gateway / "config.json.bak"),
        "config": {"servers": {"toolgate": {"type": "stdio", **entry(gateway)}}},
    }


@pytest.fixture
def write(gateway: Path, toolgate: Toolgate) -> Toolgate:
    """Merges into `config.json`."""
    return lambda *more: toolgate("install", "cursor", "--write", "--path", "config.json", *more)


def test_everything_else_in_the_file_is_kept_and_the_old_one_beside_it(gateway: Path, write: Toolgate) -> None:
    other = {"command": "npx", "args": ["-y", "größer"], "env": {"N": 1.0}}
    before = json.dumps(
        {"theme": "dark", "mcpServers": {"other": other}, "last": None}, indent="\t", ensure_ascii=False
    )
    (gateway / "config.json").write_text(before, "utf-8")
    (gateway / "config.json").chmod(0o600)

    ran = write()

    after = (gateway / "config.json").read_text("utf-8")
    assert ran.code == 0
    assert json.loads(after) == {
        "theme": "dark",
        "mcpServers": {"other": other, "toolgate": entry(gateway)},
        "last": None,
    }
    assert list(json.loads(after)) == ["theme", "mcpServers", "last"]
    assert '\n\t"theme": "dark",\n' in after
    assert "größer" in after
    assert (gateway / "config.json").stat().st_mode & 0o777 == 0o600
    assert (gateway / "config.json.bak").read_text("utf-8") == before
    assert str(gateway / "config.json.bak") in ran.out


def test_the_same_entry_twice_changes_nothing(gateway: Path, write: Toolgate) -> None:
    write()
    before = (gateway / "config.json").read_bytes()

    assert write().code == 0
    assert (gateway / "config.json").read_bytes() == before
    assert not (gateway / "config.json.bak").exists()


def test_an_older_entry_of_toolgate_is_replaced_and_each_old_file_kept(gateway: Path, write: Toolgate) -> None:
    for folder in ("one", "two", "three"):
        write_gateway(gateway / folder)
        assert write("-f", folder).code == 0

    assert str(gateway / "three" / "tools.yaml") in (gateway / "config.json").read_text("utf-8")
    assert str(gateway / "one" / "tools.yaml") in (gateway / "config.json.bak").read_text("utf-8")
    assert str(gateway / "two" / "tools.yaml") in (gateway / "config.json.bak2").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{\n  // my servers\n  "mcpServers": {}\n}', "it is not plain JSON"),
        ('{"mcpServers": {},}', "it is not plain JSON"),
        ('{"a": 1, "a": 2}', 'the key "a" is given twice'),
        ("[]", "it is not a JSON object"),
        ('{"mcpServers": []}', '"mcpServers" in it is not an object'),
        ('{"mcpServers": {"toolgate": {"command": "npx", "args": ["-y", "x"]}}}', '"toolgate" in it is another server'),
        ('{"mcpServers": {"toolgate": {"url": "http://x"}}}', '"toolgate" in it is another server'),
        ('{"mcpServers": {"toolgate": 5}}', '"toolgate" in it is another server'),
        ("\xff", "it is not UTF-8"),
    ],
)
def test_a_file_that_would_lose_something_is_left_as_it_is(gateway: Path, write: Toolgate, text: str, why: str) -> None:
    (gateway / "config.json").write_bytes(text.encode("latin-1"))

    ran = write()

    assert ran.code == 1
    assert ran.err.startswith(f"error[refused]: {gateway / 'config.json'} was left as it is: ")
    assert why in ran.err
    assert "\nhint: " in ran.err
    assert (gateway / "config.json").read_bytes() == text.encode("latin-1")
    assert not (gateway / "config.json.bak").exists()


@pytest.mark.parametrize("text", ["", " \n", "\ufeff{}"])
def test_an_empty_file_or_one_with_a_mark_is_filled(gateway: Path, write: Toolgate, text: str) -> None:
    (gateway / "config.json").write_text(text, "utf-8")

    assert write().code == 0
    assert json.loads((gateway / "config.json").read_text("utf-8")) == {"mcpServers": {"toolgate": entry(gateway)}}


def test_a_link_stays_a_link(gateway: Path, write: Toolgate) -> None:
    (gateway / "real.json").write_text("{}", "utf-8")
    (gateway / "config.json").symlink_to("real.json")

    assert write().code == 0
    assert (gateway / "config.json").is_symlink()
    assert "toolgate" in (gateway / "real.json").read_text("utf-8")


def test_a_folder_in_the_place_of_the_file_is_an_error_and_not_a_crash(gateway: Path, write: Toolgate) -> None:
    (gateway / "config.json").mkdir()

    ran = write()

    assert ran.code == 1
    assert ran.err.startswith("error[failed]: ")


def test_without_a_gateway_there_is_nothing_to_connect(toolgate: Toolgate) -> None:
    ran = toolgate("install", "cursor")

    assert ran.code == 78
    assert "there is no such file; run `toolgate init` to write one" in ran.err


def test_the_settings_file_of_a_pair_is_the_one_named(gateway: Path, toolgate: Toolgate) -> None:
    (gateway / "toolgate.yaml").write_text("", "utf-8")

    args = toolgate("install", "cursor").json["mcpServers"]["toolgate"]["args"]

    assert args[-1] == str(gateway / "toolgate.yaml")


def test_started_as_a_program_the_program_itself_is_named(gateway: Path) -> None:
    program = gateway / "bin" / "toolgate"
    program.parent.mkdir()
    code = "import sys; from toolgate.doors.cli import main; sys.exit(main())"
    program.write_text(f"#!{sys.executable}\n{code}\n", "utf-8")
    program.chmod(0o755)

    env = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(
        ["toolgate", "install", "cursor"], cwd=gateway, env=env, capture_output=True, timeout=50, check=True
    )

    assert Ran(0, ran.stdout.decode(), "").json["mcpServers"]["toolgate"] == {
        "command": str(program),
        "args": ["serve", "--stdio", "-f", str(gateway / "tools.yaml")],
    }
