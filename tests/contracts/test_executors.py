"""What every built-in executor promises; `GOOD` holds a configuration of each kind that has nothing wrong with it."""

import sys
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tests.standins import a_registry, a_spec
from toolgate import BaseExecutor, ToolContext, ToolError, ToolPermission, ToolSpec, UnifiedToolExecutor
from toolgate.executors import KINDS
from toolgate.kinds import imported

GOOD: dict[str, dict[str, Any]] = {
    "python": {"module": "antigravity", "function_name": "geohash"},
    "shell": {"command": "ls {path}"},
}
ALL = tuple(permission.value for permission in ToolPermission)

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", sorted(KINDS))]


def of_kind(kind: str, config: dict[str, Any]) -> ToolSpec:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return a_spec(tool_type=kind, implementation_config=config, input_schema=schema)


def class_of(kind: str) -> type[BaseExecutor]:
    found: type[BaseExecutor] = imported(KINDS[kind])
    return found


def test_every_kind_is_under_contract(kind: str) -> None:
    assert kind in GOOD


def test_a_kind_is_an_executor_made_from_nothing_that_takes_its_own_type(kind: str) -> None:
    executor = class_of(kind)()

    assert isinstance(executor, BaseExecutor)
    assert executor.can_execute(of_kind(kind, {}))
    assert not executor.can_execute(of_kind("something_else", {}))


def test_a_kind_owns_its_settings_and_describes_every_one(kind: str) -> None:
    model = class_of(kind).config_model

    assert model is not None
    assert issubclass(model, BaseModel)
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_a_good_configuration_has_no_faults_and_is_not_run_to_be_checked(kind: str) -> None:
    assert list(class_of(kind).check(of_kind(kind, GOOD[kind]))) == []
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("config", [{}, {"nonsense": 1}, {"command": None, "module": None}, {"": {}}], ids=str)
def test_a_bad_configuration_has_faults_and_never_raises(kind: str, config: dict[str, Any]) -> None:
    assert list(class_of(kind).check(of_kind(kind, config))) != []


def test_an_unknown_key_is_a_fault_that_names_it(kind: str) -> None:
    faults = list(class_of(kind).check(of_kind(kind, {**GOOD[kind], "comand": "x"})))

    details = [detail for fault in faults if isinstance(fault, ValidationError) for detail in fault.errors()]
    assert [(detail["type"], detail["loc"]) for detail in details] == [("extra_forbidden", ("comand",))]


async def test_a_kind_says_why_it_cannot_run_or_fails_in_words(kind: str) -> None:
    """Unavailable, or broken by a configuration nobody checked: either way the caller gets one of our errors."""
    spec = of_kind(kind, {"nonsense": 1})
    executor = UnifiedToolExecutor(a_registry(spec))

    result = await executor.try_execute("echo", {}, ToolContext(granted_permissions=ALL))

    assert result.error is not None
    assert result.status == "denied"
    assert result.error.code == ("unavailable" if executor.unavailable(spec) else "execution_failed")


async def test_a_kind_run_directly_raises_only_errors_of_ours(kind: str) -> None:
    executor = class_of(kind)()

    with pytest.raises(ToolError):
        await executor.execute(of_kind(kind, {"nonsense": 1}), {}, ToolContext())
    await executor.down()


async def test_a_kind_that_was_never_used_closes_quietly(kind: str) -> None:
    await class_of(kind)().down()
