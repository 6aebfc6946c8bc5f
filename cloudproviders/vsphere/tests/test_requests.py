"""What a vCenter is asked for each thing that is asked of the provider: a table, beside which Kubernetes' can be read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hyperkube_testing.rest_cloud import read_table
from pyVmomi import vim

from hyperkube.hookspecs.cloud import DiskRequest
from hyperkube.machinery.errors import HyperkubeError

TABLE = Path(__file__).with_name("requests.txt")
GIB = 2**30
AT_FIRST = "metadata-at-first"
"""The one case before which nobody has logged in; zones are known in the others."""
UUID = "422e4956-ad22-1139-6d72-59cc8f26bc90"
OF_FIRMWARE = "56492e42-22ad-3911-6d72-59cc8f26bc90"
GONE = {"metadata": {"name": "gone"}, "spec": {"providerID": "vsphere://42001111-0000-0000-0000-000000000000"}}
CLASSES = {
    "thin": {},
    "zeroedthick": {"diskformat": "zeroedthick"},
    "eagerzeroedthick": {"diskformat": "eagerzeroedthick"},
    "datastore": {"datastore": "zone-1"},
    "datastore-cluster": {"datastore": "pod/zone-1"},
    "datastore-of-none": {"datastore": "none"},
    "policy": {"storagepolicyname": "gold"},
    "policy-thick": {"storagepolicyname": "gold", "diskformat": "eagerzeroedthick"},
    "policy-of-none": {"storagepolicyname": "none"},
    "policy-unfit": {"storagepolicyname": "iron"},
    "vsan": {"datastore": "san", "hostfailurestotolerate": "1", "diskstripes": "2"},
    "vsan-elsewhere": {"hostfailurestotolerate": "1"},
    "option-of-none": {"colour": "red"},
}


class World:
    """A furnished vCenter, the provider, and one of its machines."""

    def __init__(self, folder):
        vmware = sys.modules["vsphere_vmware"]
        self.double = vmware.furnished(page=100)
        self.double.policies = {"gold": {"datastore-zone-0"}, "iron": set()}
        self.double.datastore(vim.Datacenter("datacenter-dc"), "san", self.double.hosts[0], kind="vsan")
        self.cloud = vmware.provider(vmware.built(self.double, folder))
        self.node = self.double.machine(self.double.hosts[0][0], uuid=UUID)
        self.other = self.double.machine(self.double.hosts[1][0], "node-2")

    @property
    def instances(self):
        return self.cloud.instances

    @property
    def disks(self):
        return self.cloud.disks

    def disk(self, zone="", **parameters):
        return self.disks.create(DiskRequest(name="pvc-1", size=GIB, zone=zone, parameters=parameters))

    def attached(self):
        made = self.disk().id
        self.disks.attach(made, self.node)
        return made


def named(**info):
    return {"metadata": {"name": "node-1"}, "spec": {}, "status": {"nodeInfo": info}}


def cases():
    """Return what comes before, which is not in the table, and what is asked, by name."""
    made = {
        "exists": (None, lambda world, _: world.instances.exists(world.node)),
        "exists-not": (None, lambda world, _: world.instances.exists(GONE)),
        "exists-by-firmware": (None, lambda world, _: world.instances.exists(named(systemUUID=OF_FIRMWARE))),
        "exists-by-name": (None, lambda world, _: world.instances.exists(named())),
        "shut-down": (None, lambda world, _: world.instances.is_shut_down(world.node)),
        AT_FIRST: (None, lambda world, _: world.instances.metadata(world.node).zone),
        "metadata": (None, lambda world, _: world.instances.metadata(world.other).zone),
        "metadata-again": (None, lambda world, _: world.instances.metadata(world.node).zone),
        "metadata-of-none": (None, lambda world, _: world.instances.metadata(GONE)),
        "make-in-a-zone": (None, lambda world, _: world.disk("zone-1").id),
        "make-again": (World.disk, lambda world, _: world.disk().id),
        "delete": (World.disk, lambda world, held: world.disks.delete(held.id)),
        "delete-again": (None, lambda world, _: world.disks.delete("[fast] kubevols/none.vmdk")),
        "delete-attached": (World.attached, lambda world, held: world.disks.delete(held)),
        "grow": (World.disk, lambda world, held: world.disks.resize(held.id, 2 * GIB)),
        "grow-not": (World.disk, lambda world, held: world.disks.resize(held.id, GIB)),
        "attach": (World.disk, lambda world, held: world.disks.attach(held.id, world.node)),
        "attach-again": (World.attached, lambda world, held: world.disks.attach(held, world.node)),
        "attach-elsewhere": (World.attached, lambda world, held: world.disks.attach(held, world.other)),
        "attach-none": (None, lambda world, _: world.disks.attach("[fast] kubevols/none.vmdk", world.node)),
        "attach-to-none": (World.disk, lambda world, held: world.disks.attach(held.id, GONE)),
        "detach": (World.attached, lambda world, held: world.disks.detach(held, "node-1")),
        "detach-again": (World.disk, lambda world, held: world.disks.detach(held.id, "node-1")),
        "attached": (World.attached, lambda world, held: world.disks.attached([held], "node-1")),
        "attached-elsewhere": (World.attached, lambda world, held: world.disks.attached([held], "node-2")),
        "labels": (
            World.disk,
            lambda world, held: world.cloud.volumes.labels({"spec": {"vsphereVolume": {"volumePath": held.id}}}),
        ),
    }
    for name, parameters in CLASSES.items():
        made[f"make-{name}"] = (None, lambda world, _, parameters=parameters: world.disk(**parameters).id)
    return made


def line(method, path, body):
    """Return a call as a line, reads of properties in short."""
    if method == "RetrievePropertiesEx":
        (spec,), (asked,) = body["specSet"], body["specSet"][0]["objectSet"]
        ways = [f"{way['type']}.{way['path']}" for way in asked.get("selectSet", ())]
        wanted = [f"{each['type']}: {', '.join(each['pathSet'])}" for each in spec["propSet"]]
        return f"{method} {asked['obj']} {' '.join(ways)} → {'; '.join(wanted)}".replace("  ", " ")
    return f"{method} {path}" + (f" {json.dumps(body, sort_keys=True)}" if body else "")


def told(name, folder):
    """Return the calls of a case, one a line, and what came of it; looks at tasks are left out."""
    before, asked = cases()[name]
    world = World(folder)
    if name != AT_FIRST:
        world.instances.metadata(world.node)
    held = before(world) if before else None
    start = len(world.double.sent)
    try:
        end = "→ " + json.dumps(asked(world, held))
    except HyperkubeError as error:
        end = f"! {type(error).__name__}: {error}"
    lines = [
        line(method, path, body) for method, path, body in world.double.sent[start:] if '"task-' not in json.dumps(body)
    ]
    return "\n".join([*lines, end])


@pytest.mark.parametrize("name", cases())
def test_it_asks_what_the_table_says(name, tmp_path):
    assert told(name, tmp_path) == read_table(TABLE.read_text())[name]


def test_the_table_has_every_case():
    assert list(read_table(TABLE.read_text())) == list(cases())
    assert len(cases()) >= 30
