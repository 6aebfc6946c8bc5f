"""Which nodes can give a pod its volumes, and which volumes it gets, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/`` (binder_test.go, and TestVolumeBinding
of volume_binding_test.go).
"""

import pytest
from hyperkube_scheduler.volume_binding import (
    CONFLICT_REASON,
    IMMEDIATE_REASON,
    NO_SPACE_REASON,
    NO_VOLUME_LEFT_REASON,
    NO_VOLUME_REASON,
    SELECTED_NODE,
    VolumeBinding,
)
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from hyperkube.plugin import PluginContext

KEY, PROVISIONER = "nodeKey", "test-provisioner"
WAIT, NOW, MAKES, ELSEWHERE = "waitClass", "immediateClass", "waitClassWithProvisioner", "topoMismatchClass"
CLASSES = {
    WAIT: ("WaitForFirstConsumer", "kubernetes.io/no-provisioner", ()),
    NOW: ("Immediate", "", ()),
    MAKES: ("WaitForFirstConsumer", PROVISIONER, ("node1", "reference-value")),
    ELSEWHERE: ("WaitForFirstConsumer", PROVISIONER, ("reference-value",)),
}
CLAIMS = {
    "unbound": ("1G", WAIT, "", {}),
    "unbound2": ("5G", WAIT, "", {}),
    "prebound": ("1G", WAIT, "pv-node1a", {}),
    "bound": ("1G", WAIT, "pv-bound", {"pv.kubernetes.io/bind-completed": "yes"}),
    "now-unbound": ("1G", NOW, "", {}),
    "now-bound": ("1G", NOW, "pv-bound-now", {"pv.kubernetes.io/bind-completed": "yes"}),
    "made": ("1Gi", MAKES, "", {}),
    "made-here": ("1Gi", MAKES, "", {SELECTED_NODE: "node1"}),
    "made-there": ("1Gi", MAKES, "", {SELECTED_NODE: "node2"}),
    "never-made": ("1Gi", WAIT, "", {}),
    "made-elsewhere": ("1Gi", ELSEWHERE, "", {}),
    "test-pod-v": ("1G", NOW, "pv-bound", {"pv.kubernetes.io/bind-completed": "yes"}),
}
VOLUMES = {
    "pv-node1a": ("node1", "5G", WAIT, ""),
    "pv-node1b": ("node1", "10G", WAIT, ""),
    "pv-node2": ("node2", "1G", WAIT, ""),
    "pv-bound": ("node1", "1G", WAIT, "bound"),
    "pv-bound-now": ("node1", "1G", NOW, "now-bound"),
    "pv-bound-now of node2": ("node2", "1G", NOW, "now-bound"),
}


def claim_of(name, owner=""):
    size, storage_class, bound_to, annotations = CLAIMS[name]
    meta = {"name": name, "namespace": "testns", "uid": "pvc-uid", "annotations": annotations}
    if owner:
        meta["ownerReferences"] = [{"name": "test-pod", "uid": owner, "controller": True}]
    spec = {"resources": {"requests": {"storage": size}}, "storageClassName": storage_class}
    return {"metadata": meta, "spec": {**spec, **({"volumeName": bound_to} if bound_to else {})}}


def volume_of(name):
    node, size, storage_class, taken_by = VOLUMES[name]
    row = {"key": KEY, "operator": "In", "values": [node]}
    spec = {"capacity": {"storage": size}, "storageClassName": storage_class}
    spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [row]}]}}
    if taken_by:
        spec["claimRef"] = {"namespace": "testns", "name": taken_by, "uid": "pvc-uid"}
    return {"metadata": {"name": name.split()[0]}, "spec": spec, "status": {"phase": "Available"}}


def build(claims, volumes, capacities=(), driver=None):
    client = FakeClient()
    for name, (mode, provisioner, nodes) in CLASSES.items():
        row = {"key": KEY, "values": list(nodes)}
        allowed = {"allowedTopologies": [{"matchLabelExpressions": [row]}]} if nodes else {}
        made = {"metadata": {"name": name}, "volumeBindingMode": mode, "provisioner": provisioner, **allowed}
        client.create(STORAGE_CLASSES, made)
    client.seed(PERSISTENT_VOLUME_CLAIMS, *claims)
    client.seed(PERSISTENT_VOLUMES, *volumes)
    client.seed(CSI_STORAGE_CAPACITIES, *capacities)
    if driver is not None:
        client.create(CSI_DRIVERS, {"metadata": {"name": PROVISIONER}, "spec": {"storageCapacity": driver}})
    informers = InformerFactory(client)
    informers.start()
    plugin = VolumeBinding(PluginContext(name="VolumeBinding", client=client, informers=informers))
    plugin.connect(lambda _change: None)
    return plugin


def pod_of(names, ephemeral=False):
    meta = {"name": "test-pod", "namespace": "testns", "uid": "pod-uid"}
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    if ephemeral:
        volumes.append({"name": "v", "ephemeral": {}})
    return {"metadata": meta, "spec": {"volumes": volumes}}


def outcome(plugin, pod):
    """Return the verdict on node1, and for a node that is kept which claims get which volumes, and which are made."""
    nodes = table({"name": "node1", "labels": {KEY: "node1"}})
    info = pod_info(pod, nodes)
    verdict = verdicts(plugin, info, nodes)[0]
    plan = info.state.get("VolumeBinding", {}).get("node1")
    if verdict or plan is None:
        return verdict, {}, []
    joined = {claim["metadata"]["name"]: volume["metadata"]["name"] for claim, volume in plan.joined}
    return verdict, joined, [claim["metadata"]["name"] for claim in plan.provisioned]


NOTHING, IMMEDIATE, NO_VOLUME = {}, f"! {IMMEDIATE_REASON}", f"! {NO_VOLUME_REASON}"
NO_CLAIM, CONFLICT = '! persistentvolumeclaim "bound" not found', f"! {CONFLICT_REASON}"


@pytest.mark.parametrize("driver", [None, True, False])
@pytest.mark.parametrize(
    ("claims", "volumes", "expected", "joined"),
    [
        pytest.param([], [], "", NOTHING, id="no claims"),
        pytest.param(["bound"], ["pv-bound"], "", NOTHING, id="bound"),
        pytest.param(["bound"], [], f"! {NO_VOLUME_LEFT_REASON}", NOTHING, id="bound, volume gone"),
        pytest.param(["prebound"], ["pv-node1a"], IMMEDIATE, NOTHING, id="prebound"),
        pytest.param(
            ["unbound"], ["pv-node2", "pv-node1a", "pv-node1b"], "", {"unbound": "pv-node1a"}, id="volumes of the node"
        ),
        pytest.param(["unbound"], ["pv-node2"], NO_VOLUME, NOTHING, id="volume of another node"),
        pytest.param(
            ["unbound", "unbound2"],
            ["pv-node1a", "pv-node1b"],
            "",
            {"unbound": "pv-node1a", "unbound2": "pv-node1b"},
            id="two claims",
        ),
        pytest.param(
            ["unbound2", "unbound"],
            ["pv-node1a", "pv-node1b"],
            "",
            {"unbound": "pv-node1a", "unbound2": "pv-node1b"},
            id="two claims, the smaller first",
        ),
        pytest.param(["unbound", "unbound2"], ["pv-node1a"], NO_VOLUME, NOTHING, id="two claims, one volume"),
        pytest.param(
            ["unbound", "bound"], ["pv-bound", "pv-node1a"], "", {"unbound": "pv-node1a"}, id="one of them bound"
        ),
        pytest.param(["unbound", "bound"], ["pv-bound", "pv-node2"], NO_VOLUME, NOTHING, id="one bound, no volume"),
        pytest.param(["unbound", "prebound"], ["pv-node1a", "pv-node1b"], IMMEDIATE, NOTHING, id="one prebound"),
        pytest.param(["now-bound"], ["pv-bound-now"], "", NOTHING, id="immediate, bound"),
        pytest.param(["now-bound"], ["pv-bound-now of node2"], CONFLICT, NOTHING, id="immediate, bound elsewhere"),
        pytest.param(["now-unbound"], [], IMMEDIATE, NOTHING, id="immediate, unbound"),
        pytest.param(["now-unbound", "bound"], ["pv-bound"], IMMEDIATE, NOTHING, id="immediate and bound"),
        pytest.param(["now-unbound", "unbound"], [], IMMEDIATE, NOTHING, id="immediate and late"),
    ],
)
def test_claims_find_volumes(claims, volumes, expected, joined, driver):
    plugin = build(map(claim_of, claims), map(volume_of, volumes), driver=driver)

    assert outcome(plugin, pod_of(claims)) == (expected, joined, [])


def test_a_missing_claim():
    assert outcome(build([], []), pod_of(["bound"])) == (NO_CLAIM, {}, [])


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        pytest.param(
            None,
            '! waiting for ephemeral volume controller to create the persistentvolumeclaim "test-pod-v"',
            id="no claim yet",
        ),
        pytest.param("pod-uid", "", id="its own"),
        pytest.param(
            "another",
            "! PVC testns/test-pod-v was not created for pod testns/test-pod (pod is not owner)",
            id="foreign",
        ),
    ],
)
def test_ephemeral_volumes(owner, expected):
    claims = [claim_of("test-pod-v", owner)] if owner else []
    plugin = build(claims, [volume_of("pv-bound")])

    assert outcome(plugin, pod_of([], ephemeral=True)) == (expected, {}, [])


@pytest.mark.parametrize("driver", [None, True, False], ids=["no driver", "driver tells its room", "driver does not"])
@pytest.mark.parametrize(
    ("claims", "volumes", "expected", "joined", "made"),
    [
        pytest.param(["made"], [], "", {}, ["made"], id="one"),
        pytest.param(
            ["unbound", "made"], ["pv-node1a"], "", {"unbound": "pv-node1a"}, ["made"], id="one, and one found"
        ),
        pytest.param(["bound", "made"], ["pv-bound"], "", {}, ["made"], id="one, and one bound"),
        pytest.param(["bound", "made-here"], ["pv-bound"], "", {}, ["made-here"], id="one asked for already"),
        pytest.param(["made-there"], [], NO_VOLUME, {}, [], id="one asked for on another node"),
        pytest.param(["now-unbound"], [], IMMEDIATE, {}, [], id="immediate"),
        pytest.param(["now-bound", "made"], ["pv-bound-now"], "", {}, ["made"], id="one, and an immediate one bound"),
        pytest.param(["never-made"], [], NO_VOLUME, {}, [], id="a class that makes none"),
        pytest.param(["made-elsewhere"], [], NO_VOLUME, {}, [], id="a class that makes none here"),
    ],
)
def test_claims_are_provisioned(claims, volumes, expected, joined, made, driver):
    """A driver that tells its room, but tells of none, makes nothing."""
    plugin = build(map(claim_of, claims), map(volume_of, volumes), driver=driver)

    told = (f"! {NO_SPACE_REASON}", {}, []) if driver and made else (expected, joined, made)
    assert outcome(plugin, pod_of(claims)) == told


def capacity(number, node, amount="", most="", storage_class=MAKES):
    topology = {"matchLabels": {KEY: node}} if node else {}
    row = {"metadata": {"name": f"net{number}", "namespace": "default"}, "nodeTopology": topology}
    amounts = {"capacity": amount, "maximumVolumeSize": most}
    return {**row, "storageClassName": storage_class, **{key: value for key, value in amounts.items() if value}}


@pytest.mark.parametrize("driver", [True, False])
@pytest.mark.parametrize(
    ("rows", "enough"),
    [
        pytest.param([("", "1Gi")], True, id="in the network"),
        pytest.param([("node1", "1Gi")], True, id="local"),
        pytest.param([("", "1Gi"), ("node2", "1Gi"), ("node1", "1Gi")], True, id="several"),
        pytest.param([], False, id="none"),
        pytest.param([("node2", "1Gi")], False, id="another node"),
        pytest.param([("node1", "1Gi", "", WAIT)], False, id="another class"),
        pytest.param([("node1", "1Mi")], False, id="too little"),
        pytest.param([("node1", "1Gi", "1Mi")], False, id="volumes too small"),
        pytest.param([("node1", "0Mi")], False, id="nothing left"),
        pytest.param([("node1", "", "0Mi")], False, id="volumes of no size"),
        pytest.param([("node1",)], False, id="nothing said"),
    ],
)
def test_the_room_that_drivers_tell_of(rows, enough, driver):
    capacities = [capacity(number, *row) for number, row in enumerate(rows)]
    plugin = build([claim_of("made")], [], capacities, driver)

    fits = enough or not driver
    assert outcome(plugin, pod_of(["made"])) == (("", {}, ["made"]) if fits else (f"! {NO_SPACE_REASON}", {}, []))


MIGRATED, NOT_MIGRATED = "kubernetes.io/gce-pd", ""


@pytest.mark.parametrize(
    ("zone", "plugins", "expected"),
    [
        pytest.param("us-east-1", MIGRATED, "", id="same zone"),
        pytest.param("us-east-1", NOT_MIGRATED, "", id="not taken over there"),
        pytest.param("us-east-1", None, "", id="no CSINode"),
        pytest.param("us-east-2", MIGRATED, CONFLICT, id="another zone"),
        pytest.param("us-east-2", NOT_MIGRATED, "", id="another zone, not taken over"),
    ],
)
def test_disks_that_a_driver_took_over_keep_to_its_zones(zone, plugins, expected):
    volume = volume_of("pv-bound")
    del volume["spec"]["nodeAffinity"]
    volume["spec"]["gcePersistentDisk"] = {"pdName": "test-disk"}
    volume["metadata"]["labels"] = {"failure-domain.beta.kubernetes.io/zone": "us-east-1"}
    plugin = build([claim_of("bound")], [volume])
    if plugins is not None:
        annotations = {"storage.alpha.kubernetes.io/migrated-plugins": plugins}
        plugin.context.client.create(CSI_NODES, {"metadata": {"name": "node1", "annotations": annotations}, "spec": {}})
    nodes = table({"name": "node1", "labels": {"topology.gke.io/zone": zone}})

    assert verdicts(plugin, pod_info(pod_of(["bound"]), nodes), nodes) == [expected]


@pytest.mark.parametrize(
    ("claims", "volumes", "change", "expected"),
    [
        pytest.param(["bound", "unbound"], ["pv-bound"], {"other": "label"}, NO_VOLUME, id="one bound, one not"),
        pytest.param(["bound"], [], {"status": {"phase": "Lost"}}, "lost", id="lost"),
        pytest.param(["bound"], [], {"deletionTimestamp": "2030-01-01T00:00:00Z"}, "deleted", id="being deleted"),
    ],
)
def test_claims_that_cannot_be_had(claims, volumes, change, expected):
    made = [claim_of(name) for name in claims]
    made[0]["metadata"] |= {key: value for key, value in change.items() if key != "status"}
    made[0]["status"] = change.get("status", {})
    said = {
        "lost": '! persistentvolumeclaim "bound" bound to non-existent persistentvolume "pv-bound"',
        "deleted": '! persistentvolumeclaim "bound" is being deleted',
    }

    assert outcome(build(made, map(volume_of, volumes)), pod_of(claims)) == (said.get(expected, expected), {}, [])


def test_a_node_may_miss_bound_and_unbound_volumes_at_once():
    plugin = build(map(claim_of, ["bound", "unbound"]), [volume_of("pv-bound")])
    nodes = table({"name": "node1", "labels": {KEY: "another"}})

    told = verdicts(plugin, pod_info(pod_of(["bound", "unbound"]), nodes), nodes)

    assert told == [f"! {CONFLICT_REASON}, {NO_VOLUME_REASON}"]


def test_a_volume_that_names_the_claim_goes_before_a_smaller_one():
    meant, smaller = volume_of("pv-node1b"), volume_of("pv-node1a")
    meant["spec"]["claimRef"] = {"namespace": "testns", "name": "unbound"}

    assert outcome(build([claim_of("unbound")], [smaller, meant]), pod_of(["unbound"]))[1] == {"unbound": "pv-node1b"}


def test_what_may_help_wakes_the_pods_that_were_refused():
    kinds = {"storageclasses", "persistentvolumeclaims", "persistentvolumes", "node", "csinodes", "csidrivers"}

    assert kinds | {"csistoragecapacities"} <= VolumeBinding.events_to_register
