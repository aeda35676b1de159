"""Answers that are not a page: JSON, RFC 9457 problems, and the HTTP status of every tool error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from math import ceil
from typing import Any

import pydantic_core
from starlette.responses import Response

from toolgate.result import ToolResult

# 5xx means "not the caller's doing": 502 the tool behind the gateway, 500 the gateway itself, 501 nothing here can run
# it (so a retry is useless), 504 it was too slow. 409: the call was ended by somebody else while it ran.
STATUS_OF_CODE = {
    "not_found": 404,
    "invalid_arguments": 422,
    "permission_denied": 403,
    "approval_required": 403,
    "rate_limited": 429,
    "overloaded": 503,
    "timeout": 504,
    "unavailable": 501,
    "invalid_output": 502,
    "output_too_large": 502,
    "execution_failed": 502,
    "extension_failed": 500,
    "cancelled": 409,
}
UNKNOWN_CODE = 500


class HttpProblem(Exception):
    """A request the door itself refuses; becomes problem+json with a stable `code`."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.headers = status, code, detail, headers


class JsonResponse(Response):
    """JSON in UTF-8, whatever strings it holds."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return `content` as bytes of JSON."""
        return to_json(content)


class ProblemResponse(JsonResponse):
    """An RFC 9457 problem with a stable `code`."""

    media_type = "application/problem+json"

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        title = HTTPStatus(status).phrase
        content = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code}
        super().__init__(content, status, {"Cache-Control": "no-store", **(headers or {})})


def shutting_down() -> ProblemResponse:
    """Return the answer to a call that was cancelled because the server stops."""
    detail = "The gateway is shutting down; the call was cancelled."
    return ProblemResponse(503, "shutting_down", detail, {"Connection": "close"})


def to_json(content: Any) -> bytes:
    """Return `content` as UTF-8 JSON; half a surrogate pair, which UTF-8 cannot hold, is escaped."""
    try:
        return pydantic_core.to_json(content, inf_nan_mode="strings")
    except pydantic_core.PydanticSerializationError:
        return json.dumps(content, separators=(",", ":")).encode()


def http_status(result: ToolResult) -> int:
    """Return the HTTP status of a result: by its error's code, else 200, or 202 for one that still waits."""
    if result.error is not None:
        return STATUS_OF_CODE.get(result.error.code, UNKNOWN_CODE)
    return 202 if result.status == "pending" else 200


def result_response(result: ToolResult) -> Response:
    """Return the answer to a call: the result on the wire, under its status."""
    headers = None
    if result.error is not None and result.error.retry_after is not None:
        headers = {"Retry-After": str(max(1, ceil(result.error.retry_after)))}
    return JsonResponse(result.to_wire(), http_status(result), headers)
