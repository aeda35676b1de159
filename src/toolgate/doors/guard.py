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

from starlette.types import ASGIApp, Receive, Scope, Send

from toolgate.doors.problems import ProblemResponse

_AUTHORITY = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/@?#\s]+)", re.ASCII)
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


class Guard:
    """ASGI middleware: lets in requests to this machine or a host the operator listed, from no page but their own."""

    def __init__(self, app: ASGIApp, allowed_hosts: Iterable[str] = (), allowed_origins: Iterable[str] = ()) -> None:
        self.app = app
        listed = (parse_authority(host) or parse_authority(f"[{host}]") for host in allowed_hosts)
        self.hosts = {authority for authority in listed if authority is not None}
        self.origins = {origin.lower().rstrip("/") for origin in allowed_origins}

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
        if origins and not (len(origins) == 1 and self._may_ask(origins[0].decode("latin-1").lower(), host)):
            detail = "Pages of that origin may not call; list it under server.allowed_origins if they should."
            return ProblemResponse(403, "origin_not_allowed", detail)
        return None

    def _is_ours(self, asked: Authority) -> bool:
        return is_loopback(asked.host) or self._is_listed(asked)

    def _is_listed(self, asked: Authority) -> bool:
        return asked in self.hosts or Authority(asked.host, None) in self.hosts

    def _may_ask(self, origin: str, host: Authority) -> bool:
        if origin in self.origins:
            return True
        match = _ORIGIN.fullmatch(origin)
        page = parse_authority(match["authority"]) if match else None
        if match is None or page is None:
            return False
        # Another port of this machine is another site: it must be listed.
        same_port = (page.port or _DEFAULT_PORTS[match["scheme"]]) == (host.port or "80")
        return self._is_listed(page) or (is_loopback(page.host) and is_loopback(host.host) and same_port)
