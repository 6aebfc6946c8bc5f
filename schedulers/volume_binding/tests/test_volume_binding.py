"""Claims that are bound keep their pod in reach; the others are found, held, joined or made."""

import threading
import time

import pytest
from hyperkube_scheduler.volume_binding import (
    CONFLICT_REASON,
    IMMEDIATE_REASON,
    NO_SPACE_REASON,
    NO_VOLUME_LEFT_REASON,
    NO_VOLUME_REASON,
    SELECTED_NODE,
    VolumeBinding,
    fits_claim,
)
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import (
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

POD = {"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}


def claim(bound="", size="1Gi", storage_class="late"):
    meta = {"name": "data", "namespace": "default", "uid": "c1"}
    if bound:
        meta["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    spec = {"storageClassName": storage_class, "resources": {"requests": {"storage": size}}}
    return {
        "metadata": meta,
        "spec": {**spec, "accessModes": ["ReadWriteOnce"], **({"volumeName": bound} if bound else {})},
    }


def volume(name, size="1Gi", host="", **spec):
    if host:
        term = {"matchExpressions": [{"key": "host", "operator": "In", "values": [host]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    base = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late"}
    return {"metadata": {"name": name}, "spec": {**base, **spec}}


class World:
    def __init__(
        self, a_claim=None, volumes=(), provisioner="kubernetes.io/no-provisioner", mode="WaitForFirstConsumer"
    ):
        self.client = FakeClient()
        made = {"metadata": {"name": "late"}, "provisioner": provisioner, "volumeBindingMode": mode}
        self.client.create(STORAGE_CLASSES, made)
        if a_claim is not None:
            self.client.create(PERSISTENT_VOLUME_CLAIMS, a_claim)
        for each in volumes:
            self.client.create(PERSISTENT_VOLUMES, each)
        self.informers = InformerFactory(self.client)
        self.informers.start()
        context = PluginContext(name="VolumeBinding", client=self.client, informers=self.informers, clock=SystemClock())
        self.plugin = VolumeBinding(context)
        self.plugin.connect(lambda _change: None)
        self.nodes = table({"name": "a", "labels": {"host": "a"}}, {"name": "b", "labels": {"host": "b"}})
        self.pod = pod_info(POD, self.nodes)

    def filtered(self):
        return self.plugin.filter(self.pod, self.nodes)


@pytest.mark.parametrize(
    ("world", "kept", "reason"),
    [
        pytest.param(World, [False, False], 'persistentvolumeclaim "data" not found', id="missing"),
        pytest.param(lambda: World(claim(), mode="Immediate"), [False, False], IMMEDIATE_REASON, id="immediate"),
        pytest.param(
            lambda: World(claim("pv"), [volume("pv", host="a")]), [True, False], CONFLICT_REASON, id="bound-elsewhere"
        ),
        pytest.param(lambda: World(claim("gone")), [False, False], NO_VOLUME_LEFT_REASON, id="volume-gone"),
        pytest.param(lambda: World(claim()), [False, False], NO_VOLUME_REASON, id="no-volume"),
        pytest.param(
            lambda: World(claim(), [volume("pv", host="b")]), [False, True], NO_VOLUME_REASON, id="volume-of-one-node"
        ),
        pytest.param(lambda: World(claim(), provisioner="example.com/p"), [True, True], "", id="made-anywhere"),
    ],
)
def test_nodes_are_kept_by_their_volumes(world, kept, reason):
    result = world().filtered()

    assert result.mask.tolist() == kept
    assert list(result.reasons) == ([reason] if reason else [])


def capacity(name, amount, labels, **words):
    row = {"storageClassName": "late", "nodeTopology": {"matchLabels": labels}, "capacity": amount, **words}
    return {"metadata": {"name": name, "namespace": "default"}, **row}


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        pytest.param([capacity("a", "5Gi", {"host": "a"})], [True, False], id="where-it-is-said"),
        pytest.param([capacity("a", "1Mi", {"host": "a"})], [False, False], id="too-little"),
        pytest.param([capacity("a", "5Gi", {}, maximumVolumeSize="1Mi")], [False, False], id="volumes-too-small"),
        pytest.param([capacity("a", "5Gi", {}, storageClassName="other")], [False, False], id="another-class"),
        pytest.param([{**capacity("a", "5Gi", {}), "nodeTopology": None}], [False, False], id="nowhere"),
        pytest.param([capacity("a", "5Gi", {})], [True, True], id="everywhere"),
    ],
)
def test_a_driver_that_tells_its_room_is_asked(rows, kept):
    world = World(claim(), provisioner="example.com/p")
    world.client.create(CSI_DRIVERS, {"metadata": {"name": "example.com/p"}, "spec": {"storageCapacity": True}})
    for row in rows:
        world.client.create(CSI_STORAGE_CAPACITIES, row)

    result = world.filtered()

    assert result.mask.tolist() == kept
    assert list(result.reasons) == ([] if all(kept) else [NO_SPACE_REASON])


def test_a_driver_that_tells_nothing_has_room():
    world = World(claim(), provisioner="example.com/p")
    world.client.create(CSI_DRIVERS, {"metadata": {"name": "example.com/p"}, "spec": {"storageCapacity": False}})

    assert world.filtered().mask.all()


def test_a_held_volume_is_not_given_twice():
    world = World(claim(), [volume("pv")])
    world.filtered()
    world.plugin.reserve(world.pod, "a")
    other = pod_info({**POD, "metadata": {"name": "other", "namespace": "default"}}, world.nodes)

    held = world.plugin.filter(other, world.nodes).mask.any()
    world.plugin.unreserve(world.pod, "a")

    assert not held
    assert world.plugin.filter(other, world.nodes).mask.all()


def finish(world):
    """Stand in for the volume controller: the claim is bound, to a volume that is made if need be."""
    if not world.client.list(PERSISTENT_VOLUMES).items:
        world.client.create(PERSISTENT_VOLUMES, volume("pv"))
    change = {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "pv"}}
    world.client.patch(PERSISTENT_VOLUME_CLAIMS, "data", change, "default")


def test_claim_and_volume_are_joined_before_binding():
    world = World(claim(), [volume("large", "9Gi"), volume("pv", "2Gi")])
    world.filtered()
    world.plugin.reserve(world.pod, "a")
    threading.Timer(0.05, finish, [world]).start()

    why = world.plugin.pre_bind(world.pod, "a")

    assert why == ""
    assert world.client.get(PERSISTENT_VOLUMES, "pv")["spec"]["claimRef"]["name"] == "data"


def test_a_volume_is_asked_for_on_the_chosen_node():
    world = World(claim(), provisioner="example.com/p")
    world.filtered()
    world.plugin.reserve(world.pod, "b")
    threading.Timer(0.05, finish, [world]).start()

    why = world.plugin.pre_bind(world.pod, "b")

    found = world.client.get(PERSISTENT_VOLUME_CLAIMS, "data", "default")
    assert why == ""
    assert found["metadata"]["annotations"][SELECTED_NODE] == "b"


def test_a_provisioner_that_cannot_make_it_there_gives_the_node_back():
    world = World(claim(), provisioner="example.com/p")
    world.filtered()
    world.plugin.reserve(world.pod, "b")
    said = []
    waiting = threading.Thread(target=lambda: said.append(world.plugin.pre_bind(world.pod, "b")))
    waiting.start()
    deadline = time.monotonic() + 60
    while SELECTED_NODE not in world.client.get(PERSISTENT_VOLUME_CLAIMS, "data", "default")["metadata"].get(
        "annotations", {}
    ):
        assert time.monotonic() < deadline
        waiting.join(0.01)

    change = {"metadata": {"annotations": {SELECTED_NODE: None}}}
    world.client.patch(PERSISTENT_VOLUME_CLAIMS, "data", change, "default")
    waiting.join(60)

    assert said == ['binding volumes: provisioning failed for PVC "data"']


@pytest.mark.parametrize(
    ("one", "fits"),
    [
        pytest.param(volume("pv", "2Gi"), True, id="larger"),
        pytest.param(volume("pv", "1Mi"), False, id="smaller"),
        pytest.param(volume("pv", volumeMode="Block"), False, id="mode"),
        pytest.param(volume("pv", storageClassName="other"), False, id="class"),
        pytest.param(volume("pv", claimRef={"namespace": "default", "name": "data"}), True, id="meant"),
        pytest.param(volume("pv", claimRef={"namespace": "default", "name": "other"}), False, id="anothers"),
    ],
)
def test_which_volumes_fit(one, fits):
    assert fits_claim(one, claim()) is fits


class TestContract(SchedulingContract):
    plugin = VolumeBinding
    nodes = ({"name": "a", "labels": {"host": "a"}}, {"name": "b"})
    pods = (POD,)

    def build(self):
        return World(claim("pv"), [volume("pv", host="a")]).plugin


def test_a_negative_timeout_is_refused():
    with pytest.raises(UsageError, match="bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds"):
        VolumeBinding(PluginContext(name="VolumeBinding", settings={"bindTimeoutSeconds": -1}))
