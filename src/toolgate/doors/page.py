"""The first page: what this gateway is, where it answers, what it offers. Nothing is fetched from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from starlette.responses import HTMLResponse, Response

from toolgate import __version__
from toolgate.spec import ToolSpec

MOST_TOOLS = 500

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5b6474; --paper: #fbfbfd; --card: #fff; --line: #e2e5ec;
  --accent: #3457d5; --ok: #18794e; --off: #a15c00; --code: #f3f4f8 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaf0; --soft: #9aa3b5; --paper: #12151c; --card: #1a1e28;
  --line: #2b3140; --accent: #8ea8ff; --ok: #4cc38a; --off: #f0b45a; --code: #10131a } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem }
h1 { font-size: 1.9rem; margin: 0; letter-spacing: -.02em }
h1 small { font-size: .95rem; font-weight: 400; color: var(--soft); letter-spacing: 0 }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .7rem }
h2 small { font-weight: 400; color: var(--soft) }
p { margin: .4rem 0 0; color: var(--soft) }
a { color: var(--accent) }
code, pre { font: .88rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.1rem; margin: 0 }
dt { color: var(--soft) } dd { margin: 0; overflow-wrap: anywhere }
.box { position: relative }
pre { margin: 0; padding: .9rem 5rem .9rem 1rem; background: var(--code); border: 1px solid var(--line);
  border-radius: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all }
button { position: absolute; top: .5rem; right: .5rem; font: inherit; font-size: .8rem; padding: .25rem .7rem;
  color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: .4rem; cursor: pointer }
ul { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line);
  border-radius: .6rem }
li { padding: .75rem 1rem } li + li { border-top: 1px solid var(--line) }
li b { font: 600 .92rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
li p { margin: .15rem 0 0; overflow-wrap: anywhere }
.state { float: right; margin-left: .8rem; font-size: .8rem } .on { color: var(--ok) } .off { color: var(--off) }
"""
_SCRIPT = """
for (const button of document.querySelectorAll("button")) button.addEventListener("click", async () => {
  await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
  button.textContent = "Copied";
});
"""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>toolgate</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body><main>
<h1>toolgate <small>{version}</small></h1>
<p>Every tool down one road, for any agent that speaks REST or MCP.</p>
<h2>Addresses</h2>
<dl>
<dt>REST</dt><dd><a href="/v1/tools"><code>{base}/v1/tools</code></a></dd>
<dt>MCP</dt><dd><code>{base}/mcp</code></dd>
<dt>OpenAPI</dt><dd><a href="/openapi.json"><code>{base}/openapi.json</code></a></dd>
</dl>
{first_call}
<h2>Tools <small>({count})</small></h2>
{tools}
</main><script>{script}</script></body>
</html>
"""


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src {_source(_STYLE)}; script-src {_source(_SCRIPT)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def first_page(base_url: str, tools: Sequence[tuple[ToolSpec, str | None]]) -> Response:
    """Return the page; each tool comes with why it cannot be called, or None."""
    callable_tools = [spec for spec, reason in tools if reason is None]
    html = _PAGE.format(
        style=_STYLE,
        script=_SCRIPT,
        version=escape(__version__),
        base=escape(base_url),
        count=f"{len(tools):,}",
        first_call=_first_call(base_url, callable_tools[0]) if callable_tools else "",
        tools=_list(tools),
    )
    return HTMLResponse(html, headers=HEADERS)


def _first_call(base_url: str, spec: ToolSpec) -> str:
    body = json.dumps(_example(spec), ensure_ascii=False)
    url = f"{base_url}/v1/tools/{quote(spec.name, safe=':')}/call"
    command = f"curl -X POST {shlex.quote(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(body)}"
    return f'<h2>Try it</h2>\n<div class="box"><pre>{escape(command)}</pre><button type="button">Copy</button></div>'


def _example(spec: ToolSpec) -> dict[str, Any]:
    if spec.examples:
        return spec.examples[0].args
    properties = spec.input_schema.get("properties", {})
    return {name: _sample(properties.get(name)) for name in spec.input_schema.get("required", [])}


def _sample(schema: Any) -> Any:
    schema = schema if isinstance(schema, dict) else {}
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    kind = schema.get("type")
    samples = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "null": None}
    return samples.get(kind, "text") if isinstance(kind, str) else "text"


def _list(tools: Sequence[tuple[ToolSpec, str | None]]) -> str:
    if not tools:
        return "<p>There are none yet. Add one to <code>tools.yaml</code> and reload.</p>"
    items = "\n".join(_item(spec, reason) for spec, reason in tools[:MOST_TOOLS])
    rest = len(tools) - MOST_TOOLS
    more = f'<p>… and {rest:,} more: <a href="/v1/tools">/v1/tools</a></p>' if rest > 0 else ""
    return f"<ul>\n{items}\n</ul>{more}"


def _item(spec: ToolSpec, reason: str | None) -> str:
    state = '<span class="state on">ready</span>' if reason is None else '<span class="state off">unavailable</span>'
    why = f'<p class="off">{escape(reason)}</p>' if reason is not None else ""
    return f"<li>{state}<b>{escape(spec.name)}</b><p>{escape(spec.description)}</p>{why}</li>"
