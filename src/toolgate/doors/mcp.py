"""The MCP door: the gateway's tools for any MCP client, over streamable HTTP and stdio, in both protocol eras.

The 2025-11-25 era has sessions: a change is told on each session's own channel. The 2026-07-28 era has none: every
request stands alone, a closed connection cancels it, and a change is told to those who listen (`subscriptions/listen`).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PARSE_ERROR, CallToolRequestParams, NotificationParams, PaginatedRequestParams
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from toolgate import __version__
from toolgate.context import ToolContext
from toolgate.doors.paging import PerRevision, Shelf
from toolgate.doors.problems import HttpProblem, JsonResponse, shutting_down
from toolgate.doors.requests import MOST_BODY_BYTES, Exchanges, call_options, replayed, whole_body
from toolgate.names import alias
from toolgate.reading import parse_json
from toolgate.result import ToolResult, jsonable
from toolgate.spec import ToolSpec

if TYPE_CHECKING:
    from toolgate.gateway import Gateway

PAGE_SIZE = 100
# A session that takes no notice for this long misses this one; the next change tells it again.
SECONDS_TO_TAKE_NOTICE = 5.0
# What the 2026-07-28 wire requires of every result; the older one drops it.
_COMPLETE = {"resultType": "complete"}
_NEVER_FRESH = {"ttlMs": 0, "cacheScope": "private"}

RequestContext = ServerRequestContext[Any, Any]
Json = dict[str, Any]


class _Server(Server[Any]):
    """The SDK's server, which says by itself that its list of tools changes."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, Json] | None = None,
        extensions: dict[str, Json] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class McpDoor:
    """One gateway as an MCP server; called as an ASGI app it serves streamable HTTP."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._shelf = Shelf(gateway.registry, self._callable_specs, self._render)
        self._repeated_in_headers = PerRevision(gateway.registry, self._find_repeated_in_headers)
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._sessions: set[Connection] = set()
        self._streams, self._calls = Exchanges(), Exchanges()
        self.server = self._build()
        # JSON answers: half the cost of a stream per call. Host and Origin are checked by the guard in front.
        self._http = StreamableHTTPSessionManager(
            self.server, json_response=True, max_request_body_size=MOST_BODY_BYTES
        )

    def _build(self) -> _Server:
        server = _Server(
            "toolgate",
            version=__version__,
            # Without it the SDK renders the whole list for every call, to look for arguments repeated in headers.
            get_tool_input_schema=lambda name: self._repeated_in_headers().get(name),
            on_subscriptions_listen=self._listening,
        )
        server.add_request_handler("tools/list", PaginatedRequestParams, self.list_tools)
        server.add_request_handler("tools/call", CallToolRequestParams, self.call_tool)
        server.add_notification_handler("notifications/initialized", NotificationParams, self._remember_session)
        return server

    async def list_tools(self, _: RequestContext, params: PaginatedRequestParams) -> Json:
        """Answer `tools/list` with a page of the tools that can be called."""
        try:
            page = self._shelf.page(params.cursor, PAGE_SIZE)
        except ValueError as error:
            raise MCPError(INVALID_PARAMS, f"Invalid cursor: {error}") from None
        following = {"nextCursor": page.next_cursor} if page.next_cursor is not None else {}
        return {"tools": page.items, **following, **_NEVER_FRESH, **_COMPLETE}

    async def call_tool(self, ctx: RequestContext, params: CallToolRequestParams) -> Json:
        """Answer `tools/call`; a failed call is a result the model can act on, an unknown tool a protocol error."""
        result = await self._gateway.executor.try_execute(params.name, params.arguments or {}, _context_of(ctx))
        if result.status == "denied" and result.error is not None and result.error.code == "not_found":
            # As the specification has it: the client named something that is not in the list it was given.
            raise MCPError(INVALID_PARAMS, result.for_agent())
        return tool_result(result)

    def _callable_specs(self) -> list[ToolSpec]:
        executor = self._gateway.executor
        specs = [spec for spec in self._gateway.registry.visible(ToolContext()) if executor.unavailable(spec) is None]
        bearers = Counter(alias(spec.name) for spec in specs)
        # Two tools with one alias are not offered: a client could not say which of them it means.
        return [spec for spec in specs if bearers[alias(spec.name)] == 1]

    def _render(self, spec: ToolSpec) -> Json:
        return self._gateway.registry.to_mcp_tools([spec.name])[0]

    def _find_repeated_in_headers(self) -> dict[str, Json]:
        found = [spec for spec in self._shelf.specs if "x-mcp-header" in json.dumps(spec.input_schema)]
        return {name: spec.input_schema for spec in found for name in (spec.name, alias(spec.name))}

    async def _remember_session(self, ctx: RequestContext, _: NotificationParams) -> None:
        # The SDK gives handlers no public way to their connection, whose end must be noticed.
        session = ctx.session._connection
        if session not in self._sessions:
            self._sessions.add(session)
            session.exit_stack.callback(self._sessions.discard, session)

    @asynccontextmanager
    async def announcing(self) -> AsyncIterator[None]:
        """Tell clients of every change of the catalogue for as long as the block runs."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def note() -> None:
            loop.call_soon_threadsafe(changed.set)  # specs may be registered from any thread

        forget = self._gateway.registry.on_change(note)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._announce, changed)
            try:
                yield
            finally:
                forget()
                tasks.cancel_scope.cancel()

    async def _announce(self, changed: asyncio.Event) -> None:
        while True:
            await changed.wait()
            changed.clear()
            await self._bus.publish(ToolsListChanged())
            async with anyio.create_task_group() as tasks:
                for session in list(self._sessions):
                    tasks.start_soon(_tell, session)

    @asynccontextmanager
    async def serving_http(self) -> AsyncIterator[None]:
        """Be ready to be called as an ASGI app for as long as the block runs."""
        async with self.announcing(), self._http.run():
            yield

    def end_streams(self) -> None:
        """End every stream that is open only to be told of changes; calls in progress go on."""
        self._listening.close()
        self._streams.end()

    def end_calls(self) -> None:
        """Cancel every call in progress."""
        self._calls.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        answer = _Answer(send)
        exchanges = self._streams if scope["method"] == "GET" else self._calls
        with exchanges.watch(receive) as watch:
            body = await whole_body(Headers(scope=scope), receive)
            # With a session, calls outlive a broken connection; the SDK watches over its streams itself.
            if _has_no_session(scope):
                watch.listen()
            await (_not_strict(body) or self._http.handle_request)(scope, replayed(body, receive), answer.send)
            return
        await answer.finish(scope, receive)


class _Answer:
    """An answer on its way, which may be cut short."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = self._whole = False

    async def send(self, message: Message) -> None:
        self._started = True
        self._whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def finish(self, scope: Scope, receive: Receive) -> None:
        """Send what is missing."""
        if not self._started:
            await shutting_down()(scope, receive, self._send)
        elif not self._whole:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


async def _tell(session: Connection) -> None:
    with anyio.move_on_after(SECONDS_TO_TAKE_NOTICE):
        await session.send_tool_list_changed()


def _has_no_session(scope: Scope) -> bool:
    versions = [value for name, value in scope["headers"] if name == b"mcp-protocol-version"]
    return bool(versions) and versions[0].decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS


def _context_of(ctx: RequestContext) -> ToolContext:
    client = ctx.session.client_params
    options = {"agent_id": client.client_info.name[:256]} if client is not None and client.client_info.name else {}
    if ctx.request is None:
        return ToolContext(**options)
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        options["session_id"] = ctx.request.headers.get("mcp-session-id")
    try:
        return ToolContext(**{**options, **call_options(ctx.request)})
    except HttpProblem as problem:
        raise MCPError(INVALID_PARAMS, problem.detail) from None


def _not_strict(body: bytes) -> JsonResponse | None:
    """Return the answer to a message that is not JSON as strictly as REST reads it, or None."""
    # The SDK takes NaN, numbers without end, half a surrogate pair, and the last of two values for one key.
    try:
        if body:
            parse_json(body)
    except ValueError as error:
        fault = {"code": PARSE_ERROR, "message": f"Parse error: {error}"}
        return JsonResponse({"jsonrpc": "2.0", "id": None, "error": fault}, 400)
    return None


def tool_result(result: ToolResult) -> Json:
    """Return a result as MCP has it: text for the model, and the data itself when it is an object."""
    content = [{"type": "text", "text": result.for_agent()}]
    answer = {"content": content, "isError": result.error is not None, **_COMPLETE}
    structured = jsonable(result.output) if result.error is None else None
    return {**answer, "structuredContent": structured} if isinstance(structured, dict) else answer


async def serve_stdio(gateway: Gateway, on_prepared: Callable[[dict[str, str]], None] = lambda _: None) -> None:
    """Serve an open gateway to the one client at stdin and stdout, until it leaves or a signal comes.

    `on_prepared` gets the tools that could not be made ready, and why.
    """
    from toolgate.doors.serve import handling_signals, prepare
    from toolgate.doors.stdio import stdio_streams

    door = McpDoor(gateway)
    with anyio.CancelScope() as serving:
        async with (
            handling_signals(gateway, serving.cancel),
            door.announcing(),
            stdio_streams() as (incoming, outgoing),
        ):
            on_prepared(await prepare(gateway))
            await door.server.run(incoming, outgoing, door.server.create_initialization_options())
