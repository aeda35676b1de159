"""toolgate's road, above what it cannot cost less than."""

import asyncio
from functools import partial
from typing import Any

import jsonschema_rs

from benchmarks.adding import SCHEMA, add, executor, six
from benchmarks.measure import Road, report

validator = jsonschema_rs.validator_for(SCHEMA)


async def bare(args: dict[str, Any]) -> int:
    return await add(**args)


async def validated(args: dict[str, Any]) -> int:
    validator.validate(args)
    return await add(**args)


asyncio.run(
    report(
        [
            Road("bare `await add()`", bare),
            Road("jsonschema-rs, then `await add()`", validated),
            Road("toolgate `execute`, no extension", partial(executor().execute, "add")),
            Road("toolgate `execute`, 6 extensions", partial(executor(*six()).execute, "add")),
        ]
    )
)
