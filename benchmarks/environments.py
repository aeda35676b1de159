"""The peers' virtual environments: one each, from `peers/NAME.txt`, made when they are first needed."""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def python_of(peer: str) -> Path:
    """Return the interpreter of `peer`'s environment, made or brought up to date when its pins changed."""
    pins, home = HERE / "peers" / f"{peer}.txt", HERE / ".venvs" / peer
    python, stamp = home / "bin" / "python", home / ".pins"
    if not stamp.exists() or stamp.read_text("utf-8") != pins.read_text("utf-8"):
        print(f"installing {peer} into {home.relative_to(HERE.parent)}", file=sys.stderr)
        install(home, python, pins)
        shutil.copyfile(pins, stamp)
    return python


def install(home: Path, python: Path, pins: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", str(pins)], check=True)


def version_of(python: Path, distribution: str) -> str:
    """Return the version of `distribution` that `python` sees."""
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
