"""Writing files so that nobody ever finds half of one."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path


def create_all(files: Mapping[Path, str]) -> None:
    """Write every one of `files`, or none; the last one appears last.

    Raises:
        FileExistsError: One of them is there already.
        OSError: One of them cannot be written.
    """
    with ExitStack() as undo:
        for path, text in files.items():
            for folder in _missing_folders(path):
                folder.mkdir(exist_ok=True)
                undo.callback(_remove_folder, folder)
            _create(path, text)
            undo.callback(path.unlink)
        undo.pop_all()


def _missing_folders(path: Path) -> list[Path]:
    return [folder for folder in reversed(path.parents) if not folder.exists()]


def _remove_folder(folder: Path) -> None:
    # Somebody else may have put a file in it meanwhile.
    with suppress(OSError):
        folder.rmdir()


def _create(path: Path, text: str) -> None:
    with _draft(path, text) as draft:
        try:
            # Unlike a rename, a link never takes the place of a file that is there.
            os.link(draft, path)
        except FileExistsError:
            raise FileExistsError(errno.EEXIST, "it is there already", str(path)) from None
        except OSError:
            # A file system without links: the name is taken first, and then filled in one step.
            path.touch(exist_ok=False)
            draft.replace(path)


def replace_file(path: Path, text: str) -> None:
    """Put `text` in the place of whatever `path` holds, in one step; the file keeps its mode.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    with _draft(path, text) as draft:
        if path.exists():
            draft.chmod(path.stat().st_mode & 0o7777)
        draft.replace(path)


@contextmanager
def _draft(path: Path, text: str) -> Iterator[Path]:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)
