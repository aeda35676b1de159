"""Files written in tests, and what reading them gives."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from toolgate.config import FILE_KEYS
from toolgate.errors import ConfigError, Problem
from toolgate.loaders import Surroundings
from toolgate.places import LOCAL, Document, Limits, Places
from toolgate.reading import read_document
from toolgate.specfile import Catalogue, SpecFileReader

TOOL = """\
tools:
  - name: greet
    description: Say hello.
    tool_type: python
    implementation_config: {module: tools.greetings, function_name: greet}
"""


def read(text: str | bytes, name: str = "tools.yaml", limits: Limits = LOCAL) -> Document:
    """Return `text` as a document."""
    return read_document(text.encode() if isinstance(text, str) else text, name, limits=limits)


def value_of(text: str | bytes, name: str = "tools.yaml") -> Any:
    """Return the value of a text in which nothing is wrong."""
    document = read(text, name)
    assert document.problems == []
    return document.value


def catalogue_of(
    *texts: str | bytes, env: Mapping[str, str] | None = None, allowed: Collection[str] = FILE_KEYS
) -> Catalogue:
    """Return what the texts say together; they are called tools.yaml, tools1.yaml, and so on."""
    places = Places()
    documents = [
        read_document(text.encode() if isinstance(text, str) else text, f"tools{index or ''}.yaml", places=places)
        for index, text in enumerate(texts)
    ]
    return SpecFileReader(Surroundings().executors, env={} if env is None else env).read(documents, allowed)


def problems_of(*texts: str | bytes, env: Mapping[str, str] | None = None) -> list[Problem]:
    """Return everything that is wrong with the texts."""
    try:
        catalogue_of(*texts, env=env)
    except ConfigError as error:
        return list(error.problems)
    return []


def where(problems: Iterable[Problem]) -> list[str]:
    """Return the places of problems as `line:column`."""
    return [f"{problem.place.line}:{problem.place.column}" if problem.place else "" for problem in problems]


def told(problems: Iterable[Problem]) -> list[str]:
    """Return problems as `line:column message`."""
    problems = list(problems)
    return [f"{place} {problem.message}" for place, problem in zip(where(problems), problems, strict=True)]


def a_tool(**more: str) -> str:
    """Return a tools file with one custom tool; each keyword is one more key of it, given as YAML."""
    lines = ["tools:", "  - name: t", "    description: d", "    tool_type: custom"]
    return "\n".join([*lines, *(f"    {key}: {value}" for key, value in more.items()), ""])
