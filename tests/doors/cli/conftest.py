import io
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.cli.typist import Ran, Toolgate, write_gateway
from toolgate.doors.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to type in; what tools it holds are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    path, handlers = list(sys.path), list(logging.getLogger("toolgate").handlers)
    yield tmp_path
    sys.path[:] = path
    logging.getLogger("toolgate").handlers = handlers
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def gateway(folder: Path) -> Path:
    """A folder with a gateway in it."""
    write_gateway(folder)
    return folder


@pytest.fixture
def toolgate(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Toolgate:
    """Types a command line in this process, in `folder`."""

    def typed(*words: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        code = main(words)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return typed
