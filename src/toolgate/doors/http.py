"""The REST door, and the one app that holds every HTTP door: parse, call the executor, render."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from toolgate import __version__
from toolgate.context import ToolContext
from toolgate.doors.guard import Allowed, Guard
from toolgate.doors.openapi import openapi_document
from toolgate.doors.page import first_page
from toolgate.doors.paging import Shelf
from toolgate.doors.problems import HttpProblem, JsonResponse, ProblemResponse, result_response, shutting_down, to_json
from toolgate.doors.requests import Exchanges, call_options, json_object
from toolgate.errors import ToolNotFoundError
from toolgate.spec import ToolSpec

if TYPE_CHECKING:
    from toolgate.gateway import Gateway

PAGE_SIZE = 100
LARGEST_PAGE = 1000


def create_app(gateway: Gateway) -> Starlette:
    """Return the app that serves an open gateway: REST under /v1, MCP at /mcp, a first page at /.

    Raises:
        ConfigError: A host or origin that the operator listed is none.
    """
    from toolgate.doors.mcp import McpDoor

    server = gateway.config.server
    # Read here: Starlette makes its middleware only when the first request comes.
    allowed = Allowed.read(server.allowed_hosts, server.allowed_origins)
    rest, mcp = RestDoor(gateway), McpDoor(gateway)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.serving_http():
            yield

    def drain() -> None:
        rest.draining = True
        mcp.end_streams()

    def abort() -> None:
        rest.calls.end()
        mcp.end_calls()

    app = Starlette(
        routes=[*rest.routes(), Route("/mcp", mcp)],
        middleware=[Middleware(Guard, allowed)],
        exception_handlers={
            HttpProblem: on_problem,
            HTTPException: on_http_exception,
            ClientDisconnect: on_disconnect,
            Exception: on_crash,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.drain, app.state.abort = drain, abort
    return app


class RestDoor:
    """The REST routes of one gateway; `draining` makes it say that it is no longer ready."""

    def __init__(self, gateway: Gateway) -> None:
        self.draining = False
        self.calls = Exchanges()
        self._gateway = gateway
        self._shelf = Shelf(gateway.registry, lambda: gateway.registry.visible(ToolContext()), self._render)
        self._openapi: bytes | None = None

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/v1/tools/{name}/call", self.call_tool, methods=["POST"]),
            Route("/v1/tools/{name}", self.show_tool),
            Route("/v1/tools", self.list_tools),
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            Route("/openapi.json", self.openapi),
            Route("/", self.first_page),
        ]

    async def call_tool(self, request: Request) -> Response:
        """Run a tool with the body as its arguments; a caller who hangs up cancels it."""
        name, context = request.path_params["name"], ToolContext(**call_options(request))
        args = await json_object(request)
        with self.calls.watch(request.receive) as watch:
            watch.listen()
            return result_response(await self._gateway.executor.try_execute(name, args, context))
        return shutting_down()

    async def list_tools(self, request: Request) -> Response:
        """Return a page of the tools: what a planner sees, and whether each can be called."""
        cursor = request.query_params.get("cursor")
        try:
            page = self._shelf.page(cursor, _limit(request.query_params.get("limit")))
        except ValueError as error:
            raise HttpProblem(400, "invalid_query", f"{error}.") from None
        tools, following = b",".join(page.items), to_json(page.next_cursor)
        return Response(b'{"tools":[%b],"next_cursor":%b}' % (tools, following), media_type="application/json")

    async def show_tool(self, request: Request) -> Response:
        """Return one tool, by name or name@version."""
        try:
            spec = self._gateway.registry.resolve(request.path_params["name"], ToolContext())
        except ToolNotFoundError as error:
            hint = f" {error.hint}" if error.hint else ""
            raise HttpProblem(404, error.code, f"{error.message}.{hint}") from None
        return Response(self._render(spec), media_type="application/json")

    async def healthz(self, _: Request) -> Response:
        """Say that the process is alive."""
        return JsonResponse({"status": "ok", "version": __version__})

    async def readyz(self, _: Request) -> Response:
        """Say whether calls should be sent here, and which sources could not be read."""
        report = self._gateway.report
        body = {
            "ready": not self.draining,
            "tools": len(self._shelf.specs),
            "revision": self._gateway.registry.revision,
            "problems": [str(error) for error in report.errors],
        }
        return JsonResponse(body, 503 if self.draining else 200)

    async def openapi(self, _: Request) -> Response:
        """Return the OpenAPI document of these routes."""
        if self._openapi is None:
            self._openapi = to_json(openapi_document())
        return Response(self._openapi, media_type="application/json")

    async def first_page(self, request: Request) -> Response:
        """Return the page a person sees first."""
        tools = [(spec, self._gateway.executor.unavailable(spec)) for spec in self._shelf.specs]
        return first_page(f"{request.url.scheme}://{request.url.netloc}", tools)

    def _render(self, spec: ToolSpec) -> bytes:
        return to_json(self._gateway.executor.describe(spec))


def _limit(text: str | None) -> int:
    if text is None:
        return PAGE_SIZE
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 0 < int(text) <= LARGEST_PAGE):
        raise ValueError(f"limit must be a whole number from 1 to {LARGEST_PAGE}")
    return int(text)


async def on_problem(_: Request, error: Exception) -> Response:
    """Answer a request that a door refused."""
    assert isinstance(error, HttpProblem)  # noqa: S101 - Starlette's handlers are typed for any exception
    return ProblemResponse(error.status, error.code, error.detail, error.headers)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Answer a request that no route takes."""
    assert isinstance(error, HTTPException)  # noqa: S101 - Starlette's handlers are typed for any exception
    if error.status_code == 405:
        detail = f"This address does not take {request.method}."
        return ProblemResponse(405, "method_not_allowed", detail, error.headers)
    return ProblemResponse(error.status_code, "no_such_route", "There is nothing at this address.", error.headers)


async def on_disconnect(_: Request, __: Exception) -> Response:
    """End a request whose caller left before its body was whole."""
    return Response(status_code=400)


async def on_crash(_: Request, __: Exception) -> Response:
    """Answer when the door itself broke; the server logs the exception that Starlette raises again behind this."""
    return ProblemResponse(500, "internal_error", "The gateway failed to handle this request; its log says why.")
