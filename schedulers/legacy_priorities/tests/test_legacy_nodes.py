"""What 1.x gave for labels, taints, images and the avoiding annotation, row by row.

Source of the numbers: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/`` (node_affinity_test.go,
taint_toleration_test.go, image_locality_test.go, node_prefer_avoid_pods_test.go, node_label_test.go).
"""

import json

import numpy as np
import pytest
from hyperkube_scheduler.legacy_priorities import (
    EqualPriority,
    ImageLocalityPriority,
    LabelPreference,
    NodeAffinityPriority,
    NodePreferAvoidPodsPriority,
    TaintTolerationPriority,
)
from hyperkube_scheduler.legacy_priorities.nodes import AVOID
from hyperkube_testing.scheduling.tables import node, pod_info, table

from hyperkube.plugin import PluginContext

MEBIBYTE = 2**20


def scores(made, nodes, wanted, **settings):
    plugin = made(PluginContext(name=made.__name__, settings=settings))
    info = pod_info(wanted, nodes)
    return plugin.normalize(info, nodes, plugin.score(info, nodes), np.ones(len(nodes), dtype=bool)).tolist()


def labelled(*labels):
    return table(*({"name": f"machine{number}", "labels": each} for number, each in enumerate(labels, 1)))


FOO, KEY, AZ = {"foo": "bar"}, {"key": "value"}, {"az": "az1"}
ALL, OTHERS = {**FOO, **KEY, **AZ}, {"abc": "az11", "def": "az22"}


def prefers(*terms):
    rows = [
        {
            "weight": weight,
            "preference": {
                "matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()]
            },
        }
        for weight, wanted in terms
    ]
    return {"spec": {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": rows}}}}


@pytest.mark.parametrize(
    ("wanted", "nodes", "expected"),
    [
        pytest.param({}, (FOO, KEY, AZ), [0, 0, 0], id="no affinity"),
        pytest.param(prefers((2, FOO)), (OTHERS, KEY, AZ), [0, 0, 0], id="no match"),
        pytest.param(prefers((2, FOO)), (FOO, KEY, AZ), [10, 0, 0], id="only machine1 matches"),
        pytest.param(prefers((2, FOO), (4, KEY), (5, ALL)), (FOO, ALL, KEY), [1, 10, 3], id="all match differently"),
    ],
)
def test_preferred_nodes(wanted, nodes, expected):
    assert scores(NodeAffinityPriority, labelled(*nodes), wanted) == expected


def taint(key, value, effect="PreferNoSchedule"):
    return {"key": key, "value": value, "effect": effect}


def tolerates(*taints):
    return {"spec": {"tolerations": [{**each, "operator": "Equal"} for each in taints]}}


ARM, SSD = taint("cpu-type", "arm64"), taint("disk-type", "ssd")
HARD_ARM, HARD_SSD = taint("cpu-type", "arm64", "NoSchedule"), taint("disk-type", "ssd", "NoSchedule")


@pytest.mark.parametrize(
    ("wanted", "nodes", "expected"),
    [
        pytest.param(
            tolerates(taint("foo", "bar")), ([taint("foo", "bar")], [taint("foo", "blah")]), [10, 0], id="tolerated"
        ),
        pytest.param(tolerates(ARM, SSD), ([], [ARM], [ARM, SSD]), [10, 10, 10], id="how many does not matter"),
        pytest.param(
            tolerates(taint("foo", "bar")), ([], [ARM], [ARM, SSD]), [10, 5, 0], id="how many intolerable ones does"
        ),
        pytest.param(tolerates(HARD_ARM, HARD_SSD), ([], [HARD_ARM], [ARM, SSD]), [10, 10, 0], id="soft ones only"),
        pytest.param(tolerates(), ([], [ARM]), [10, 0], id="no tolerations"),
    ],
)
def test_soft_taints(wanted, nodes, expected):
    found = table(*({"name": f"node{number}", "taints": each} for number, each in enumerate(nodes)))

    assert scores(TaintTolerationPriority, found, wanted) == expected


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        pytest.param(("gcr.io/40", "gcr.io/250"), [0, 1], id="two images spread on two nodes"),
        pytest.param(("gcr.io/40", "gcr.io/300"), [1, 0], id="two images on one node"),
        pytest.param(("gcr.io/10", "gcr.io/2000"), [10, 0], id="more than the limit"),
    ],
)
def test_images(images, expected):
    nodes = table()
    for name, sizes in (("machine1", (40, 300, 2000)), ("machine2", (250, 10))):
        made = node(name)
        made["status"]["images"] = [
            {"names": [f"gcr.io/{size}:latest", f"gcr.io/{size}:v1"], "sizeBytes": size * MEBIBYTE} for size in sizes
        ]
        nodes.put_node(made)
    wanted = {"spec": {"containers": [{"name": str(number), "image": image} for number, image in enumerate(images)]}}

    assert scores(ImageLocalityPriority, nodes, wanted) == expected


@pytest.mark.parametrize(
    ("image", "held"),
    [
        ("root", "root:latest"),
        ("root:tag", "root:tag"),
        ("gcr.io:5000/root", "gcr.io:5000/root:latest"),
        (f"root@sha256:{'a' * 64}", f"root@sha256:{'a' * 64}"),
    ],
)
def test_an_image_without_tag_is_the_latest(image, held):
    nodes = table({"name": "without"})
    made = node("with")
    made["status"]["images"] = [{"names": [held], "sizeBytes": 4000 * MEBIBYTE}]
    nodes.put_node(made)

    assert scores(ImageLocalityPriority, nodes, {"spec": {"containers": [{"name": "c", "image": image}]}}) == [0, 10]


def avoiding():
    nodes = table()
    for name, kind, uid in (("machine1", "ReplicationController", "abcdef123456"), ("machine2", "ReplicaSet", "qwert")):
        controller = {"apiVersion": "v1", "kind": kind, "name": "foo", "uid": uid, "controller": True}
        row = {"podSignature": {"podController": controller}, "reason": "some reason", "message": "some message"}
        made = node(name)
        made["metadata"]["annotations"] = {AVOID: json.dumps({"preferAvoidPods": [row]})}
        nodes.put_node(made)
    nodes.put_node(node("machine3"))
    return nodes


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        pytest.param(
            {"kind": "ReplicationController", "uid": "abcdef123456", "controller": True}, [0, 10, 10], id="controller"
        ),
        pytest.param({"kind": "RandomController", "uid": "abcdef123456", "controller": True}, [10, 10, 10], id="other"),
        pytest.param({"kind": "ReplicationController", "uid": "abcdef123456"}, [10, 10, 10], id="no controller"),
        pytest.param({"kind": "ReplicaSet", "uid": "qwert", "controller": True}, [10, 0, 10], id="replica set"),
    ],
)
def test_nodes_that_avoid_a_controller(owner, expected):
    meta = {"name": "p", "namespace": "default", "uid": "p", "ownerReferences": [{"name": "foo", **owner}]}

    assert scores(NodePreferAvoidPodsPriority, avoiding(), {"metadata": meta}) == expected


def test_an_annotation_that_cannot_be_read_avoids_nothing():
    made = node("broken")
    made["metadata"]["annotations"] = {AVOID: "{"}
    nodes = table()
    nodes.put_node(made)
    owner = {"kind": "ReplicaSet", "name": "foo", "uid": "qwert", "controller": True}

    wanted = {"metadata": {"name": "p", "namespace": "default", "ownerReferences": [owner]}}
    assert scores(NodePreferAvoidPodsPriority, nodes, wanted) == [10]


@pytest.mark.parametrize(
    ("label", "presence", "expected"),
    [
        pytest.param("baz", True, [0, 0, 0], id="no match found, presence true"),
        pytest.param("baz", False, [10, 10, 10], id="no match found, presence false"),
        pytest.param("foo", True, [10, 0, 0], id="one match found, presence true"),
        pytest.param("foo", False, [0, 10, 10], id="one match found, presence false"),
        pytest.param("bar", True, [0, 10, 10], id="two matches found, presence true"),
        pytest.param("bar", False, [10, 0, 0], id="two matches found, presence false"),
    ],
)
def test_liked_labels(label, presence, expected):
    nodes = labelled({"foo": "bar"}, {"bar": "foo"}, {"bar": "baz"})

    assert scores(LabelPreference, nodes, {}, preferences=[{"label": label, "presence": presence}]) == expected


def test_several_liked_labels_count_by_their_weights():
    nodes = labelled({"foo": "bar"}, {"bar": "foo"}, {"foo": "", "bar": "baz"})
    wishes = [{"label": "foo", "presence": True, "weight": 2}, {"label": "bar", "presence": False}]

    assert scores(LabelPreference, nodes, {}, preferences=wishes) == [30, 0, 20]


def test_all_alike():
    assert scores(EqualPriority, labelled({}, {}), {}) == [1, 1]
