"""Which Host and Origin headers are let in, over a real socket; every route answers alike."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import httpx
import pytest

from toolgate import ConfigError, Gateway
from toolgate.doors.guard import Allowed, Guard, is_loopback, parse_authority
from toolgate.doors.serve import serve_http

PATHS = ["/", "/v1/tools", "/healthz", "/mcp", "/nothing"]


async def answer_to(base_url: str, path: str, *headers: bytes) -> tuple[int, str, str]:
    """Send a GET with these header lines and nothing else; return the status, the media type and the body."""
    url = httpx.URL(base_url)
    request = b"\r\n".join([f"GET {path} HTTP/1.1".encode(), *headers, b"Connection: close", b"", b""])
    async with await anyio.connect_tcp(url.host, url.port or 80) as stream:
        await stream.send(request)
        received = b""
        with anyio.fail_after(10):
            async for chunk in stream:
                received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    kind = next((line.split(b": ")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-type")), b"")
    return int(head.split()[1]), kind.decode(), body.decode()


@pytest.mark.parametrize(
    "host",
    [
        b"127.0.0.1",
        b"127.0.0.1:8642",
        b"127.0.0.1:",
        b"localhost",
        b"LOCALHOST:1",
        b"[::1]",
        b"[::1]:8642",
        b"[0:0:0:0:0:0:0:1]:8642",
        b"127.0.0.2:8642",
        b"gate.example",
        b"GATE.example:443",
        b"proxy.example:8443",
    ],
)
async def test_this_machine_and_listed_hosts_are_let_in(base_url: str, host: bytes) -> None:
    status, _, _ = await answer_to(base_url, "/healthz", b"Host: " + host)

    assert status == 200


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b"evil.example",
        b"127.0.0.1.evil.example",
        b"localhost.evil.example",
        b"localhost.",
        b"127.0.0.1.",
        b"evil.example:8642",
        b"gate.example.evil.example",
        b"xgate.example",
        b"sub.gate.example",
        b"proxy.example",
        b"proxy.example:443",
        b"localhost@evil.example",
        b"evil.example@localhost",
        b"user:pass@localhost:8642",
        b"localhost:8642@evil.example",
        b"localhost/evil",
        b"localhost:port",
        b"localhost:8642:8642",
        b"localhost:999999",
        b"http://localhost",
        b"localhost, evil.example",
        b"localhost evil.example",
        b"localhost\tx",
        b"::1",
        b"[::1",
        b"[::1]evil",
        b"[:::]",
        b"[::1%lo]",
        b"[::ffff:127.0.0.1]",
        b"[::ffff:7f00:1]",
        b"[::]",
        b"[fe80::1]",
        b"0.0.0.0",
        b"0",
        b"127.1",
        b"127.0.0.01",
        b"0x7f.0.0.1",
        b"0x7f000001",
        b"2130706433",
        b"017700000001",
        b"169.254.169.254",
        "１２７.0.0.1".encode(),
        "lоcalhost".encode(),
        b"\xff",
        b"-",
        b".",
        b"..",
        b"*",
        b"a" * 5000,
    ],
)
async def test_any_other_host_is_misdirected(base_url: str, host: bytes) -> None:
    status, kind, body = await answer_to(base_url, "/healthz", b"Host: " + host)

    assert (status, kind) == (421, "application/problem+json")
    assert '"code":"host_not_allowed"' in body


@pytest.mark.parametrize("path", PATHS)
async def test_every_route_is_guarded(base_url: str, path: str) -> None:
    host = await answer_to(base_url, path, b"Host: evil.example")
    origin = await answer_to(base_url, path, b"Host: localhost", b"Origin: https://evil.example")

    assert (host[0], origin[0]) == (421, 403)


def own_origin(base_url: str, name: str = "127.0.0.1") -> bytes:
    return f"http://{name}:{httpx.URL(base_url).port}".encode()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
async def test_the_gateways_own_page_may_call(base_url: str, name: str) -> None:
    origin = own_origin(base_url, name)

    status, _, _ = await answer_to(base_url, "/healthz", b"Host: " + origin[7:], b"Origin: " + origin)

    assert status == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (b"gate.example", b"https://gate.example"),
        (b"Gate.example", b"https://gate.example:443"),
        (b"gate.example:443", b"https://gate.example"),
        (b"gate.example", b"http://gate.example"),
        (b"gate.example:99", b"http://gate.example:99"),
        (b"proxy.example:8443", b"https://proxy.example:8443"),
        (b"localhost", b"http://localhost"),
        (b"[0::1]", b"http://[::1]:80"),
    ],
)
async def test_a_page_may_call_the_very_host_and_port_it_came_from(base_url: str, host: bytes, origin: bytes) -> None:
    status, _, _ = await answer_to(base_url, "/healthz", b"Host: " + host, b"Origin: " + origin)

    assert status == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (b"localhost", b"https://gate.example"),
        (b"gate.example", b"http://gate.example:99"),
        (b"gate.example:99", b"https://gate.example"),
        (b"gate.example", b"http://localhost"),
        (b"gate.example", b"https://proxy.example:8443"),
        (b"proxy.example:8443", b"https://proxy.example"),
        (b"127.0.0.1:8642", b"http://localhost:8642"),
        (b"localhost", b"https://localhost"),
        (b"gate.example", b"ftp://gate.example"),
    ],
)
async def test_a_page_of_another_host_or_port_must_be_listed_as_an_origin(
    base_url: str, host: bytes, origin: bytes
) -> None:
    status, _, _ = await answer_to(base_url, "/healthz", b"Host: " + host, b"Origin: " + origin)

    assert status == 403


@pytest.mark.parametrize(
    "origin", [b"https://console.example", b"HTTPS://CONSOLE.EXAMPLE", b"https://console.example:443"]
)
async def test_listed_origins_may_call(base_url: str, origin: bytes) -> None:
    status, _, _ = await answer_to(base_url, "/healthz", b"Host: localhost", b"Origin: " + origin)

    assert status == 200


@pytest.mark.parametrize(
    "origin",
    [
        b"",
        b"null",
        b"*",
        b"https://evil.example",
        b"http://127.0.0.1.evil.example",
        b"http://localhost.evil.example:{port}",
        b"http://localhost.:{port}",
        b"http://localhost:1",
        b"http://127.0.0.1",
        b"http://localhost:{port}/",
        b"http://localhost:{port}/path",
        b"http://localhost:{port}?x",
        b"http://localhost:{port}#x",
        b"http://evil@localhost:{port}",
        b"http://localhost:{port}@evil.example",
        b"ftp://localhost:{port}",
        b"file://",
        b"chrome-extension://localhost",
        b"localhost:{port}",
        b"//localhost:{port}",
        b"javascript:alert(1)",
        b"http://",
        b"http://[::1",
        b"http://[::ffff:127.0.0.1]:{port}",
        b"http://localhost:{port} http://evil.example",
        b"https://console.example:444",
        b"http://console.example",
        b"https://console.example.evil.example",
        b"\xff\xfe",
    ],
)
async def test_pages_of_any_other_origin_may_not_call(base_url: str, origin: bytes) -> None:
    own = own_origin(base_url)
    line = b"Origin: " + origin.replace(b"{port}", own.rpartition(b":")[2])

    status, kind, body = await answer_to(base_url, "/healthz", b"Host: " + own[7:], line)

    assert (status, kind) == (403, "application/problem+json")
    assert '"code":"origin_not_allowed"' in body


async def test_two_origins_are_one_too_many(base_url: str) -> None:
    line = b"Origin: " + own_origin(base_url)

    status, _, _ = await answer_to(base_url, "/healthz", b"Host: " + own_origin(base_url)[7:], line, line)

    assert status == 403


async def test_no_answer_invites_other_origins(base_url: str) -> None:
    url = httpx.URL(base_url)
    async with httpx.AsyncClient(trust_env=False) as client:
        headers = {"Origin": "https://console.example", "Access-Control-Request-Method": "POST"}
        answers = [await client.options(url.join(path), headers=headers) for path in ("/v1/tools", "/mcp")]

    assert [name for answer in answers for name in answer.headers if name.startswith("access-control")] == []


def a_guard(hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> Guard:
    return Guard(lambda scope, receive, send: anyio.lowlevel.checkpoint(), Allowed.read(hosts, origins))


async def test_two_host_headers_or_none_are_misdirected() -> None:
    guard = a_guard()
    twice = guard.refuse({"headers": [(b"host", b"localhost"), (b"host", b"localhost")]})
    never = guard.refuse({"headers": []})

    assert (twice and twice.status_code, never and never.status_code) == (421, 421)


def test_a_listed_address_may_be_written_without_brackets() -> None:
    guard = a_guard(["FD00:0::5"])

    assert guard.refuse({"headers": [(b"host", b"[fd00::5]:80")]}) is None


def test_an_origin_need_not_be_of_the_web() -> None:
    guard = a_guard(origins=["vscode-webview://Panel-1"])
    origin = (b"origin", b"vscode-webview://panel-1")

    assert guard.refuse({"headers": [(b"host", b"localhost"), origin]}) is None


NO_HOSTS = [
    "https://gate.example.com/",
    "https://gate.example.com",
    "not a host",
    "",
    "*",
    "*.example.com",
    "a:b",
    "a/",
]
NO_ORIGINS = ["https://gate.example.com/", "gate.example.com", "not an origin", "", "*", "null", "https://*", "http://"]


@pytest.mark.parametrize(
    ("key", "entry", "form"),
    [
        *(("allowed_hosts", host, "gate.example.com:8443") for host in NO_HOSTS),
        *(("allowed_origins", origin, "https://console.example") for origin in NO_ORIGINS),
    ],
)
def test_an_entry_that_could_never_match_is_refused_with_the_right_form(key: str, entry: str, form: str) -> None:
    good = {"allowed_hosts": "gate.example", "allowed_origins": "https://gate.example"}[key]
    lists = {"allowed_hosts": [], "allowed_origins": [], key: [good, entry]}

    with pytest.raises(ConfigError) as refused:
        a_guard(lists["allowed_hosts"], lists["allowed_origins"])

    (problem,) = refused.value.problems
    assert problem.path == f"server.{key}[1]"
    assert f'"{entry}" is not' in problem.message
    assert form in problem.hint


async def test_a_gateway_with_such_an_entry_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "toolgate.yaml").write_text('server: {allowed_origins: ["*"], allowed_hosts: ["a b"]}\n', "utf-8")
    async with Gateway.open(tmp_path) as gate:
        with pytest.raises(ConfigError) as refused:
            await serve_http(gate, "127.0.0.1", 0, pytest.fail)

    paths = [problem.path for problem in refused.value.problems]
    assert paths == ["server.allowed_hosts[0]", "server.allowed_origins[0]"]


def test_only_addresses_of_this_machine_are_loopback() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.9.9.9", "[::1]")] == [True] * 3
    assert [is_loopback(host) for host in ("10.0.0.1", "[::2]", "[::ffff:7f00:1]", "x", "")] == [False] * 5
    assert parse_authority("[::0001]:5") == parse_authority("[0:0::1]:5")
