"""Shell tools: a command template, split into arguments when it is loaded so that no value can become syntax."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from toolgate.context import ToolContext
from toolgate.errors import ToolUnavailableError, did_you_mean
from toolgate.executors import BaseExecutor, Fault
from toolgate.spec import Noun, ToolPermission, ToolSpec, Word

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VARIABLE = re.compile(r"\$\{[^}]*\}")
_WHOLE = re.compile(r"(--?[A-Za-z0-9][A-Za-z0-9_-]*=)?\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OPERATOR = re.compile(r"[|&;<>`]|\$\(")


class TemplateError(ValueError):
    """A command template that cannot be used safely; `hint` says what to write instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ShellConfig(Noun):
    """The command of a shell tool."""

    command: Word | list[Word] = Field(
        description='The command, e.g. "rm {path}"; each {name} is one whole argument or the value of --option={name}.'
    )


def split_template(command: str | list[str]) -> list[str]:
    """Return the words of a command template, each either fixed text or one placeholder.

    Raises:
        TemplateError: A quote is not closed, a placeholder is only part of a word, the program itself is a
            placeholder, or the template relies on a shell.
    """
    words = _split(command) if isinstance(command, str) else list(command)
    if not words or not words[0]:
        raise TemplateError("the command is empty")
    if _PLACEHOLDER.search(words[0]):
        raise TemplateError(f"the program {words[0]} comes from an argument", "name the program in the template")
    for word in words:
        _check_word(word)
    return words


def _split(command: str) -> list[str]:
    if operator := _OPERATOR.search(_PLACEHOLDER.sub("", command)):
        raise TemplateError(
            f'"{operator.group()}" needs a shell, and commands are run without one',
            "write one command, or put the pipeline in a script",
        )
    try:
        return shlex.split(command)
    except ValueError as error:
        raise TemplateError(f"cannot split the command: {str(error).lower()}", "close the quote") from None


def _check_word(word: str) -> None:
    if "\0" in word:
        raise TemplateError("a command may not hold a NUL character")
    if not _PLACEHOLDER.search(word):
        if set("{}") & set(_VARIABLE.sub("", word)):
            raise TemplateError(f'"{word}" is not a placeholder', "write {name}, with letters, digits and _")
        return
    if not _WHOLE.fullmatch(word):
        raise TemplateError(
            f'"{word}" mixes text and placeholders', "let {name} be a whole argument, or write --option={name}"
        )


def placeholders(words: Iterable[str]) -> list[str]:
    """Return the names of the arguments a split template takes, in order."""
    return [name for word in words for name in _PLACEHOLDER.findall(word)]


class ShellExecutor(BaseExecutor):
    """Checks shell tools; nothing runs them until there is a sandbox to run them in."""

    supported_types: ClassVar[tuple[str, ...]] = ("shell",)
    config_model = ShellConfig
    implied_permissions = (ToolPermission.SHELL_EXECUTE,)

    @classmethod
    def check(cls, spec: ToolSpec) -> Iterable[Fault | ValidationError]:
        """Yield what is wrong with the spec's command template."""
        faults = list(super().check(spec))
        yield from faults
        if not faults:
            yield from _template_faults(spec)

    def unavailable(self, spec: ToolSpec) -> str | None:
        """Return why shell tools do not run."""
        return "shell tools run only in a sandbox, which this version of toolgate does not have yet"

    async def execute(self, spec: ToolSpec, args: dict[str, Any], context: ToolContext) -> Any:
        """Refuse the call.

        Raises:
            ToolUnavailableError: Always, as long as there is no sandbox.
        """
        raise ToolUnavailableError(str(self.unavailable(spec)), tool_name=spec.name)


def _template_faults(spec: ToolSpec) -> Iterable[Fault]:
    try:
        words = split_template(spec.implementation_config["command"])
    except TemplateError as error:
        yield ("command",), str(error), error.hint
        return
    known = spec.input_schema.get("properties")
    known = known if isinstance(known, dict) else {}
    for name in placeholders(words):
        if name not in known:
            hint = did_you_mean(name, known) or "declare it under input_schema.properties"
            yield ("command",), f"the placeholder {{{name}}} is not a declared argument", hint
