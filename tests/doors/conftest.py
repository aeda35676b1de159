from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.doors.standins import served, write_gateway
from toolgate import Gateway


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    """A gateway that the tests of a module share, so they leave its tools alone."""
    async with Gateway.open(write_gateway(tmp_path_factory.mktemp("shared"))) as gate:
        yield gate


@pytest.fixture(scope="module")
async def base_url(gateway: Gateway) -> AsyncIterator[str]:
    async with served(gateway) as url:
        yield url


@pytest.fixture(scope="module")
async def rest(base_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=20) as client:
        yield client


@pytest.fixture
async def own_gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway for one test, from the files in its `tmp_path`."""
    async with Gateway.open(write_gateway(tmp_path)) as gate:
        yield gate


@pytest.fixture
async def own_url(own_gateway: Gateway) -> AsyncIterator[str]:
    async with served(own_gateway) as url:
        yield url


@pytest.fixture
async def own_rest(own_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=own_url, trust_env=False, timeout=20) as client:
        yield client
