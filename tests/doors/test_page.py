"""The first page: safe to open, true, and useful on a phone."""

import base64
import hashlib
import html
import re
import shlex
from pathlib import Path

import httpx
import pytest

from tests.doors.standins import many_tools, served, write_gateway
from toolgate import Gateway, ToolSpec
from toolgate.doors.page import first_page

HOSTILE = "<script>alert('x')</script>&\"{style}"


async def test_the_page_shows_addresses_and_tools(rest: httpx.AsyncClient, base_url: str) -> None:
    answer = await rest.get("/")

    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert f"{base_url}/mcp" in answer.text
    assert f"{base_url}/v1/tools" in answer.text
    assert "Add two numbers." in answer.text
    assert "Say &lt;b&gt;it&lt;/b&gt; &amp; nothing else: ünïcödé 😀." in answer.text
    assert "there is no executor for tools of type &quot;http&quot;" in answer.text
    assert answer.text.count("unavailable</span>") == 1


async def test_nothing_is_fetched_from_elsewhere_and_only_its_own_code_runs(rest: httpx.AsyncClient) -> None:
    answer = await rest.get("/")

    policy = answer.headers["content-security-policy"]
    inline = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", answer.text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in inline]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert len(hashes) == 2
    assert all(f"'sha256-{digest}'" in policy for digest in hashes)
    assert re.findall(r"(?:src|href)=\"(?!data:|/)", answer.text) == []


async def test_it_fits_a_phone_and_both_colour_schemes(rest: httpx.AsyncClient) -> None:
    page = (await rest.get("/")).text

    assert 'name="viewport" content="width=device-width' in page
    assert "prefers-color-scheme: dark" in page


async def test_the_command_on_the_page_works(rest: httpx.AsyncClient) -> None:
    page = (await rest.get("/")).text
    command = html.unescape(page.split("<pre>")[1].split("</pre>")[0])

    curl, _, post, url, _, header, _, body = shlex.split(command.replace("\\\n", " "))
    answer = await rest.request(post, url, content=body, headers=dict([header.split(": ")]))

    assert (curl, answer.status_code, answer.json()["output"]) == ("curl", 200, {"sum": 2})


def test_whatever_a_spec_holds_is_shown_as_text() -> None:
    spec = ToolSpec(
        name="t",
        description=HOSTILE,
        tool_type="python",
        input_schema={"type": "object", "properties": {HOSTILE: {"default": HOSTILE}}, "required": [HOSTILE]},
    )

    page = bytes(first_page("http://localhost", [(spec, None), (spec, HOSTILE)]).body).decode()

    assert page.count("<script>") == 1
    assert html.escape(HOSTILE) in page


@pytest.mark.parametrize(
    ("schema", "sample"),
    [
        ({"type": "integer"}, "1"),
        ({"type": "boolean"}, "true"),
        ({"type": "array"}, "[]"),
        ({"type": ["string", "null"]}, '"text"'),
        ({"enum": ["red", "blue"]}, '"red"'),
        ({"examples": [7]}, "7"),
        ({"const": 5}, "5"),
        (True, '"text"'),
    ],
)
def test_the_command_has_a_value_for_every_argument_needed(schema: object, sample: str) -> None:
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    spec = ToolSpec(name="t", description="T", tool_type="python", input_schema=parameters)

    page = bytes(first_page("http://localhost", [(spec, None)]).body).decode()

    assert f"-d '{{\"x\": {sample}}}'" in html.unescape(page)


def test_an_example_of_the_spec_comes_first() -> None:
    spec = ToolSpec(name="t", description="T", tool_type="python", examples=[{"args": {"it": "works"}}])

    page = bytes(first_page("http://[::1]:5", [(spec, None)]).body).decode()

    assert "curl -X POST 'http://[::1]:5/v1/tools/t/call'" in html.unescape(page)
    assert '{"it": "works"}' in html.unescape(page)


async def test_an_empty_gateway_says_what_to_do_and_a_full_one_stays_short(tmp_path: Path) -> None:
    empty = bytes(first_page("http://localhost", []).body).decode()
    async with (
        Gateway.open(write_gateway(tmp_path, many_tools(600))) as gate,
        served(gate) as url,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        full = (await client.get(url)).text

    assert "tools.yaml" in empty
    assert "<pre>" not in empty
    assert full.count("<li>") == 500
    assert "and 100 more" in full
