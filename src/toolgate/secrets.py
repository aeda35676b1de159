"""References to secrets: written in files as `${NAME}`, looked up when used, and never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolgate.errors import Problem
from toolgate.places import Path, dotted

HIDDEN = "***"
# `$${` stands for the text `${`; a default holds no braces, so that one reference never swallows the next.
_REFERENCE = re.compile(r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*))?\}")


def mentions_variables(value: Any) -> bool:
    """Return whether there is a `${` anywhere in `value`: only then is there something to look up, or to mend."""
    return next(_texts(value), None) is not None


def references(value: Any, path: Path = ()) -> Iterator[tuple[Path, str, bool]]:
    """Yield the path, name and whether it has a default, for each `${NAME}` inside `value`, repeats in a text once."""
    for where, text in _texts(value, path):
        found = (match.group("name", "default") for match in _REFERENCE.finditer(text))
        for name, default in dict.fromkeys(found):
            if name is not None:
                yield where, name, default is not None


def resolve(value: Any, env: Mapping[str, str] | None = None) -> Any:
    """Return `value` with each `${NAME}` replaced from the environment; `$${NAME}` stands for the text `${NAME}`.

    Raises:
        KeyError: A variable without a default is not set.
    """
    env = os.environ if env is None else env
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: _look_up(match, env), value) if "${" in value else value
    if isinstance(value, Mapping):
        return {key: resolve(item, env) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(item, env) for item in value]
    return value


def _look_up(match: re.Match[str], env: Mapping[str, str]) -> str:
    name, default = match.group("name", "default")
    if name is None:
        return "${"
    # As in a shell, `:-` also covers a variable that is set but empty.
    return env[name] if default is None else (env.get(name) or default)


def missing(value: Any, env: Mapping[str, str] | None = None) -> Iterator[tuple[Path, Problem]]:
    """Yield a problem, without its place, for each reference in `value` that cannot be looked up or read."""
    env = os.environ if env is None else env
    for path, name, has_default in references(value):
        if not has_default and name not in env:
            hint = f"set it, or give a default: ${{{name}:-…}}"
            yield path, Problem(f"the environment variable {name} is not set", path=dotted(path), hint=hint)
    for path, text in _texts(value):
        # What stands there is not quoted: it may be a password with an unlucky "${" in it.
        if "${" in _REFERENCE.sub("_", text):
            hint = "write ${NAME} or ${NAME:-default}, or $${ for the text ${"
            yield path, Problem('"${" does not start a variable', path=dotted(path), hint=hint)


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if "${" in value:
            yield path, value
    elif isinstance(value, Mapping | list | tuple):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _texts(item, (*path, key))


def scrub(text: str, value: Any, env: Mapping[str, str] | None = None) -> str:
    """Return `text` with the values of all variables that `value` refers to blanked out."""
    env = os.environ if env is None else env
    secrets = {env.get(name, "") for _, name, _ in references(value)}
    for secret in sorted(secrets, key=len, reverse=True):
        # Blanking out one or two characters would garble the text and protect nothing.
        text = text.replace(secret, HIDDEN) if len(secret) > 2 else text
    return text
