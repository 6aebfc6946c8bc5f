"""Header fields, and so tokens, are written to no log, at whatever level a process logs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
from hyperkube_lib.http2.watch_streams import Http2Streams
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import StreamResponse

from hyperkube.client.http import HttpClient
from hyperkube.machinery.groups import GroupVersionResource

PODS = GroupVersionResource("", "v1", "pods")
TOKEN = "not-for-the-log"


@pytest.fixture
def talkative() -> Iterator[None]:
    hpack = logging.getLogger("hpack")
    before, hpack.level = hpack.level, logging.NOTSET
    yield
    hpack.setLevel(before)


@pytest.mark.usefixtures("talkative")
def test_a_token_is_in_no_log(start: Callable[..., Edge], toy, new_source, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    toy.routes["/api/v1/pods"] = lambda _: StreamResponse(source=new_source())
    toy.long_running.add("/api/v1/pods")
    client = HttpClient(f"https://127.0.0.1:{start().port}", insecure=True, token=TOKEN, streams=Http2Streams)

    client.watch(PODS).close()
    client.close()

    assert [seen.headers["authorization"] for seen in toy.seen] == [f"Bearer {TOKEN}"]
    assert TOKEN not in caplog.text
