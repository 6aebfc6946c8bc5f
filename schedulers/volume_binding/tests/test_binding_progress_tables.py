"""What is written to bind volumes, and when the binding is done, not done yet, or has failed, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/binder_test.go`` (TestAssumePodVolumes,
TestBindAPIUpdate, TestCheckBindings, TestCheckBindingsWithCSIMigration, TestBindPodVolumes); texts from binder.go.
"""

import pytest
from hyperkube_lib.scheduling.claims import Claims
from hyperkube_scheduler.volume_binding import SELECTED_NODE, VolumeBinding
from hyperkube_scheduler.volume_binding.plans import Plan
from hyperkube_scheduler.volume_binding.progress import progress
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import (
    CSI_NODES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import Conflict
from hyperkube.plugin import PluginContext

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
HERE = {SELECTED_NODE: "node1"}
ZONE = "failure-domain.beta.kubernetes.io/zone"


def claim(name, bound_to="", annotations=None, storage_class="late"):
    spec = {"storageClassName": storage_class, "resources": {"requests": {"storage": "1G"}}}
    meta = {"name": name, "namespace": "testns", "uid": "pvc-uid"}
    if annotations is not None:
        meta["annotations"] = annotations
    return {"metadata": meta, "spec": {**spec, **({"volumeName": bound_to} if bound_to else {})}}


def volume(name, taken_by="", uid="pvc-uid", node="node1", **source):
    row = {"key": "nodeKey", "operator": "In", "values": [node]}
    spec = {"capacity": {"storage": "5G"}, "storageClassName": "late", **source}
    if node:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [row]}]}}
    if taken_by:
        spec["claimRef"] = {"namespace": "testns", "name": taken_by, "uid": uid}
    return {"metadata": {"name": name, "labels": {ZONE: "us-east-1"}}, "spec": spec}


def known(claims, volumes, plugins=None):
    client = FakeClient()
    client.seed(PERSISTENT_VOLUME_CLAIMS, *claims)
    client.seed(PERSISTENT_VOLUMES, *volumes)
    if plugins is not None:
        annotations = {"storage.alpha.kubernetes.io/migrated-plugins": plugins}
        client.create(CSI_NODES, {"metadata": {"name": "node1", "annotations": annotations}, "spec": {}})
    informers = InformerFactory(client)
    informers.start()
    return Claims(informers)


ONE, OTHER = (claim("c"), volume("pv", "c")), (claim("c2"), volume("pv2", "c2"))
MADE = claim("made", annotations=HERE)
DONE, WAITS = (True, ""), (False, "")


def missing(kind, name):
    return f'could not find v1.{kind} "{name}": object not found'


@pytest.mark.parametrize(
    ("joined", "provisioned", "claims", "volumes", "expected"),
    [
        pytest.param([], [], [], [], DONE, id="nothing to bind"),
        pytest.param([ONE], [], [claim("c", "pv", BOUND)], [volume("pv", "c")], DONE, id="bound"),
        pytest.param([ONE], [], [claim("c", "pv")], [volume("pv", "c")], WAITS, id="prebound"),
        pytest.param([ONE], [], [claim("c")], [volume("pv", "c")], WAITS, id="unbound"),
        pytest.param(
            [ONE],
            [],
            [],
            [volume("pv", "c")],
            (False, f"failed to check binding: {missing('PersistentVolumeClaim', 'testns/c')}"),
            id="claim gone",
        ),
        pytest.param(
            [ONE],
            [],
            [claim("c", "pv", BOUND)],
            [],
            (False, f"failed to check binding: {missing('PersistentVolume', 'pv')}"),
            id="volume gone",
        ),
        pytest.param(
            [ONE],
            [],
            [claim("c", "pv", BOUND)],
            [volume("pv")],
            (False, 'ClaimRef got reset for pv "pv"'),
            id="volume names no claim",
        ),
        pytest.param(
            [ONE],
            [],
            [claim("c", "pv", BOUND)],
            [volume("pv", "c", uid="")],
            (False, 'ClaimRef got reset for pv "pv"'),
            id="volume names no uid",
        ),
        pytest.param(
            [ONE, OTHER],
            [],
            [claim("c", "pv", BOUND), claim("c2")],
            [volume("pv", "c"), volume("pv2", "c2")],
            WAITS,
            id="one of two",
        ),
        pytest.param(
            [], [MADE], [claim("made", "pv", BOUND | HERE)], [volume("pv", "made")], DONE, id="made and bound"
        ),
        pytest.param([], [MADE], [claim("made", annotations=HERE)], [], WAITS, id="not made yet"),
        pytest.param(
            [],
            [MADE],
            [],
            [],
            (False, f"failed to check provisioning pvc: {missing('PersistentVolumeClaim', 'testns/made')}"),
            id="claim to be made for is gone",
        ),
        pytest.param(
            [],
            [MADE],
            [claim("made")],
            [],
            (False, 'selectedNode annotation reset for PVC "made"'),
            id="no annotations any more",
        ),
        pytest.param(
            [],
            [MADE],
            [claim("made", annotations={})],
            [],
            (False, 'provisioning failed for PVC "made"'),
            id="node taken off",
        ),
        pytest.param(
            [],
            [MADE],
            [claim("made", annotations={SELECTED_NODE: "wrong-node"})],
            [],
            (False, 'provisioning failed for PVC "made"'),
            id="another node",
        ),
        pytest.param(
            [ONE],
            [MADE],
            [claim("c", "pv", BOUND), claim("made", annotations=HERE)],
            [volume("pv", "c")],
            WAITS,
            id="bound, the other not made yet",
        ),
        pytest.param([], [MADE], [claim("made", "pv", BOUND | HERE)], [], WAITS, id="bound to a volume not seen yet"),
        pytest.param(
            [ONE],
            [],
            [claim("c", "pv", BOUND)],
            [volume("pv", "c", node="node2")],
            (False, 'pv "pv" node affinity doesn\'t match node "node1": no matching NodeSelectorTerms'),
            id="volume out of reach",
        ),
        pytest.param(
            [],
            [MADE],
            [claim("made", "pv", BOUND | HERE)],
            [volume("pv", "made", node="node2")],
            (False, 'pv "pv" node affinity doesn\'t match node "node1": no matching NodeSelectorTerms'),
            id="made out of reach",
        ),
    ],
)
def test_the_state_of_a_binding(joined, provisioned, claims, volumes, expected):
    plan = Plan(joined, provisioned)

    assert progress(plan, "node1", {"nodeKey": "node1"}, known(claims, volumes)) == expected


def test_objects_older_than_what_was_written_are_waited_for():
    written = volume("pv", "c")
    written["metadata"]["resourceVersion"] = "1000"

    assert progress(Plan([(claim("c"), written)]), "node1", {}, known([claim("c")], [volume("pv")])) == WAITS


GCE, RBD = {"gcePersistentDisk": {"pdName": "d"}}, {"rbd": {"image": "d"}}
MISSED = (False, 'pv "pv" node affinity doesn\'t match node "node1": no matching NodeSelectorTerms')


@pytest.mark.parametrize(
    ("source", "zone", "plugins", "bound", "expected"),
    [
        pytest.param(GCE, "us-east-1", "kubernetes.io/gce-pd", True, DONE, id="bound in the zone"),
        pytest.param(GCE, "us-east-1", "kubernetes.io/gce-pd", False, WAITS, id="in the zone"),
        pytest.param(GCE, "us-east-1", None, False, WAITS, id="no CSINode"),
        pytest.param(GCE, "us-east-1", "", False, WAITS, id="not taken over"),
        pytest.param(GCE, "us-east-2", "kubernetes.io/gce-pd", False, MISSED, id="in another zone"),
        pytest.param(RBD, "us-east-2", "kubernetes.io/gce-pd", False, WAITS, id="no such disk"),
    ],
)
def test_disks_that_a_driver_took_over(source, zone, plugins, bound, expected):
    made = volume("pv", "c", node="", **source)
    look = known([claim("c", "pv", BOUND) if bound else claim("c")], [made], plugins)

    assert progress(Plan([(claim("c"), made)]), "node1", {"topology.gke.io/zone": zone}, look) == expected


def prepared(names, volumes, seconds=30):
    """A plugin that has planned and holds volumes for a pod with these claims; those called ``made…`` are provisioned."""
    client = FakeClient()
    for name, provisioner in (("late", "kubernetes.io/no-provisioner"), ("makes", "example.com/p")):
        made = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}
        client.create(STORAGE_CLASSES, made)
    client.seed(
        PERSISTENT_VOLUME_CLAIMS,
        *(claim(name, storage_class="makes" if name.startswith("made") else "late") for name in names),
    )
    client.seed(PERSISTENT_VOLUMES, *volumes)
    client.create(NODES, {"metadata": {"name": "node1", "labels": {"nodeKey": "node1"}}})
    client.create(PODS, {"metadata": {"name": "pod", "namespace": "testns"}})
    informers = InformerFactory(client)
    for kind in (NODES, PODS):
        informers.informer(kind)
    informers.start()
    settings = {"bindTimeoutSeconds": seconds}
    context = PluginContext(
        name="VolumeBinding", client=client, informers=informers, clock=SystemClock(), settings=settings
    )
    plugin = VolumeBinding(context)
    plugin.connect(lambda _change: None)
    nodes = table({"name": "node1", "labels": {"nodeKey": "node1"}})
    rows = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    pod = pod_info({"metadata": {"name": "pod", "namespace": "testns"}, "spec": {"volumes": rows}}, nodes)
    assert plugin.filter(pod, nodes).mask.all()
    assert plugin.reserve(pod, "node1") == ""
    return plugin, client, pod


def written(client):
    """Return which volumes name which claims, and which claims have a node."""
    volumes = {
        row["metadata"]["name"]: row["spec"]["claimRef"]["name"]
        for row in client.list(PERSISTENT_VOLUMES).items
        if "claimRef" in row["spec"]
    }
    claims = client.list(PERSISTENT_VOLUME_CLAIMS, "testns").items
    return volumes, [row["metadata"]["name"] for row in claims if row["metadata"].get("annotations") == HERE]


def touched(client, resource, name, namespace=""):
    client.patch(resource, name, {"metadata": {"labels": {"changed": "meanwhile"}}}, namespace)


@pytest.mark.parametrize(
    ("names", "volumes", "expected"),
    [
        pytest.param(["c"], [volume("pv")], ({"pv": "c"}, []), id="one volume"),
        pytest.param(["c", "d"], [volume("pv"), volume("pv2")], ({"pv": "c", "pv2": "d"}, []), id="two volumes"),
        pytest.param(["c"], [volume("pv", "c")], ({"pv": "c"}, []), id="one that names the claim"),
        pytest.param(["made"], [], ({}, ["made"]), id="one to be made"),
        pytest.param(["c", "made"], [volume("pv")], ({"pv": "c"}, ["made"]), id="one volume, one to be made"),
    ],
)
def test_what_is_written(names, volumes, expected):
    plugin, client, pod = prepared(names, volumes, seconds=0.01)

    why = plugin.pre_bind(pod, "node1")

    assert why == "binding volumes: context deadline exceeded"
    assert written(client) == expected


def test_a_volume_that_is_given_is_marked_as_given_by_a_controller():
    plugin, client, pod = prepared(["c"], [volume("pv")], seconds=0.01)

    plugin.pre_bind(pod, "node1")

    given = client.get(PERSISTENT_VOLUMES, "pv")
    assert given["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert given["spec"]["claimRef"]["uid"] == "pvc-uid"


@pytest.mark.parametrize(
    ("names", "volumes", "changed", "expected"),
    [
        pytest.param(["c"], ["pv"], (PERSISTENT_VOLUMES, "pv"), ({}, []), id="the volume"),
        pytest.param(["c", "d"], ["pv", "pv2"], (PERSISTENT_VOLUMES, "pv2"), ({"pv": "c"}, []), id="the second volume"),
        pytest.param(
            ["made", "made2"], [], (PERSISTENT_VOLUME_CLAIMS, "made2", "testns"), ({}, ["made"]), id="the second claim"
        ),
        pytest.param(
            ["c", "made", "made2"],
            ["pv"],
            (PERSISTENT_VOLUME_CLAIMS, "made2", "testns"),
            ({"pv": "c"}, ["made"]),
            id="the second claim, after a volume",
        ),
    ],
)
def test_what_changed_meanwhile_is_not_overwritten(names, volumes, changed, expected):
    plugin, client, pod = prepared(names, [volume(name) for name in volumes])
    touched(client, *changed)

    with pytest.raises(Conflict):
        plugin.pre_bind(pod, "node1")

    assert written(client) == expected


def test_a_pod_that_goes_is_not_waited_for():
    plugin, client, pod = prepared(["c"], [volume("pv")])
    client.delete(PODS, "pod", "testns")

    assert plugin.pre_bind(pod, "node1") == 'binding volumes: pod does not exist any more: pod "pod" not found'
