"""Which Host and Origin headers are let in, over a real socket; every route answers alike."""

import anyio
import httpx
import pytest

from toolgate.doors.guard import Guard, is_loopback, parse_authority

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
    "origin",
    [b"https://console.example", b"HTTPS://CONSOLE.EXAMPLE", b"https://gate.example", b"http://gate.example:99"],
)
async def test_listed_origins_and_pages_of_listed_hosts_may_call(base_url: str, origin: bytes) -> None:
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


async def test_two_host_headers_or_none_are_misdirected() -> None:
    guard = Guard(lambda scope, receive, send: anyio.lowlevel.checkpoint())
    twice = guard.refuse({"headers": [(b"host", b"localhost"), (b"host", b"localhost")]})
    never = guard.refuse({"headers": []})

    assert (twice and twice.status_code, never and never.status_code) == (421, 421)


def test_a_listed_address_may_be_written_without_brackets() -> None:
    guard = Guard(lambda scope, receive, send: anyio.lowlevel.checkpoint(), ["FD00:0::5", "not a host"])

    assert guard.refuse({"headers": [(b"host", b"[fd00::5]:80")]}) is None


def test_only_addresses_of_this_machine_are_loopback() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.9.9.9", "[::1]")] == [True] * 3
    assert [is_loopback(host) for host in ("10.0.0.1", "[::2]", "[::ffff:7f00:1]", "x", "")] == [False] * 5
    assert parse_authority("[::0001]:5") == parse_authority("[0:0::1]:5")
