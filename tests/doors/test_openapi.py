"""The OpenAPI document: valid, complete, and true of what the server answers."""

from typing import Any

import httpx
import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.routing import Route

from toolgate import Gateway
from toolgate.doors.http import create_app
from toolgate.doors.openapi import openapi_document


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi_document()


def test_the_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


async def test_every_route_and_method_is_in_the_document(document: dict[str, Any], gateway: Gateway) -> None:
    routes = [route for route in create_app(gateway).routes if isinstance(route, Route)]
    served = {(route.path, method.lower()) for route in routes for method in route.methods or ("get", "post", "delete")}

    described = {(path, method) for path, operations in document["paths"].items() for method in operations}

    assert described == {(path, method) for path, method in served if method != "head"}


async def test_the_served_document_is_the_document(document: dict[str, Any], rest: httpx.AsyncClient) -> None:
    first, second = await rest.get("/openapi.json"), await rest.get("/openapi.json")

    assert first.json() == second.json() == document


@pytest.mark.parametrize(
    ("method", "path", "template", "body"),
    [
        ("GET", "/v1/tools", "/v1/tools", None),
        ("GET", "/v1/tools?limit=0", "/v1/tools", None),
        ("GET", "/v1/tools/say:echo", "/v1/tools/{name}", None),
        ("GET", "/v1/tools/nothing", "/v1/tools/{name}", None),
        ("POST", "/v1/tools/add/call", "/v1/tools/{name}/call", {"a": 1}),
        ("POST", "/v1/tools/add/call", "/v1/tools/{name}/call", {}),
        ("POST", "/v1/tools/fail/call", "/v1/tools/{name}/call", {}),
        ("POST", "/v1/tools/nothing/call", "/v1/tools/{name}/call", {}),
        ("POST", "/v1/tools/add/call", "/v1/tools/{name}/call", [1]),
        ("GET", "/healthz", "/healthz", None),
        ("GET", "/readyz", "/readyz", None),
    ],
)
async def test_answers_are_as_described(
    document: dict[str, Any], rest: httpx.AsyncClient, method: str, path: str, template: str, body: Any
) -> None:
    answer = await rest.request(method, path, json=body) if body is not None else await rest.request(method, path)

    described = document["paths"][template][method.lower()]["responses"][str(answer.status_code)]
    schema = described["content"][answer.headers["content-type"]]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(answer.json())
    assert answer.json()
