"""Whether a call costs more in a bigger gateway: it should not."""

import asyncio
from functools import partial

from benchmarks.adding import Elsewhere, executor, named
from benchmarks.measure import Road, report

elsewhere = [named(Elsewhere(), f"elsewhere {number}") for number in range(20)]

asyncio.run(
    report(
        [
            Road("no extension, 10 tools", partial(executor(tools=10).execute, "add")),
            Road("no extension, 10,000 tools", partial(executor(tools=10_000).execute, "add")),
            Road("20 extensions that do not apply, 10 tools", partial(executor(*elsewhere).execute, "add")),
        ]
    )
)
