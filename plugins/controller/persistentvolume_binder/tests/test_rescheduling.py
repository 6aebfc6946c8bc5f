"""A claim whose volume cannot be made on the node that the scheduler selected is given back to it."""

import importlib.util
from pathlib import Path

import pytest

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS

_spec = importlib.util.spec_from_file_location("binder_world", Path(__file__).with_name("binder_world.py"))
assert _spec is not None
assert _spec.loader is not None
_world = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_world)
Disks, World, claim, storage_class = _world.Disks, _world.World, _world.claim, _world.storage_class


def annotations(world):
    return world.claim()["metadata"].get("annotations") or {}


@pytest.mark.parametrize("selected", [True, False])
def test_the_scheduler_chooses_again_where_no_volume_can_be_made(selected):
    wanted = claim(storage_class="fast")
    wanted["metadata"]["annotations"] = (
        {"volume.kubernetes.io/selected-node": "full", "kept": "yes"} if selected else {}
    )
    late = storage_class(volumeBindingMode="WaitForFirstConsumer")
    pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": "d"}, "spec": {}}

    world = World([wanted], classes=[late], pods=[pod], disks=Disks("no space"))

    left = {key: value for key, value in annotations(world).items() if "provisioner" not in key}
    assert left == ({"kept": "yes"} if selected else {})
    assert ("ProvisioningFailed" in world.said()) == selected


def test_what_makes_no_volumes_is_no_reason_to_choose_another_node():
    wanted = claim(storage_class="fast")
    wanted["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "n"}
    world = World([], classes=[storage_class()])
    world.plugins[0]._kinds["example.com/disks"] = object()

    world.client.seed(PERSISTENT_VOLUME_CLAIMS, wanted)
    world.settle()

    assert world.said()["ProvisioningFailed"].endswith("volume plugin 'example.com/disks' does not make volumes")
    assert annotations(world)["volume.kubernetes.io/selected-node"] == "n"


def test_a_node_that_is_gone_is_chosen_anew():
    wanted = claim(storage_class="fast")
    wanted["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "gone"}
    late = storage_class(volumeBindingMode="WaitForFirstConsumer")

    world = World([wanted], classes=[late])

    assert "volume.kubernetes.io/selected-node" not in annotations(world)
    assert world.disks.made == []
