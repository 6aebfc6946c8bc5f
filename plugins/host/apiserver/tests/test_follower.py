"""What a follower hands over, and that it ends."""

import queue

from hyperkube_host.apiserver.follower import Follower

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import NODES

WAIT = 60


def node(name, **labels):
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "labels": labels}}


def test_all_objects_come_first_then_each_change():
    client = FakeClient()
    client.create(NODES, node("a"))
    seen = queue.Queue()
    follower = Follower(
        NODES,
        client,
        name="nodes",
        listed=lambda nodes: seen.put(("all", [each["metadata"]["name"] for each in nodes])),
        changed=lambda each: seen.put(("changed", each["metadata"]["name"])),
        gone=lambda name: seen.put(("gone", name)),
    )

    follower.start()
    client.create(NODES, node("b"))
    client.delete(NODES, "a")

    assert [seen.get(timeout=WAIT) for _ in range(3)] == [("all", ["a"]), ("changed", "b"), ("gone", "a")]
    follower.close()
    follower.close()
    client.create(NODES, node("c"))
    assert seen.empty()
