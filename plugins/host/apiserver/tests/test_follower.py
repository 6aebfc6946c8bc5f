"""What a follower hands over, and that it needs a thread only while there is something to take."""

import logging
import queue
import threading

import pytest
from hyperkube_host.apiserver.follower import Follower
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import NODES
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

WAIT = 60


@pytest.fixture
def client():
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options=options, store=MemoryStore())
    server.start()
    yield server.client(LOOPBACK)
    server.close()


def node(name, **labels):
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "labels": labels}}


def following(client, seen):
    return Follower(
        NODES,
        client,
        SystemClock(),
        logging.getLogger("hyperkube.test"),
        name="test-follower",
        listed=lambda nodes: seen.put(("all", [each["metadata"]["name"] for each in nodes])),
        changed=lambda each: seen.put(("changed", each["metadata"]["name"])),
        gone=lambda name: seen.put(("gone", name)),
    )


def test_all_objects_come_first_then_each_change(client):
    client.create(NODES, node("a"))
    seen = queue.Queue()
    follower = following(client, seen)

    follower.start()
    client.create(NODES, node("b"))
    client.delete(NODES, "a")

    assert [seen.get(timeout=WAIT) for _ in range(3)] == [("all", ["a"]), ("changed", "b"), ("gone", "a")]
    follower.close()
    follower.close()
    client.create(NODES, node("c"))
    assert seen.empty()


def test_it_rests_without_a_thread_and_wakes_again(client):
    seen = queue.Queue()
    follower = following(client, seen)
    follower.start()
    seen.get(timeout=WAIT)

    assert eventually(lambda: not any(each.name.startswith("test-follower") for each in threading.enumerate()))
    client.create(NODES, node("a"))

    assert seen.get(timeout=WAIT) == ("changed", "a")
    follower.close()
