"""An operator written with kopf works on our API: handlers, finalizers, status patches, events, timers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_objects import GROUP, custom, definition, served_cluster
from server_processes import Process

from hyperkube.kinds.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, EVENTS
from hyperkube.machinery.groups import GroupVersionResource

pytest.importorskip("kopf", reason="the operator framework 'kopf' is not installed")

pytestmark = pytest.mark.slow

LAMPS = GroupVersionResource(GROUP, "v1", "lamps")


class Operator(Process):
    """The operator as a program of its own."""

    def __init__(self, folder, kubeconfig):
        super().__init__(folder, "operator")
        self.kubeconfig = kubeconfig

    def command(self):
        words = ["run", "--namespace=default", "--standalone", str(Path(__file__).with_name("kopf_operator.py"))]
        return [sys.executable, "-m", "kopf", *words]

    def environment(self):
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "PYTHONPATH": str(Path(__file__).parent)}

    def answers(self):
        return "Initial authentication has finished" in self.tail()


@pytest.fixture(scope="module")
def cluster():
    with served_cluster() as running:
        running.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition("Lamp"))
        yield running


@pytest.fixture(scope="module")
def operator(cluster, tmp_path_factory):
    program = Operator(tmp_path_factory.mktemp("operator"), cluster.kubeconfig)
    try:
        yield program.start()
    finally:
        program.stop()
        lines = program.log.read_text().splitlines()
    complaints = [line for line in lines if ("ERROR" in line or "Traceback" in line) and "flickers" not in line]
    assert not complaints, program.tail()


@pytest.fixture
def lamps(cluster, operator):
    """Return a function that creates a lamp and one that waits for its status."""

    def create(name, labels=None, **spec):
        lamp = custom("Lamp", name, **spec)
        lamp["metadata"]["labels"] = labels or {}
        return cluster.client.create(LAMPS, lamp, "default")

    return create


def reached(cluster, name, **status):
    """Wait until the status of a lamp has these values; return the lamp."""

    def look():
        lamp = cluster.client.get(LAMPS, name, "default")
        found = lamp.get("status", {})
        return all(found.get(key) == value for key, value in status.items()) and lamp

    return cluster.wait(look, f"lamp {name} to reach {status}", 10)


def told(cluster, name):
    """Return reason and type of the events about a lamp."""
    events = cluster.client.list(EVENTS, "default", field_selector=f"involvedObject.name={name}").items
    return {(event["reason"], event["type"]) for event in events}


def test_a_new_object_is_handled_and_guarded_by_a_finalizer(cluster, lamps):
    lamps("new", colour="blue")

    lamp = reached(cluster, "new", phase="On", switched_on={"colour": "blue"})

    assert lamp["metadata"]["finalizers"] == [f"{GROUP}/switch-off"]
    assert lamp["spec"] == {"colour": "blue"}
    assert lamp["metadata"]["generation"] == 1
    cluster.wait(lambda: ("SwitchedOn", "Normal") in told(cluster, "new"), "the event")


def test_a_handler_that_failed_is_tried_again(cluster, lamps):
    lamps("flaky", colour="blue")

    reached(cluster, "flaky", flickers="tries 2")


def test_a_change_of_a_field_is_handled_with_old_and_new(cluster, lamps):
    lamps("changed", colour="blue")
    reached(cluster, "changed", flickers="tries 2")

    cluster.client.patch(LAMPS, "changed", {"spec": {"colour": "red"}}, "default")

    assert reached(cluster, "changed", history="blue to red")["metadata"]["generation"] == 2


def test_an_object_goes_when_its_handler_is_done(cluster, lamps):
    lamps("goes", colour="blue")
    reached(cluster, "goes", phase="On")

    cluster.client.delete(LAMPS, "goes", "default")

    cluster.wait(
        lambda: not cluster.client.list(LAMPS, "default", field_selector="metadata.name=goes").items, "its end"
    )
    cluster.wait(lambda: ("SwitchedOff", "Warning") in told(cluster, "goes"), "the event")


def test_a_timer_counts(cluster, lamps):
    lamps("blinker", labels={"blinks": "yes"}, colour="blue")

    cluster.wait(
        lambda: cluster.client.get(LAMPS, "blinker", "default").get("status", {}).get("blinks", 0) >= 3, "three blinks"
    )


def test_built_in_objects_are_observed_by_label(cluster, operator):
    marked = {"name": "marked", "namespace": "default", "labels": {"seen-by": "lamps"}}
    plain = {"name": "plain", "namespace": "default"}
    for metadata in (plain, marked):
        cluster.client.create(CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, "default")
    cluster.client.delete(CONFIG_MAPS, "marked", "default")

    cluster.wait(lambda: "observed DELETED marked" in operator.log.read_text(), "the observation")

    assert "observed ADDED marked" in operator.log.read_text()
    assert "plain" not in operator.log.read_text()
