"""Files are written whole or not at all, and nothing that is there is ever overwritten by creating."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from toolgate.doors.cli.files import create_all, replace_file


def everything_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_all_files_are_created_with_their_folders(tmp_path: Path) -> None:
    create_all({tmp_path / "a" / "b" / "one": "1", tmp_path / "two": "2"})

    assert everything_in(tmp_path) == ["a", "a/b", "a/b/one", "two"]


def test_when_one_cannot_be_created_the_others_are_taken_back(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine", "utf-8")

    with pytest.raises(FileExistsError) as caught:
        create_all({tmp_path / "a" / "b" / "one": "1", tmp_path / "two": "2", tmp_path / "taken": "3"})

    assert caught.value.filename == str(tmp_path / "taken")
    assert everything_in(tmp_path) == ["taken"]
    assert (tmp_path / "taken").read_text("utf-8") == "mine"


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not permitted")

    monkeypatch.setattr(os, "link", refuse)

    create_all({tmp_path / "one": "1"})
    with pytest.raises(FileExistsError):
        create_all({tmp_path / "two": "2", tmp_path / "one": "3"})

    assert everything_in(tmp_path) == ["one"]
    assert (tmp_path / "one").read_text("utf-8") == "1"


def test_text_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        create_all({tmp_path / "one": "1", tmp_path / "two": "half a character: \ud800"})

    assert everything_in(tmp_path) == []


def test_a_folder_that_somebody_else_uses_meanwhile_stays(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine", "utf-8")

    class Meanwhile(dict[Path, str]):
        def items(self) -> Any:
            yield tmp_path / "shared" / "ours", "1"
            (tmp_path / "shared" / "theirs").write_text("2", "utf-8")
            yield tmp_path / "taken", "3"

    with pytest.raises(FileExistsError):
        create_all(Meanwhile())

    assert everything_in(tmp_path) == ["shared", "shared/theirs", "taken"]


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("old", "utf-8")
    file.chmod(0o640)

    replace_file(file, "new")

    assert file.read_text("utf-8") == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert everything_in(tmp_path) == ["config"]


def test_a_file_that_cannot_be_replaced_is_still_there(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("old", "utf-8")

    with pytest.raises(UnicodeEncodeError):
        replace_file(file, "\ud800")

    assert file.read_text("utf-8") == "old"
    assert everything_in(tmp_path) == ["config"]
