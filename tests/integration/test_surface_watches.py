"""Watches in every form that clients ask for, frame by frame, over a real connection."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import configmap
from wire import JSON, MAPS, META, PROTOBUF, WIDGETS, wired

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    with wired(tmp_path_factory.mktemp("wire")) as wire:
        yield wire


def frames(wire, path, accept, count, during=lambda: None):
    """Open a watch, do something, and return the content type and the first frames, cut as the format says."""
    connection = http.client.HTTPConnection("127.0.0.1", wire.server.port, timeout=30)
    connection.request("GET", path, headers={"Accept": accept})
    answer = connection.getresponse()
    content, found = answer.getheader("Content-Type"), []
    during()
    try:
        while len(found) < count:
            if "protobuf" in content:
                length = int.from_bytes(answer.read(4), "big")
                found.append(answer.read(length))
            else:
                found.append(json.loads(answer.readline()))
    finally:
        connection.close()
    return content, found


WATCH = f"{MAPS}?watch=1&fieldSelector=metadata.name%3Done&timeoutSeconds=20"
STREAMS = [
    (JSON, JSON, lambda event: event["object"]["kind"] == "ConfigMap"),
    (f"{JSON};as=Table;v=v1;{META}", JSON, lambda event: event["object"]["rows"][0]["cells"][0] == "one"),
    (f"{JSON};as=Table;v=v1beta1;{META}", JSON, lambda event: event["object"]["apiVersion"] == "meta.k8s.io/v1beta1"),
    (f"{JSON};as=PartialObjectMetadata;v=v1;{META}", JSON, lambda event: set(event["object"]) == {"kind", "apiVersion", "metadata"}),
    (PROTOBUF, f"{PROTOBUF};stream=watch", lambda event: b"ConfigMap" in event),
    (f"{PROTOBUF};stream=watch", f"{PROTOBUF};stream=watch", lambda event: b"ConfigMap" in event),
    (f"{PROTOBUF};as=PartialObjectMetadata;v=v1;{META},{JSON}", f"{PROTOBUF};stream=watch",
     lambda event: b"PartialObjectMetadata" in event and b"ConfigMap" not in event),
]  # fmt: skip


@pytest.mark.parametrize(("accept", "content", "fits"), STREAMS)
def test_a_watch_comes_in_every_form(wire, accept, content, fits):
    answered, (event,) = frames(wire, WATCH, accept, 1)

    assert answered == content
    assert fits(event)


def test_the_rows_of_a_watched_table_have_their_columns_once(wire):
    mark = {"metadata": {"labels": {"seen": "table"}}}

    def change():
        wire.ask("PATCH", f"{MAPS}/one", json.dumps(mark).encode(), Content_Type="application/merge-patch+json")

    _, events = frames(wire, WATCH, f"{JSON};as=Table;v=v1;{META}", 2, change)

    assert [column["name"] for column in events[0]["object"]["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert not events[1]["object"].get("columnDefinitions")


def test_a_streamed_list_ends_with_a_bookmark_that_says_so(wire):
    query = (
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=20"
    )

    count = len(json.loads(wire.get(MAPS)[2])["items"])
    _, events = frames(wire, f"{MAPS}?{query}", JSON, count + 1)

    assert [event["type"] for event in events] == ["ADDED"] * count + ["BOOKMARK"]
    mark = events[-1]["object"]["metadata"]
    assert mark["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(mark["resourceVersion"]) > 0


def test_the_metadata_of_custom_objects_are_watched_in_protobuf(wire):
    accept = f"{PROTOBUF};as=PartialObjectMetadata;v=v1;{META},{JSON};as=PartialObjectMetadata;v=v1;{META}"

    content, (event,) = frames(wire, f"{WIDGETS}?watch=1&timeoutSeconds=20", accept, 1)

    assert content == f"{PROTOBUF};stream=watch"
    assert b"PartialObjectMetadata" in event
    assert b"blue" not in event


def test_a_selector_turns_changes_into_comings_and_goings(wire):
    wire.ask("POST", MAPS, configmap("turn"))

    def change():
        for value in ("yes", None):
            body = json.dumps({"metadata": {"labels": {"picked": value}}}).encode()
            wire.ask("PATCH", f"{MAPS}/turn", body, Content_Type="application/merge-patch+json")

    _, events = frames(wire, f"{MAPS}?watch=1&labelSelector=picked%3Dyes&timeoutSeconds=20", JSON, 2, change)

    assert [event["type"] for event in events] == ["ADDED", "DELETED"]


def test_a_watch_over_a_websocket(wire):
    key = base64.b64encode(b"0123456789abcdef").decode()
    with socket.create_connection(("127.0.0.1", wire.server.port), 30) as connection:
        connection.sendall(
            f"GET {WATCH} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nOrigin: http://x\r\n\r\n".encode()
        )
        stream = connection.makefile("rb")
        assert b"101" in stream.readline()
        while stream.readline().strip():
            pass
        first, length = stream.read(2)
        if length == 126:
            (length,) = struct.unpack(">H", stream.read(2))
        event = json.loads(stream.read(length))

    assert first & 0x0F == 1
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "one")
