"""What a failed validation means for the one who wrote the file: the path, the words, and the key they meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError

from toolgate.errors import did_you_mean
from toolgate.places import MOST_PROBLEMS, Path

_YES_NO = frozenset(("yes", "no", "on", "off", "y", "n", "true", "false"))
_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
}


class Mistake(NamedTuple):
    """One thing a model refused."""

    path: Path
    message: str
    hint: str = ""
    on_key: bool = False  # the key is at fault, not its value
    between: str = ""  # the key that disagrees with another: as long as it does, no other key was looked at
    is_branch: bool = False  # one of several things that could have stood there


def explain(error: ValidationError, value: Any, model: type[BaseModel] | None) -> list[Mistake]:
    """Return the mistakes behind a failed validation of `value`; its values are never quoted."""
    details = error.errors(include_url=False)[: 3 * MOST_PROBLEMS]  # a choice has several for each place
    found = [_mistake(detail, value, model) for detail in details]
    return [each for each in found if not each.is_branch] + _merged([each for each in found if each.is_branch])


def _merged(branches: list[Mistake]) -> list[Mistake]:
    """Return one mistake for each place: of things that could have stood there, the one that got furthest was meant."""
    found: dict[Path, Mistake] = {}
    for each in branches:
        if any(len(other.path) > len(each.path) == _shared(other.path, each.path) for other in branches):
            continue
        first = found.setdefault(each.path, each)
        if first.message != each.message:
            message = f"{first.message} or {each.message.removeprefix('expected ')}"
            found[each.path] = first._replace(message=message, hint=first.hint or each.hint)
    return list(found.values())


def _shared(one: Path, other: Path) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _mistake(detail: Any, value: Any, model: type[BaseModel] | None) -> Mistake:
    kind, location = detail["type"], tuple(detail["loc"])
    path = _real_path(value, location)
    if kind == "extra_forbidden":
        return Mistake(path, "no such key", did_you_mean(str(location[-1]), _keys_at(model, path[:-1])), on_key=True)
    if kind == "missing":
        return Mistake(path, f'"{location[-1]}" is missing', on_key=True)
    if key := detail.get("ctx", {}).get("key"):
        return Mistake((*path, key), _wording(detail), between=key)
    is_branch = len(path) < len(location) and location[-1] != "[key]"
    hint = _mending(kind, detail["input"])
    return Mistake(path, _wording(detail), hint, on_key=kind == "near_miss", is_branch=is_branch)


def _wording(detail: Any) -> str:
    expected = _EXPECTED.get(detail["type"])
    if expected:
        return f"expected {expected}"
    text: str = detail["msg"]
    return text.replace("Input should be", "expected").replace("Value error, ", "")


def _mending(kind: str, given: Any) -> str:
    if isinstance(given, str) and "${" in given:
        return "variables are read only in implementation_config and in settings"
    if kind == "bool_type" and isinstance(given, str) and given.lower() in _YES_NO:
        return "write true or false, without quotes"
    return ""


def _real_path(value: Any, location: Path) -> Path:
    """Return the steps of `location` that lead somewhere in `value`: pydantic also names the branches of a union."""
    path: list[str | int] = []
    for step in location:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            continue
        path.append(step)
    return tuple(path)


def _keys_at(model: Any, path: Path) -> Iterable[str]:
    for step in path:
        if isinstance(step, int):
            continue
        field = model.model_fields.get(step) if model else None
        model = _model_in(field.annotation) if field else None
    return [field.alias or name for name, field in model.model_fields.items()] if model else ()


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
