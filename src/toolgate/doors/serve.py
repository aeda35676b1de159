"""Running the doors: a listening socket on this machine, and signals that stop or reload."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, redirect_stdout
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import anyio

from toolgate.errors import ConfigError, Problem

if TYPE_CHECKING:
    from toolgate.gateway import Gateway

SECONDS_TO_DRAIN = 30
BACKLOG = 2048
_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)  # as where there is no IPv6
_UVICORN: dict[str, Any] = {
    "lifespan": "off",  # entered here, so that its failure is an exception and not an exit
    "ws": "none",
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "proxy_headers": False,
    "timeout_graceful_shutdown": SECONDS_TO_DRAIN + 5,
}
log = logging.getLogger(__name__)

Address = tuple[socket.AddressFamily, str]
Faults = dict[str, str]  # why a tool is not ready, by its name


async def serve_http(
    gateway: Gateway,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    on_prepared: Callable[[Faults], None] = lambda _: None,
) -> None:
    """Serve an open gateway over HTTP until SIGTERM or SIGINT; SIGHUP reloads it.

    `on_prepared` gets the tools that could not be made ready, then `on_ready` the base address.

    Raises:
        ConfigError: The address is not this machine's, or cannot be listened on; or a host or origin that the operator
            listed is none.
    """
    sockets = listen(host, await loopback_addresses(host), port)
    try:
        await _serve(gateway, sockets, lambda: on_ready(base_url(host, sockets)), on_prepared)
    finally:
        for sock in sockets:
            sock.close()


async def prepare(gateway: Gateway) -> Faults:
    """Make every tool ready before it is called; returns, and logs, why some cannot be."""
    faults = await gateway.executor.prepare()
    for name, reason in faults.items():
        log.warning("%s is not ready: %s", name, reason)
    return faults


async def _prepare_quietly(gateway: Gateway) -> Faults:
    # What a module prints when it is imported must not come before the address.
    with redirect_stdout(sys.stderr):
        return await prepare(gateway)


async def _serve(
    gateway: Gateway,
    sockets: list[socket.socket],
    on_ready: Callable[[], None],
    on_prepared: Callable[[Faults], None],
) -> None:
    import uvicorn

    from toolgate.doors.http import create_app

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # uvicorn would end the process with the signal; the gateway still has to be closed.
            yield

    app = create_app(gateway)
    server = Server(uvicorn.Config(app, **_UVICORN))
    aborting: list[asyncio.TimerHandle] = []
    preparing = anyio.CancelScope()

    def stop() -> None:
        preparing.cancel()
        app.state.drain()
        # Asked twice, do not wait for calls in progress.
        wait = 0 if server.should_exit else SECONDS_TO_DRAIN
        aborting.append(asyncio.get_running_loop().call_later(wait, app.state.abort))
        server.should_exit = True

    try:
        async with handling_signals(gateway, stop), app.router.lifespan_context(app):
            with preparing:
                on_prepared(await _prepare_quietly(gateway))
            if not server.should_exit:
                await _until_stopped(partial(server.serve, sockets), stop)
    finally:
        for timer in aborting:
            timer.cancel()


async def _until_stopped(serve: Callable[[], Awaitable[None]], stop: Callable[[], None]) -> None:
    """Await `serve`; being cancelled means to stop it, and to wait until it has."""
    ended = anyio.Event()

    async def run() -> None:
        with anyio.CancelScope(shield=True):
            await serve()
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        try:
            await ended.wait()
        except anyio.get_cancelled_exc_class():
            stop()
            raise


async def loopback_addresses(host: str) -> Sequence[Address]:
    """Return the addresses `host` stands for.

    Raises:
        ConfigError: It stands for none, or for one that other machines can reach.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError([Problem(f'cannot resolve the host "{host}": {error}')]) from None
    addresses = list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))
    reachable = [address for _, address in addresses if not ip_address(address.partition("%")[0]).is_loopback]
    if reachable:
        raise ConfigError([_not_loopback(host, reachable[0])])
    return addresses


def _not_loopback(host: str, address: str) -> Problem:
    name = host if host == address else f"{host} ({address})"
    return Problem(
        f"refusing to listen on {name}: this version has no authentication yet, so any machine could call every tool",
        hint="listen on 127.0.0.1 and put a reverse proxy that authenticates in front of it; "
        "whoever comes through it is granted local_permissions, so keep those few",
    )


def listen(host: str, addresses: Sequence[Address], port: int) -> list[socket.socket]:
    """Return a listening socket for each address that this machine has, all on one port.

    Raises:
        ConfigError: The port is taken, not allowed or not one.
    """
    if not 0 <= port <= 65_535:
        raise ConfigError([Problem(f"there is no port {port}", hint="choose one from 0 to 65535")])
    sockets: list[socket.socket] = []
    try:
        for family, address in addresses:
            try:
                sockets.append(_listening_socket(family, address, port))
            except OSError as error:
                if error.errno not in _NOT_HERE or ((family, address) == addresses[-1] and not sockets):
                    raise
            else:
                port = sockets[0].getsockname()[1]
    except OSError as error:
        for sock in sockets:
            sock.close()
        raise ConfigError([_cannot_listen(host, port, error)]) from None
    return sockets


def _listening_socket(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    # With the protocol named: else asyncio leaves Nagle's algorithm on, and every answer waits 40 ms for an ACK.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


def _cannot_listen(host: str, port: int, error: OSError) -> Problem:
    if error.errno == errno.EADDRINUSE:
        return Problem(f"port {port} on {host} is already in use", hint="stop what uses it, or choose another port")
    return Problem(f"cannot listen on {host} port {port}: {error}")


def base_url(host: str, sockets: list[socket.socket]) -> str:
    """Return the address to call, as people write it."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{sockets[0].getsockname()[1]}"


@asynccontextmanager
async def handling_signals(gateway: Gateway, stop: Callable[[], None]) -> AsyncIterator[None]:
    """Call `stop` on SIGTERM and SIGINT, and reload the gateway on SIGHUP, while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can be told of signals
        return
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    handlers = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: asked.set}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_reload_when, asked, gateway)
            yield
            tasks.cancel_scope.cancel()
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)


async def _reload_when(asked: asyncio.Event, gateway: Gateway) -> None:
    while True:
        await asked.wait()
        asked.clear()
        try:
            report = await gateway.reload()
            changes = [f"{len(getattr(report, kind))} {kind}" for kind in ("added", "removed", "changed")]
            log.info("reloaded: %d tools (%s)", report.specs, ", ".join(changes))
            if report.errors:
                log.warning("not all of it could be used, and what could not stays as it was; /readyz says what")
            await prepare(gateway)
        except Exception:
            log.exception("reloading failed; the tools stay as they were")
