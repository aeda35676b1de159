"""The OpenAPI 3.1 document of the HTTP doors, generated from the models that travel."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from toolgate import __version__
from toolgate.doors.problems import STATUS_OF_CODE
from toolgate.result import ToolResult
from toolgate.spec import LONGEST_TIMEOUT, ToolMetadata

Json = dict[str, Any]


class ToolEntry(BaseModel):
    """A tool: what a planner sees, and whether it can be called."""

    name: str
    description: str
    input_schema: Json = Field(description="JSON Schema of the arguments.")
    output_schema: Json | None = Field(description="JSON Schema of the output.")
    metadata: ToolMetadata
    tool_type: str = Field(description="The kind of executor that runs it.")
    available: bool = Field(description="Whether it can be called here and now.")
    unavailable_reason: str | None = Field(description="Why not.")


class ToolPage(BaseModel):
    """Some of the tools, in order of name."""

    tools: list[ToolEntry]
    next_cursor: str | None = Field(description="Asks for the next page; null on the last one.")


class Health(BaseModel):
    """The process is alive."""

    status: str
    version: str


class Readiness(BaseModel):
    """Whether calls should be sent here."""

    ready: bool
    tools: int = Field(description="How many tools are offered.")
    revision: int = Field(description="Moves whenever the catalogue changes.")
    problems: list[str] = Field(description="What could not be read; the tools read before stay.")


class ProblemDetails(BaseModel):
    """What was wrong with a request (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable: programs may branch on it.")


_MODELS = (ToolEntry, ToolPage, ToolResult, Health, Readiness, ProblemDetails)
_NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The tool's name, alias, or name@version.",
    "schema": {"type": "string"},
}


def openapi_document() -> Json:
    """Return the document; every route of the app is in it."""
    _, schemas = models_json_schema([(model, "serialization") for model in _MODELS], ref_template=_ref("{model}"))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "toolgate",
            "version": __version__,
            "summary": "Every tool down one road.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/v1/tools": {"get": _list_tools()},
            "/v1/tools/{name}": {"get": _show_tool()},
            "/v1/tools/{name}/call": {"post": _call_tool()},
            "/healthz": {"get": _plain("healthz", "Whether the process is alive", "Health")},
            "/readyz": {"get": _readyz()},
            "/openapi.json": {"get": _openapi()},
            "/": {"get": _page()},
            "/mcp": {"post": _mcp("mcpPost"), "get": _mcp("mcpGet"), "delete": _mcp("mcpDelete")},
        },
        "components": {"schemas": schemas["$defs"]},
    }


def _ref(model: str) -> str:
    return f"#/components/schemas/{model}"


def _answer(description: str, model: str, media_type: str = "application/json") -> Json:
    return {"description": description, "content": {media_type: {"schema": {"$ref": _ref(model)}}}}


def _problem(description: str) -> Json:
    return _answer(description, "ProblemDetails", "application/problem+json")


def _operation(operation_id: str, summary: str, responses: Json, **more: Any) -> Json:
    refused = {
        "403": _problem("The Origin header is not allowed."),
        "421": _problem("The Host header is not allowed."),
        "500": _problem("The gateway failed."),
    }
    return {"operationId": operation_id, "summary": summary, **more, "responses": {**refused, **responses}}


def _plain(operation_id: str, summary: str, model: str) -> Json:
    return _operation(operation_id, summary, {"200": _answer(summary, model)})


def _list_tools() -> Json:
    parameters = [
        {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}},
        {
            "name": "cursor",
            "in": "query",
            "description": "next_cursor of the page before.",
            "schema": {"type": "string"},
        },
    ]
    responses = {"200": _answer("A page of tools.", "ToolPage"), "400": _problem("A bad limit or cursor.")}
    return _operation("listTools", "List the tools", responses, parameters=parameters)


def _show_tool() -> Json:
    responses = {"200": _answer("The tool.", "ToolEntry"), "404": _problem("There is no such tool.")}
    return _operation("showTool", "Show one tool", responses, parameters=[_NAME])


def _call_tool() -> Json:
    codes: dict[str, list[str]] = {}
    for code, status in STATUS_OF_CODE.items():
        codes.setdefault(str(status), []).append(code)
    failed = {status: _result_or_problem(f"error.code is {' or '.join(names)}.") for status, names in codes.items()}
    responses = {
        **failed,
        "200": _answer("It succeeded.", "ToolResult"),
        "202": _answer("It waits for approval.", "ToolResult"),
        "400": _problem("A bad header, or a body that is not a JSON object."),
        "413": _problem("The body is too large."),
        "415": _problem("The body is not application/json."),
    }
    body = {
        "description": "The arguments, by name; no body means none.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
    return _operation("callTool", "Call a tool", responses, parameters=[_NAME, *_call_headers()], requestBody=body)


def _result_or_problem(description: str) -> Json:
    return {
        **_answer(description, "ToolResult"),
        "content": {
            "application/json": {"schema": {"$ref": _ref("ToolResult")}},
            "application/problem+json": {"schema": {"$ref": _ref("ProblemDetails")}},
        },
    }


def _call_headers() -> list[Json]:
    word = {"type": "string", "minLength": 1, "maxLength": 256}
    milliseconds = {"type": "integer", "minimum": 1, "maximum": LONGEST_TIMEOUT * 1000}
    headers = {
        "Toolgate-Timeout-Ms": ("The most this call may take; never more than the tool's own timeout.", milliseconds),
        "Toolgate-Session-Id": ("The session the call belongs to.", word),
        "Toolgate-Agent-Id": ("The agent that calls.", word),
        "Toolgate-Mode": ('"ask" may read but never change anything.', {"type": "string", "enum": ["agent", "ask"]}),
    }
    return [
        {"name": name, "in": "header", "description": description, "schema": schema}
        for name, (description, schema) in headers.items()
    ]


def _readyz() -> Json:
    summary = "Whether calls should be sent here"
    responses = {"200": _answer("Ready.", "Readiness"), "503": _answer("Shutting down.", "Readiness")}
    return _operation("readyz", summary, responses)


def _openapi() -> Json:
    answer = {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}}
    return _operation("openapi", "This document", {"200": answer})


def _page() -> Json:
    answer = {"description": "A page for people.", "content": {"text/html": {"schema": {"type": "string"}}}}
    return _operation("firstPage", "The first page", {"200": answer})


def _mcp(operation_id: str) -> Json:
    answer = {"description": "JSON-RPC, or a stream of it; see the Model Context Protocol."}
    return _operation(operation_id, "Model Context Protocol, streamable HTTP", {"default": answer})
