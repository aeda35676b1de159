"""What a call leaves behind: one envelope for every event, whoever wrote it."""

import json
import pickle
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from tests.standins import in_threads, python
from toolgate import (
    AgentRef,
    DomainEvent,
    EventEnvelope,
    ToolCancelled,
    ToolCompleted,
    ToolDenied,
    ToolFailed,
    ToolInvoked,
    ToolRegistered,
    ToolTimeout,
    TraceContext,
)
from toolgate.events import utc_now, uuid7

ABOUT: dict[str, Any] = {"tool_id": "sum@1.0.0", "tool_name": "sum"}
EVENTS = {
    "tool.invoked": ToolInvoked(**ABOUT, input_data={"a": [1]}, source="user"),
    "tool.completed": ToolCompleted(**ABOUT, output_data={"b": None}, duration_ms=1.5, cached=True),
    "tool.failed": ToolFailed(**ABOUT, error="no", duration_ms=1.5, code="own", outcome="done"),
    "tool.timeout": ToolTimeout(**ABOUT, timeout_ms=200, outcome="not_done"),
    "tool.cancelled": ToolCancelled(**ABOUT, duration_ms=1.5),
    "tool.denied": ToolDenied(tool_id=None, tool_name="sum", code="not_found", reason="none"),
    "tool.registered": ToolRegistered(**ABOUT, source="user", capabilities={"a": 1}),
}
PRODUCER = AgentRef(agent_id="system", agent_type="tool_executor")


def enveloped(event: DomainEvent) -> EventEnvelope:
    return event.to_envelope(PRODUCER, TraceContext(), "cause", "correlation", "key")


@pytest.mark.parametrize("event_type", EVENTS)
def test_an_event_survives_json_and_pickle(event_type: str) -> None:
    event = EVENTS[event_type]
    envelope = enveloped(event)

    assert type(event).model_validate_json(event.model_dump_json()) == event
    assert EventEnvelope.model_validate_json(envelope.model_dump_json()) == envelope
    assert EventEnvelope.model_validate(envelope.model_dump()) == envelope
    assert pickle.loads(pickle.dumps(envelope)) == envelope


@pytest.mark.parametrize("event_type", EVENTS)
def test_an_envelope_carries_the_event_and_where_it_stands(event_type: str) -> None:
    event, trace = EVENTS[event_type], TraceContext()
    envelope = event.to_envelope(PRODUCER, trace, causation_id="1", correlation_id="2", idempotency_key="3")

    assert (envelope.event_type, envelope.payload) == (event_type, event.payload())
    assert event.payload() == event.model_dump()
    assert (envelope.producer, envelope.trace) == (PRODUCER, trace)
    assert (envelope.causation_id, envelope.correlation_id, envelope.idempotency_key) == ("1", "2", "3")
    assert envelope.model_fields_set == EventEnvelope.model_fields.keys()


def test_an_envelope_has_the_fifteen_fields() -> None:
    assert list(EventEnvelope.model_fields) == [
        "spec_version",
        "event_id",
        "event_type",
        "event_version",
        "timestamp",
        "producer",
        "trace",
        "causation_id",
        "correlation_id",
        "idempotency_key",
        "partition_key",
        "ttl_ms",
        "payload",
        "metadata",
        "signature",
    ]


def test_an_envelope_made_by_hand_fills_in_the_rest() -> None:
    envelope = EventEnvelope(event_type="own.thing", producer=PRODUCER, trace=TraceContext())

    assert uuid.UUID(envelope.event_id).version == 7
    assert (envelope.spec_version, envelope.event_version, envelope.payload) == ("1.0", "1.0.0", {})


def test_an_envelope_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        enveloped(EVENTS["tool.invoked"]).payload = {}  # type: ignore[misc]  # that is what is tested


def test_the_time_of_an_event_is_utc_to_the_millisecond() -> None:
    written = json.loads(enveloped(EVENTS["tool.invoked"]).model_dump_json())["timestamp"]

    assert written.endswith("Z")
    assert utc_now().microsecond % 1000 == 0
    assert abs(datetime.now(UTC) - utc_now()) < timedelta(minutes=1)


def test_ids_are_uuids_of_version_seven_in_order() -> None:
    ids = [uuid7() for _ in range(20_000)]

    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {(uuid.UUID(each).version, uuid.UUID(each).variant) for each in ids[::1000]} == {(7, uuid.RFC_4122)}
    assert all(str(uuid.UUID(each)) == each for each in ids[::1000])


def test_threads_never_make_the_same_id() -> None:
    made = in_threads(lambda _: [uuid7() for _ in range(2_000)], 8)

    assert all(each == sorted(each) for each in made)
    assert len({each for ids in made for each in ids}) == 16_000


FORKING = """
import os
from toolgate.events import uuid7

uuid7()
if child := os.fork():
    os.waitpid(child, 0)
print(uuid7()[19:], flush=True)  # the first part is the time; only the random part can tell them apart
"""


def test_a_forked_process_makes_other_ids() -> None:
    theirs, ours = python(FORKING).split()

    assert (len(theirs), len(ours)) == (17, 17)
    assert theirs != ours


def test_a_producer_has_an_instance_of_its_own() -> None:
    assert AgentRef(agent_id="a", agent_type="t").instance_id != AgentRef(agent_id="a", agent_type="t").instance_id
    assert AgentRef(agent_id="a", agent_type="t").runtime_id == "local"
