"""Which nodes have room for a pod's volumes, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/nodevolumelimits/csi_test.go``. A claim that is
missing is called there as the test's own lister calls it, in the plural; here, as the real one does.
"""

import pytest
from hyperkube_scheduler.node_volume_limits import REASON, NodeVolumeLimits
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from hyperkube.plugin import PluginContext

EBS, GCE, TREE, HOST = "ebs.csi.aws.com", "pd.csi.storage.gke.io", "kubernetes.io/aws-ebs", "kubernetes.io/hostpath"
SHORT = {EBS: "ebs", GCE: "gce", TREE: "tree", HOST: "host"}
IN_TREE = (TREE, EBS)
NO_LIMIT, NO_CSI_NODE = "no limit", "no CSINode"
MISSING = '! looking up PVC test/abc-xyz: persistentvolumeclaim "abc-xyz" not found'
FOREIGN = "! PVC test/abc-xyz was not created for pod test/abc (pod is not owner)"


def source_of(driver, name):
    if driver == TREE:
        return {"awsElasticBlockStore": {"volumeID": name}}
    return {"hostPath": {"path": "/tmp"}} if driver == HOST else {"csi": {"driver": driver, "volumeHandle": name}}


def claim(name, namespace="default", owner=None, **spec):
    meta = {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"}
    if owner:
        meta["ownerReferences"] = [{"kind": "Pod", "name": "abc", "uid": owner, "controller": True}]
    return {"metadata": meta, "spec": spec}


def build(drivers, limit, attached, claims, **context):
    """Four volumes of each driver with a claim each, a claim that waits, one without class, one whose volume is lost."""
    client = FakeClient()
    client.create(STORAGE_CLASSES, {"metadata": {"name": "csi-sc"}, "provisioner": drivers[0]})
    for driver in drivers:
        for index in range(4):
            name = f"{SHORT[driver]}-{index}"
            client.create(PERSISTENT_VOLUMES, {"metadata": {"name": name}, "spec": source_of(driver, name)})
            client.create(PERSISTENT_VOLUME_CLAIMS, claim(name, volumeName=name))
        for index in range(attached):
            spec = {"nodeName": "n", "attacher": driver}
            spec["source"] = {"persistentVolumeName": f"{SHORT[driver]}-{index}"}
            client.create(VOLUME_ATTACHMENTS, {"metadata": {"name": f"{SHORT[driver]}-{index}"}, "spec": spec})
    client.create(PERSISTENT_VOLUME_CLAIMS, claim("pending", storageClassName="csi-sc"))
    client.create(PERSISTENT_VOLUME_CLAIMS, claim("classless"))
    client.create(PERSISTENT_VOLUME_CLAIMS, claim("lost", storageClassName="csi-sc", volumeName="missing-in-action"))
    for name, owner in claims:
        client.create(PERSISTENT_VOLUME_CLAIMS, claim(name, "test", owner, storageClassName="csi-sc"))
    if limit != NO_CSI_NODE:
        count = {} if limit == NO_LIMIT else {"allocatable": {"count": limit}}
        client.create(
            CSI_NODES, {"metadata": {"name": "n"}, "spec": {"drivers": [{"name": name, **count} for name in drivers]}}
        )
    informers = InformerFactory(client)
    informers.start()
    plugin = NodeVolumeLimits(PluginContext(name="NodeVolumeLimits", client=client, informers=informers, **context))
    plugin.connect(lambda _change: None)
    return plugin


def volume(word):
    kind, _, name = word.partition(":")
    if kind == "ephemeral":
        return {"name": name, "ephemeral": {}}
    if kind == "inline":
        return {"name": name, "awsElasticBlockStore": {"volumeID": name}}
    if kind in {"configMap", "secret"}:
        return {"name": kind, kind: {}}
    return {"name": word, "persistentVolumeClaim": {"claimName": word}}


def pod(words, name="p"):
    """A pod with these volumes; one with ephemeral ones is ``test/abc``, with the uid that its volumes' claims have."""
    own = any(word.startswith("ephemeral") for word in words)
    uid = "12345II" if "ephemeral:x" in words else "12345"
    meta = {"name": "abc", "namespace": "test", "uid": uid} if own else {"name": name, "namespace": "default"}
    return {
        "metadata": meta,
        "spec": {"containers": [{"name": "c"}], "volumes": [volume(word) for word in words], "nodeName": "n"},
    }


def verdict(plugin, wanted, placed):
    nodes = table({"name": "n"})
    for number, words in enumerate(placed):
        nodes.put_pod(pod(words, f"p{number}"), "n")
    return verdicts(plugin, pod_info(pod(wanted, "new"), nodes), nodes)[0]


ONE, TWO, RUNNING = ["ebs-0"], ["ebs-1", "ebs-2"], ["ebs-3"]
TREE_ONE, TREE_TWO, GCE_TWO = ["tree-0"], ["tree-1", "tree-2"], ["gce-1", "gce-2"]
INLINE, SAME_AS_CSI = ["inline:aws-inline1"], ["inline:ebs-1"]
OTHERS = ["configMap", "secret"]
EPHEMERAL, EPHEMERAL_TWO = ["ephemeral:xyz"], ["ephemeral:x", "ephemeral:y"]
OWN, BOTH_OWN, NOT_OWN = [("abc-xyz", "12345")], [("abc-x", "12345II"), ("abc-y", "12345II")], [("abc-xyz", None)]


@pytest.mark.parametrize(
    ("wanted", "placed", "drivers", "limit", "expected"),
    [
        pytest.param(ONE, [RUNNING, TWO], (EBS,), 4, "", id="room for all"),
        pytest.param(ONE, [RUNNING, TWO], (EBS,), 2, REASON, id="one too many"),
        pytest.param(ONE, [RUNNING, TWO], (EBS,), NO_LIMIT, "", id="a driver without limits"),
        pytest.param(ONE, [["pending"], TWO], (EBS,), 2, REASON, id="claims that wait count"),
        pytest.param(ONE, [["pending"], ["pending"], TWO], (EBS,), 4, "", id="the same one counts once"),
        pytest.param(ONE, [["lost"], TWO], (EBS,), 2, REASON, id="a lost volume counts by its class"),
        pytest.param(ONE, [RUNNING, ["classless"]], (EBS,), 2, "", id="claims without class do not count"),
        pytest.param(ONE, [GCE_TWO, TWO], (EBS, GCE), 2, REASON, id="the same driver counts"),
        pytest.param(GCE_TWO, [TWO, RUNNING], (EBS, GCE), 2, "", id="other drivers do not"),
        pytest.param(TREE_ONE, [TREE_TWO], IN_TREE, 2, REASON, id="volumes of the tree count"),
        pytest.param(INLINE, [TREE_TWO], IN_TREE, NO_CSI_NODE, "", id="a node without CSINode"),
        pytest.param(["pending"], [TREE_TWO], IN_TREE, 2, REASON, id="claims of the tree that wait count"),
        pytest.param(TREE_ONE, [TREE_TWO], IN_TREE, NO_LIMIT, "", id="the tree's driver without limits"),
        pytest.param(["host-0"], [TWO], (HOST, EBS), 2, "", id="what never moved does not count"),
        pytest.param(INLINE, [TREE_TWO], IN_TREE, 2, REASON, id="disks in the pod count"),
        pytest.param(TREE_ONE, [TWO], IN_TREE, 2, REASON, id="the tree's among the driver's"),
        pytest.param(INLINE, [TWO, TREE_ONE], IN_TREE, 3, REASON, id="disks in the pod among both"),
        pytest.param(SAME_AS_CSI, [TWO, TREE_ONE], IN_TREE, 3, "", id="the driver's own disk named in the pod"),
        pytest.param(ONE, [TREE_TWO], IN_TREE, 2, REASON, id="the driver's among the tree's"),
        pytest.param([*OTHERS, *ONE], [], (EBS,), 2, "", id="claims among other volumes"),
        pytest.param([*OTHERS, *INLINE], [TREE_TWO], IN_TREE, 2, REASON, id="disks among other volumes"),
    ],
)
def test_volumes_of_drivers_and_of_the_tree(wanted, placed, drivers, limit, expected):
    assert verdict(build(drivers, limit, 0, ()), wanted, placed) == expected


@pytest.mark.parametrize(("attached", "expected"), [(2, REASON), (1, "")])
def test_what_is_attached_without_any_pod_counts(attached, expected):
    assert verdict(build((EBS,), 2, attached, ()), ONE, []) == expected


@pytest.mark.parametrize(
    ("wanted", "placed", "claims", "limit", "expected"),
    [
        pytest.param(EPHEMERAL, [], (), NO_LIMIT, MISSING, id="no claim yet"),
        pytest.param(EPHEMERAL, [], NOT_OWN, NO_LIMIT, FOREIGN, id="another's claim"),
        pytest.param(EPHEMERAL, [], OWN, NO_LIMIT, "", id="its own claim"),
        pytest.param(EPHEMERAL, [RUNNING, TWO], OWN, 2, REASON, id="one too many"),
        pytest.param(ONE, [RUNNING, EPHEMERAL_TWO], BOTH_OWN, 2, REASON, id="those of placed pods count"),
        pytest.param(ONE, [RUNNING, EPHEMERAL, TWO], OWN, 3, REASON, id="among others"),
        pytest.param(ONE, [RUNNING, EPHEMERAL, TWO], OWN, 5, "", id="and there is room"),
        pytest.param([*OTHERS, *EPHEMERAL], [], (), NO_LIMIT, MISSING, id="no claim yet, among other volumes"),
    ],
)
def test_ephemeral_volumes(wanted, placed, claims, limit, expected):
    assert verdict(build((EBS,), limit, 0, claims), wanted, placed) == expected


def test_configuration_alone_is_not_asked_about():
    nodes = table({"name": "n"})

    assert build((EBS,), 2, 0, ()).skips(pod_info(pod(OTHERS), nodes))


@pytest.mark.parametrize(
    ("told", "gate", "expected"),
    [
        pytest.param(True, True, f"{EBS} CSI driver is not installed on the node", id="asked for"),
        pytest.param(False, True, "", id="not asked for"),
        pytest.param(True, False, "", id="gate off"),
    ],
)
def test_a_node_without_the_driver(told, gate, expected):
    plugin = build((EBS,), NO_CSI_NODE, 0, (), gates={"VolumeLimitScaling": gate})
    driver = {"metadata": {"name": EBS}, "spec": {"preventPodSchedulingIfMissing": told}}
    plugin.context.client.create(CSI_DRIVERS, driver)

    assert verdict(plugin, ONE, []) == expected


def test_what_may_help_wakes_the_pods_that_were_refused():
    assert {
        "csinodes",
        "persistentvolumeclaims",
        "volumeattachments",
        "pod gone",
    } <= NodeVolumeLimits.events_to_register
