"""`toolgate install`: the entry that makes an MCP client start this gateway, printed or written."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from toolgate.doors.cli.clients import CLIENTS, Client
from toolgate.doors.cli.exits import CommandError, Exit
from toolgate.doors.cli.files import replace_file
from toolgate.doors.cli.opening import AsJson, File, own_loader
from toolgate.doors.cli.output import print_json, say, to_json
from toolgate.strictjson import parse_json

ClientName = Literal["claude-desktop", "claude-code", "cursor", "vscode"]


def install(
    client: Annotated[ClientName, Parameter(help="The MCP client.")],
    /,
    *,
    file: File = None,
    write: Annotated[bool, Parameter(negative="", show_default=False, help="Merge it into the client's file.")] = False,
    name: Annotated[str, Parameter(help="What the client calls this gateway.")] = "toolgate",
    path: Annotated[Path | None, Parameter(help="The client's configuration file, if not the usual one.")] = None,
    everywhere: Annotated[
        bool, Parameter(name="--global", negative="", show_default=False, help="For all projects (Cursor).")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Connect an MCP client to this gateway.

    Prints the entry that makes the client start `toolgate serve --stdio` with
    this gateway's file, and says where it belongs. With --write it is merged
    into the client's configuration: everything else in there is kept, and the
    file as it was is kept beside it as .bak.

    For example
      toolgate install claude-desktop --write
      toolgate install cursor --global --write
      toolgate install vscode -f gateway/tools.yaml --name demo
    """
    chosen = CLIENTS[client]
    target = path.expanduser().absolute() if path else _usual_path(chosen, everywhere)
    command, args = _launch(own_loader(file).files()[0])
    servers = {name: chosen.entry(command, args)}
    backup = _merge(target, chosen.servers_key, servers) if write else None
    if as_json:
        print_json(
            {
                "client": client,
                "path": str(target),
                "written": write,
                "backup": str(backup) if backup else None,
                "config": {chosen.servers_key: servers},
            }
        )
    elif write:
        _say_written(chosen, target, name, backup)
    else:
        say(
            [(f"{chosen.title} reads this from ", ""), (str(target), "bold"), (" (--write merges it):", "")], sys.stderr
        )
        print(to_json({chosen.servers_key: servers}, indent=2))
    return Exit.OK


def _usual_path(client: Client, everywhere: bool) -> Path:
    if not everywhere:
        return client.path()
    if client.global_path is None:
        raise CommandError(f"toolgate knows no --global configuration of {client.title}", hint="name it with --path")
    return client.global_path()


def _launch(gateway: Path) -> tuple[str, list[str]]:
    """Return the command and arguments that start this very toolgate on `gateway` over stdio."""
    args = ["serve", "--stdio", "-f", str(gateway)]
    script = shutil.which(sys.argv[0]) if Path(sys.argv[0]).stem == "toolgate" else None
    if script:
        return str(Path(script).absolute()), args
    return sys.executable, ["-m", "toolgate", *args]


def _merge(path: Path, key: str, servers: Mapping[str, Any]) -> Path | None:
    """Merge `servers` into the file; return where the file as it was is kept, None if it was new or needs no change."""
    # A link to a file kept elsewhere stays a link.
    path = path.resolve()
    before = _read(path)
    config = _config(before, path)
    present = config.get(key, {})
    if not isinstance(present, dict):
        raise _refusal(path, f'"{key}" in it is not an object')
    merged = {**config, key: {**present, **servers}}
    if merged == config:
        return None
    for name in servers:
        _check_ours(path, name, present.get(name))
    backup = _back_up(path) if before is not None else None
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(merged, indent=_indent(before or ""), ensure_ascii=False) + "\n")
    return backup


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise _refusal(path, "it is not UTF-8") from None


def _config(text: str | None, path: Path) -> dict[str, Any]:
    if not (text or "").strip():
        return {}
    try:
        config = parse_json(text or "")
    except ValueError as error:
        raise _refusal(path, f"it is not plain JSON ({error}); comments would be lost") from None
    if not isinstance(config, dict):
        raise _refusal(path, "it is not a JSON object")
    return config


def _check_ours(path: Path, name: str, entry: Any) -> None:
    args = entry.get("args") if isinstance(entry, dict) else None
    if entry is not None and not (isinstance(args, list) and {"serve", "--stdio"} <= set(map(str, args))):
        raise _refusal(path, f'"{name}" in it is another server', hint="choose another --name")


def _refusal(
    path: Path, why: str, hint: str = "add the entry by hand: the same command without --write prints it"
) -> CommandError:
    return CommandError(f"{path} was left as it is: {why}", hint=hint, code="refused", status=Exit.FAILED)


def _back_up(path: Path) -> Path:
    numbers = ("", *(str(number) for number in range(2, 1000)))
    free = (path.with_name(f"{path.name}.bak{number}") for number in numbers)
    backup = next(name for name in free if not name.exists())
    shutil.copy2(path, backup)
    return backup


def _indent(text: str) -> int | str:
    """Return the indentation the file has already."""
    for line in text.splitlines():
        space = line[: len(line) - len(line.lstrip())]
        if space and line.strip():
            return space
    return 2


def _say_written(client: Client, path: Path, name: str, backup: Path | None) -> None:
    say([("ok  ", "green"), (f'"{name}" is in {path}', "")])
    if backup:
        say([(f"    the file as it was: {backup}", "dim")])
    say([(f"    next: {client.afterwards}", "dim")])
