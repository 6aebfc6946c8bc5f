"""How many disks a machine takes, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/nodevolumelimits/non_csi_test.go`` and, for Cinder,
the older ``cinder_test.go``. What is an error of the cycle there refuses all nodes here, with the same text.
"""

import pytest
from hyperkube_scheduler.cloud_volume_limits import (
    LIMIT_VARIABLE,
    REASON,
    AzureDiskLimits,
    CinderLimits,
    EBSLimits,
    GCEPDLimits,
)
from hyperkube_testing.scheduling.tables import node, pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import CSI_NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from hyperkube.plugin import PluginContext

ALL = (EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits)
CLAIMS = {
    "some": {"volumeName": "some", "storageClassName": "own"},
    "someNon": {"volumeName": "someNon", "storageClassName": "own"},
    "volumeLost": {"volumeName": "lost", "storageClassName": "own"},
    "anotherLost": {"volumeName": "lost-too", "storageClassName": "own"},
    "unbound": {"storageClassName": "own"},
    "anotherUnbound": {"storageClassName": "own"},
    "standardClass": {"storageClassName": "standard-sc"},
    "invalidClass": {"storageClassName": "invalid-sc"},
}


def build(plugin, disks, claims=(), provisioner=None):
    """The plugin, where the claim ``some`` has a disk of the kind that `disks` counts, and ``someNon`` something else."""
    client = FakeClient()
    made_by = plugin.provisioner if provisioner is None else provisioner
    client.create(STORAGE_CLASSES, {"metadata": {"name": "own"}, "provisioner": made_by})
    client.create(STORAGE_CLASSES, {"metadata": {"name": "standard-sc"}, "provisioner": "standard-sc"})
    client.create(PERSISTENT_VOLUMES, {"metadata": {"name": "some"}, "spec": disk(disks, "someVol")})
    client.create(PERSISTENT_VOLUMES, {"metadata": {"name": "someNon"}, "spec": {"hostPath": {"path": "/tmp"}}})
    for name, spec in CLAIMS.items():
        meta = {"name": name, "namespace": "default"}
        client.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": meta, "spec": spec})
    for each in claims:
        client.create(PERSISTENT_VOLUME_CLAIMS, each)
    informers = InformerFactory(client)
    informers.start()
    built = plugin(PluginContext(name=plugin.__name__, client=client, informers=informers))
    built.connect(lambda _change: None)
    return built


def disk(plugin, name):
    return {plugin.source: {plugin.id_field: name}}


def pod(name, words, disks):
    """A pod with these disks, and claims by the names above or, with a small letter only, disks by theirs."""
    volumes = []
    for word in words:
        if word == "path":
            volumes.append({"name": word, "hostPath": {"path": "/"}})
        elif word in CLAIMS or word.startswith("deleted"):
            volumes.append({"name": word, "persistentVolumeClaim": {"claimName": word}})
        else:
            volumes.append({"name": word, **disk(disks, word)})
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "volumes": volumes}}


def verdict(plugin, wanted, placed, limit, disks):
    nodes = table({"name": "n", plugin.resource: str(limit)})
    for number, words in enumerate(placed):
        nodes.put_pod(pod(f"p{number}", words, disks), "n")
    return verdicts(plugin, pod_info(pod("new", wanted, disks), nodes), nodes)[0]


ONE, TWO, SPLIT, PATH = ["ovp"], ["tvp1", "tvp2"], ["path", "svp"], ["path"]
SOME, SPLIT_CLAIMS = ["some"], ["someNon", "some"]
DELETED, TWO_DELETED = ["deletedPVC"], ["deletedPVC", "deletedPVC2"]
LOST, LOST_TOO, UNBOUND, UNBOUND_TOO = ["volumeLost"], ["anotherLost"], ["unbound"], ["anotherUnbound"]

OWN_DISKS = [
    pytest.param(ONE, [TWO, ONE], 4, "", id="room for it"),
    pytest.param(TWO, [ONE], 2, REASON, id="one too many"),
    pytest.param(SPLIT, [TWO], 3, "", id="other volumes of the pod do not count"),
    pytest.param(TWO, [SPLIT, PATH, []], 3, "", id="other volumes of placed pods do not count"),
    pytest.param(SOME, [SPLIT, PATH, []], 3, "", id="a disk behind a claim"),
    pytest.param(SPLIT_CLAIMS, [SPLIT, ONE], 3, "", id="something else behind a claim"),
    pytest.param(TWO, [ONE, SOME], 3, REASON, id="a placed pod's disk behind a claim"),
    pytest.param(TWO, [ONE, TWO, SOME], 4, "", id="what is there already"),
    pytest.param(SPLIT, [ONE, ONE, SOME], 3, "", id="the same disk twice"),
    pytest.param(SOME, [ONE, DELETED], 1, REASON, id="full, beside a claim that is gone"),
    pytest.param(SOME, [ONE, DELETED], 2, "", id="a claim that is gone does not count"),
    pytest.param(SOME, [ONE, TWO_DELETED], 2, "", id="nor do two"),
    pytest.param(["invalidClass"], [ONE], 1, "", id="a claim of a class that is missing"),
    pytest.param(["standardClass"], [ONE], 1, "", id="a claim of another provisioner"),
    pytest.param(SOME, [ONE, LOST], 2, REASON, id="a lost volume counts"),
    pytest.param(SOME, [ONE, LOST], 3, "", id="a lost volume, and there is room"),
    pytest.param(LOST, [ONE, LOST], 2, "", id="the same lost volume counts once"),
    pytest.param(LOST_TOO, [ONE, LOST], 2, REASON, id="two lost volumes count twice"),
    pytest.param(SOME, [ONE, UNBOUND], 2, REASON, id="a claim that waits counts"),
    pytest.param(SOME, [ONE, UNBOUND], 3, "", id="a claim that waits, and there is room"),
    pytest.param(UNBOUND, [ONE, UNBOUND], 2, "", id="the same claim counts once"),
    pytest.param(UNBOUND_TOO, [ONE, UNBOUND], 2, REASON, id="two claims count twice"),
]


@pytest.mark.parametrize("plugin", ALL)
@pytest.mark.parametrize(("wanted", "placed", "limit", "expected"), OWN_DISKS)
def test_disks_of_its_kind(plugin, wanted, placed, limit, expected):
    """Upstream has these cases for Amazon's disks; they hold for each kind."""
    assert verdict(build(plugin, plugin), wanted, placed, limit, plugin) == expected


OTHER_DISKS = [
    (ONE, [TWO, ONE], 4), (TWO, [ONE], 2), (SPLIT, [TWO], 3), (TWO, [SPLIT, PATH, []], 3),
    (SOME, [SPLIT, PATH, []], 3), (SPLIT_CLAIMS, [SPLIT, ONE], 3), (TWO, [ONE, SOME], 3), (TWO, [ONE, TWO, SOME], 4),
    (SPLIT, [ONE, ONE, SOME], 3), (SOME, [ONE, DELETED], 2), (SOME, [ONE, DELETED], 3), (SOME, [ONE, TWO_DELETED], 3),
    (SOME, [ONE, LOST], 2), (SOME, [ONE, LOST], 3), (LOST, [ONE, LOST], 2), (LOST_TOO, [ONE, LOST], 2),
    (SOME, [ONE, UNBOUND], 2), (SOME, [ONE, UNBOUND], 3), (UNBOUND, [ONE, UNBOUND], 2), (UNBOUND_TOO, [ONE, UNBOUND], 2),
]  # fmt: skip


@pytest.mark.parametrize("plugin", [AzureDiskLimits, GCEPDLimits])
@pytest.mark.parametrize(("wanted", "placed", "limit"), OTHER_DISKS)
def test_disks_of_another_kind_do_not_count(plugin, wanted, placed, limit):
    """Upstream's cases for Azure and Google have Amazon's disks, and a class of no provisioner: all fit."""
    assert verdict(build(plugin, EBSLimits, provisioner=""), wanted, placed, limit, EBSLimits) == ""


@pytest.mark.parametrize(("limit", "expected"), [(4, ""), (2, REASON)])
def test_disks_of_openstack(limit, expected):
    assert verdict(build(CinderLimits, CinderLimits), ONE, [TWO], limit, CinderLimits) == expected


def owned(uid):
    owners = [{"kind": "Pod", "name": "abc", "uid": uid, "controller": True}] if uid else []
    meta = {"name": "abc-xyz", "namespace": "test", "ownerReferences": owners}
    return [{"metadata": meta, "spec": {"volumeName": "missing", "storageClassName": "own"}}]


@pytest.mark.parametrize(
    ("claims", "limit", "expected"),
    [
        pytest.param(
            [], 0, '! looking up PVC test/abc-xyz: persistentvolumeclaim "abc-xyz" not found', id="no claim yet"
        ),
        pytest.param(
            owned(""), 0, "! PVC test/abc-xyz was not created for pod test/abc (pod is not owner)", id="another's claim"
        ),
        pytest.param(owned("12345"), 1, "", id="there is room"),
        pytest.param(owned("12345"), 0, REASON, id="there is none"),
    ],
)
def test_ephemeral_volumes(claims, limit, expected):
    plugin = build(GCEPDLimits, GCEPDLimits, claims)
    nodes = table({"name": "n", plugin.resource: str(limit)})
    meta = {"name": "abc", "namespace": "test", "uid": "12345"}
    wanted = {"metadata": meta, "spec": {"volumes": [{"name": "xyz", "ephemeral": {}}]}}

    assert verdicts(plugin, pod_info(wanted, nodes), nodes) == [expected]


@pytest.mark.parametrize(("text", "limit"), [("invalid", 39), ("-2", 39), ("40", 40)])
def test_the_environments_limit(text, limit, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, text)

    assert build(EBSLimits, EBSLimits).limit({}) == limit


@pytest.mark.parametrize(
    ("label", "kind", "limit"),
    [
        ("node.kubernetes.io/instance-type", "m5.large", 25),
        ("beta.kubernetes.io/instance-type", "t3.micro", 25),
        ("node.kubernetes.io/instance-type", "m4.large", 39),
        ("some", "m5.large", 39),
    ],
)
def test_machines_with_nitro_take_fewer_disks(label, kind, limit):
    assert build(EBSLimits, EBSLimits).limit(node("n", labels={label: kind})) == limit


def test_where_a_driver_took_over_its_own_limit_holds():
    plugin = build(EBSLimits, EBSLimits)
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}
    plugin.context.client.create(CSI_NODES, {"metadata": {"name": "n", "annotations": annotations}, "spec": {}})

    assert verdict(plugin, TWO, [ONE], 2, EBSLimits) == ""
