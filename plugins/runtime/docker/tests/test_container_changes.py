"""Pods are told of by the daemon's events, and all of them whenever the connection is new."""

import logging
import threading
from collections import Counter

import docker_rig
import pytest
from hyperkube_runtime.docker.engine import UNREACHABLE, EngineFailed

from hyperkube.hookspecs.runtime import NotifiesChanges
from hyperkube.testing.waiting import eventually


@pytest.fixture
def heard(rig):
    """The uids that were told, counted."""
    told, lock = Counter(), threading.Lock()

    def notify(uid):
        with lock:
            told[uid] += 1

    rig.runtime.subscribe(notify)
    eventually(lambda: rig.engine.streams)
    rig.engine.streams[0].put({"Actor": {"Attributes": {"io.kubernetes.pod.uid": "marker"}}})
    eventually(lambda: told.pop("marker", 0))  # what is heard comes after the list of all pods
    yield told
    rig.runtime.close()


def test_the_runtime_tells_of_changes_by_itself(rig):
    assert isinstance(rig.runtime, NotifiesChanges)


def test_each_step_of_a_pod_is_told(rig, heard):
    sandbox = rig.sandbox()
    eventually(lambda: heard["u"] == 2)  # created, started
    container = rig.container(sandbox, labels=docker_rig.LABELS)
    eventually(lambda: heard["u"] == 3)
    rig.runtime.start_container(container)
    eventually(lambda: heard["u"] == 4)
    rig.engine.end(container, 1)
    eventually(lambda: heard["u"] == 5)
    rig.runtime.remove_container(container)
    eventually(lambda: heard["u"] == 6)


def test_all_pods_are_told_when_the_daemon_is_back(rig, heard, caplog):
    rig.sandbox()
    eventually(lambda: heard["u"] == 2)

    with caplog.at_level(logging.WARNING, "hyperkube.docker"):
        rig.engine.failures["events"] = [EngineFailed(UNREACHABLE, "is it running?")]
        rig.engine.streams[0].put(None)
        eventually(lambda: len(rig.engine.streams) == 2)
    eventually(lambda: heard["u"] == 3)

    own = [record.getMessage() for record in caplog.records if record.name == "hyperkube.docker"]
    assert own == ["docker's events are not heard: is it running?"]


def test_nothing_is_heard_after_the_end(rig, heard):
    rig.runtime.close()

    rig.sandbox()

    assert not heard
