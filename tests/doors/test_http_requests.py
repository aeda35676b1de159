"""What a call's request may hold: options in headers, and a body of strict JSON."""

from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.doors.standins import is_problem
from toolgate.doors.requests import MOST_BODY_BYTES

JSON = {"Content-Type": "application/json"}


# Options


async def test_options_travel_in_headers(rest: httpx.AsyncClient) -> None:
    headers = {
        "Toolgate-Session-Id": "s1",
        "Toolgate-Agent-Id": "a1",
        "Toolgate-Mode": "ask",
        "Toolgate-Timeout-Ms": "900",
    }

    output = (await rest.post("/v1/tools/whoami/call", headers=headers)).json()["output"]

    assert (output["session"], output["agent"], output["mode"], output["timeout_ms"]) == ("s1", "a1", "ask", 900)


async def test_a_call_over_its_time_is_a_504(rest: httpx.AsyncClient, tmp_path: Path) -> None:
    marker = tmp_path / "late"
    headers = {"Toolgate-Timeout-Ms": "50"}

    answer = await rest.post("/v1/tools/wait/call", json={"marker": str(marker)}, headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "timeout")
    assert marker.with_suffix(".cancelled").exists()


async def test_in_ask_mode_nothing_that_changes_anything_runs(rest: httpx.AsyncClient) -> None:
    refused = await rest.post("/v1/tools/fail/call", headers={"Toolgate-Mode": "ask"})
    allowed = await rest.post("/v1/tools/add/call", json={"a": 1}, headers={"Toolgate-Mode": "ask"})

    assert (refused.status_code, allowed.status_code) == (403, 200)


@pytest.mark.parametrize(
    "headers",
    [
        [("Toolgate-Timeout-Ms", "0")],
        [("Toolgate-Timeout-Ms", "-5")],
        [("Toolgate-Timeout-Ms", "1.5")],
        [("Toolgate-Timeout-Ms", "soon")],
        [("Toolgate-Timeout-Ms", "86400001")],
        [("Toolgate-Timeout-Ms", "9" * 5000)],
        [("Toolgate-Timeout-Ms", "5"), ("Toolgate-Timeout-Ms", "6")],
        [("Toolgate-Mode", "Agent")],
        [("Toolgate-Mode", "")],
        [("Toolgate-Session-Id", "")],
        [("Toolgate-Session-Id", "a b")],
        [("Toolgate-Agent-Id", "x" * 257)],
        [("Toolgate-Agent-Id", "é".encode())],
        [("Toolgate-Timout-Ms", "5")],
        [("Toolgate-Principal", "root")],
    ],
)
async def test_a_bad_option_is_refused(rest: httpx.AsyncClient, headers: Any) -> None:
    assert is_problem(await rest.post("/v1/tools/whoami/call", headers=headers), 400, "invalid_header")


async def test_a_misspelt_option_names_the_right_one(rest: httpx.AsyncClient) -> None:
    answer = await rest.post("/v1/tools/whoami/call", headers={"Toolgate-Timout-Ms": "5"})

    assert "toolgate-timeout-ms" in answer.json()["detail"]


# Bodies


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "malformed_json"),
        (b"a=1&b=2", "malformed_json"),
        (b'{"a": NaN}', "malformed_json"),
        (b'{"a": 1, "a": 2}', "malformed_json"),
        (b'{"a": 1} {}', "malformed_json"),
        (b'{"a": "\\ud800"}', "malformed_json"),
        (b'{"a": "\xff"}', "malformed_json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "malformed_json"),
        (b"[" * 100_000, "malformed_json"),
        (b'{"a": ' * 5000 + b"1" + b"}" * 5000, "malformed_json"),
        (b" ", "malformed_json"),
        (b"[1, 2]", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b"null", "not_an_object"),
    ],
)
async def test_a_body_that_is_not_an_object_of_strict_json_is_refused(
    rest: httpx.AsyncClient, body: bytes, code: str
) -> None:
    assert is_problem(await rest.post("/v1/tools/add/call", content=body, headers=JSON), 400, code)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/jsonp"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {**JSON, "Content-Encoding": "gzip"},
    ],
)
async def test_a_body_of_another_type_is_refused(rest: httpx.AsyncClient, headers: dict[str, str]) -> None:
    answer = await rest.post("/v1/tools/add/call", content=b'{"a": 1}', headers=headers)

    assert is_problem(answer, 415, "unsupported_media_type")


async def test_a_body_that_says_it_is_too_large_is_refused_unread(base_url: str) -> None:
    head = f"POST /v1/tools/add/call HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MOST_BODY_BYTES + 1}\r\n\r\n"

    answer = await raw_exchange(base_url, head.encode())

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"body_too_large"' in answer


async def test_a_body_that_turns_out_too_large_is_refused(base_url: str) -> None:
    head = b"POST /v1/tools/add/call HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"

    answer = await raw_exchange(base_url, head, *[chunk] * (MOST_BODY_BYTES // 65_536 + 1))

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"body_too_large"' in answer


async def test_a_body_of_the_largest_size_is_taken(rest: httpx.AsyncClient) -> None:
    body = b'{"a": 1}'.ljust(MOST_BODY_BYTES)

    answer = await rest.post("/v1/tools/add/call", content=body, headers=JSON)

    assert answer.status_code == 200


async def raw_exchange(base_url: str, *parts: bytes) -> bytes:
    """Send `parts` as they are; return everything that comes back until the server closes."""
    url = httpx.URL(base_url)
    async with await anyio.connect_tcp(url.host, url.port or 80) as stream:
        for part in parts:
            await stream.send(part)
        received = b""
        with anyio.fail_after(10):
            while True:
                try:
                    received += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return received
