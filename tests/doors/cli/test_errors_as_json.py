"""With --json, a program reads the errors too: on standard output, under the same exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.cli.typist import Toolgate, write_gateway


@pytest.mark.parametrize(
    "words", [["list"], ["show", "add"], ["call", "add", "a=1"], ["serve"], ["install", "cursor"], ["-f", ".", "list"]]
)
def test_problems_of_the_configuration_are_listed(folder: Path, toolgate: Toolgate, words: list[str]) -> None:
    if words[0] != "install":  # which reads no tools
        write_gateway(folder, "tools: 5\n")

    ran = toolgate(*words, "--json")

    assert (ran.code, ran.err) == (78, "")
    assert ran.json["ok"] is False
    assert [problem["file"] for problem in ran.json["problems"]] == ["tools.yaml"]
    assert all(problem["message"] for problem in ran.json["problems"])


def test_an_unknown_tool_is_an_error_with_its_code_and_hint(gateway: Path, toolgate: Toolgate) -> None:
    ran = toolgate("show", "ad", "--json")

    assert (ran.code, ran.err, ran.json["ok"]) == (3, "", False)
    assert ran.json["error"]["code"] == "not_found"
    assert ran.json["error"]["error_type"] == "NOT_FOUND"
    assert "add" in ran.json["error"]["hint"]


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["list", "--nothing"], "usage", 2),
        (["lst"], "usage", 2),
        (["call", "add", "a=1", "--timeout", "0"], "usage", 2),
        (["init"], "exists", 1),
        (["schema", "nothing"], "usage", 2),
    ],
)
def test_other_errors_say_what_they_would_have_said(
    gateway: Path, toolgate: Toolgate, words: list[str], code: str, status: int
) -> None:
    told, ran = toolgate(*words), toolgate(*words, "--json")

    assert (told.code, told.out) == (status, "")
    assert (ran.code, ran.err, ran.json["ok"]) == (status, "", False)
    assert f"error[{code}]: {ran.json['error']['message']}" in told.err
    assert (ran.json["error"]["code"], ran.json["error"]["hint"] in told.err) == (code, True)


def test_a_reader_that_is_gone_is_no_crash(folder: Path) -> None:
    source, sink = os.pipe()
    os.close(source)
    words = [sys.executable, "-m", "toolgate", "list", "--json"]
    ran = subprocess.run(words, cwd=folder, stdout=sink, stderr=subprocess.PIPE, timeout=50, check=False)
    os.close(sink)

    assert (ran.returncode, ran.stderr) == (1, b"")


def test_behind_two_hyphens_it_is_no_option(folder: Path, toolgate: Toolgate) -> None:
    ran = toolgate("call", "echo", "--", "--json")

    assert (ran.code, ran.out) == (78, "")
    assert ran.err.startswith("error[config]: ")
