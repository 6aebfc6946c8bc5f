"""A cloud whose machines have ranges for pods."""

from __future__ import annotations

import pytest
from hyperkube_controller.nodeipam import Nodeipam

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.kinds.resources import NODES
from hyperkube.plugin import Plugin
from hyperkube.testing.controller_rig import ControllerRig


class Machines:
    """Machines of a cloud, with the ranges that it has given them: name → CIDRs, or why it does not tell."""

    given = {}  # noqa: RUF012  each test puts its own in place
    refusals = []  # noqa: RUF012  likewise

    def pod_ranges(self, node):
        found = self.given.get(node["metadata"]["name"])
        if isinstance(found, Exception):
            raise found
        return found or []

    def add_pod_range(self, node, cidr):
        if self.refusals:
            raise self.refusals.pop(0)
        self.given.setdefault(node["metadata"]["name"], []).append(cidr)


class Nimbus(Plugin):
    """A cloud that gives machines ranges."""

    @hookimpl
    def cloud_provider(self):
        return Cloud(name="fake", instances=Machines())


def machine(name, *ranges):
    spec = {"podCIDR": ranges[0], "podCIDRs": list(ranges)} if ranges else {}
    return {"kind": "Node", "metadata": {"name": name}, "spec": {**spec, "providerID": f"fake://{name}"}}


@pytest.fixture
def nimbus(monkeypatch):
    """Return what starts the controller on nodes, with an allocator and the ranges of machines."""
    pytest.importorskip("hyperkube_cloud.fake", reason="its place is taken")
    monkeypatch.setattr("hyperkube_cloud.fake.Fake", Nimbus)
    monkeypatch.setattr(Machines, "given", {})
    monkeypatch.setattr(Machines, "refusals", [])

    def started(kind, *nodes, given=None, **options):
        Machines.given |= given or {}
        settings = {"allocate_node_cidrs": True, "cluster_cidr": "10.8.0.0/16", "cloud_provider": "fake"}
        rig = ControllerRig(Nodeipam, settings={**settings, "cidr_allocator_type": kind, **options})
        rig.machines = Machines
        rig.client.seed(NODES, *nodes)
        rig.settle()
        return rig

    started.machine = machine
    return started
