"""Who may talk to a local server: Host and Origin are checked before anything else sees a request.

A page on the web can make a browser send requests to this machine, even under a name of its own that it points here
(DNS rebinding). Such requests carry that name as Host, or the page as Origin; neither is let in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Self

from starlette.types import ASGIApp, Receive, Scope, Send

from toolgate.doors.problems import ProblemResponse
from toolgate.errors import ConfigError, Problem, one_line

_AUTHORITY = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
_ORIGIN = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/@?#\s]+)", re.ASCII)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


@dataclass(frozen=True, slots=True)
class Authority:
    """A host and, if it was given, a port; the host is lower case and an address is in its shortest form."""

    host: str
    port: str | None


@lru_cache(maxsize=256)
def parse_authority(text: str) -> Authority | None:
    """Return the host and port of a Host header, or None if it is not plainly one."""
    match = _AUTHORITY.fullmatch(text.lower())
    if match is None:
        return None
    name = match["name"]
    if name.startswith("["):
        try:
            name = f"[{IPv6Address(name[1:-1])}]"
        except ValueError:
            return None
    return Authority(name, match["port"] or None)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a page came from; a port that its scheme implies is filled in."""

    scheme: str
    host: str
    port: str | None


@lru_cache(maxsize=256)
def parse_origin(text: str) -> Origin | None:
    """Return the origin of an Origin header, or None if it is not plainly one."""
    match = _ORIGIN.fullmatch(text.lower())
    page = parse_authority(match["authority"]) if match else None
    if match is None or page is None:
        return None
    return Origin(match["scheme"], page.host, page.port or _DEFAULT_PORTS.get(match["scheme"]))


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Say whether `host` can only mean this machine: localhost, 127.0.0.0/8 or [::1]."""
    if host == "localhost":
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return address.is_loopback if isinstance(address, IPv4Address) else address == IPv6Address(1)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The hosts and origins that the operator listed."""

    hosts: frozenset[Authority] = frozenset()
    origins: frozenset[Origin] = frozenset()

    @classmethod
    def read(cls, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> Self:
        """Return them as they are compared.

        Raises:
            ConfigError: One of them is not a host or an origin, so nothing would ever match it.
        """
        named = {f"server.allowed_hosts[{at}]": (host, _listed_host(host)) for at, host in enumerate(hosts)}
        pages = {f"server.allowed_origins[{at}]": (page, parse_origin(page)) for at, page in enumerate(origins)}
        problems = [_no_host(path, text) for path, (text, host) in named.items() if host is None]
        problems += [_no_origin(path, text) for path, (text, page) in pages.items() if page is None]
        if problems:
            raise ConfigError(problems)
        return cls(
            frozenset(host for _, host in named.values() if host),
            frozenset(page for _, page in pages.values() if page),
        )


def _listed_host(text: str) -> Authority | None:
    return parse_authority(text) or parse_authority(f"[{text}]")


def _no_host(path: str, text: str) -> Problem:
    hint = "write a name or address, with a port if only that one is meant: gate.example.com or gate.example.com:8443"
    return Problem(f'"{one_line(text, 100)}" is not a host', path=path, hint=hint)


def _no_origin(path: str, text: str) -> Problem:
    hint = "write a scheme and a host, a port if it is not the usual one, and nothing behind: https://console.example"
    return Problem(f'"{one_line(text, 100)}" is not an origin', path=path, hint=hint)


class Guard:
    """ASGI middleware: lets in requests to this machine or a host the operator listed, from no page but their own."""

    def __init__(self, app: ASGIApp, allowed: Allowed) -> None:
        self.app, self.allowed = app, allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that must not come in; pass on all others."""
        refusal = self.refuse(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, send)

    def refuse(self, scope: Scope) -> ProblemResponse | None:
        """Return the answer to a request that must not come in, or None."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        host = parse_authority(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
        if host is None or not self._is_ours(host):
            detail = "This server does not answer under that name; list it under server.allowed_hosts if it should."
            return ProblemResponse(421, "host_not_allowed", detail)
        if origins and not (len(origins) == 1 and self._may_ask(parse_origin(origins[0].decode("latin-1")), host)):
            detail = "Pages of that origin may not call; list it under server.allowed_origins if they should."
            return ProblemResponse(403, "origin_not_allowed", detail)
        return None

    def _is_ours(self, asked: Authority) -> bool:
        listed = self.allowed.hosts
        return is_loopback(asked.host) or asked in listed or Authority(asked.host, None) in listed

    def _may_ask(self, page: Origin | None, host: Authority) -> bool:
        return page is not None and (page in self.allowed.origins or _is_own(page, host))


def _is_own(page: Origin, host: Authority) -> bool:
    """Say whether `page` came from the very host and port that it asks; another port is another site."""
    # This server speaks plain HTTP; whether a proxy in front of it speaks TLS, only the page knows.
    usual = "80" if is_loopback(host.host) else _DEFAULT_PORTS.get(page.scheme)
    return page.scheme in _DEFAULT_PORTS and (page.host, page.port) == (host.host, host.port or usual)
