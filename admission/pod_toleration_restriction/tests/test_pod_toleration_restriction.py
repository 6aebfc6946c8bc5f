import json

import pytest
from hyperkube_admission.pod_toleration_restriction import (
    DEFAULTS,
    WHITELIST,
    PodTolerationRestriction,
    covers,
)

from hyperkube.kinds.resources import NAMESPACES, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

A = {"key": "a", "operator": "Equal", "value": "1", "effect": "NoSchedule"}
ANY_A = {"key": "a", "operator": "Exists"}
B = {"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
MEMORY = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}


def pod(*tolerations, requests=None):
    container = {"name": "c", "resources": {"requests": requests or {}}}
    spec = {"containers": [container], "tolerations": list(tolerations)}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


def namespace(defaults=None, whitelist=None):
    lists = {DEFAULTS: defaults, WHITELIST: whitelist}
    texts = {key: json.dumps(rows) for key, rows in lists.items() if rows is not None}
    return {"metadata": {"name": "ns", "annotations": texts}}


def rig_with(defaults=None, whitelist=None, **settings):
    rig = AdmissionRig(PodTolerationRestriction, settings=settings)
    rig.seed(NAMESPACES, namespace(defaults, whitelist))
    return rig


def tolerations_of(rig, given):
    return rig.create(PODS, given)["spec"].get("tolerations")


class TestPromises(AdmissionContract):
    plugin = PodTolerationRestriction

    def populate(self, rig):
        rig.seed(NAMESPACES, namespace([A], [A]))

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod()), rig.request("CREATE", PODS, pod(B))]


def test_the_namespaces_defaults_beat_the_clusters():
    assert tolerations_of(rig_with([A], default=[B]), pod()) == [A]
    assert tolerations_of(rig_with(default=[B]), pod()) == [B]
    assert tolerations_of(rig_with([], default=[B]), pod()) == []


def test_what_another_one_covers_is_left_out():
    assert tolerations_of(rig_with([ANY_A]), pod(A, B)) == [ANY_A, B]


def test_pods_that_ask_for_something_bear_nodes_short_of_memory():
    assert tolerations_of(rig_with(), pod(requests={"cpu": "1"})) == [MEMORY]


@pytest.mark.parametrize(("scope", "given"), [("namespace", B), ("namespace", ANY_A), ("cluster", B)], ids=repr)
def test_what_is_not_listed_is_refused(scope, given):
    rig = AdmissionRig(PodTolerationRestriction, settings={"whitelist": [A]} if scope == "cluster" else {})
    rig.seed(NAMESPACES, namespace(whitelist=[A] if scope == "namespace" else None))

    with pytest.raises(Forbidden, match=f"conflict with its {scope} whitelist"):
        rig.create(PODS, pod(given))
    assert rig.create(PODS, pod(A))


def test_a_broken_annotation_is_refused():
    rig = AdmissionRig(PodTolerationRestriction)
    rig.seed(NAMESPACES, {"metadata": {"name": "ns", "annotations": {DEFAULTS: "{"}}})

    with pytest.raises(Forbidden, match="is no JSON"):
        rig.create(PODS, pod())


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        (A, A, True),
        (ANY_A, A, True),
        (A, ANY_A, False),
        ({"operator": "Exists"}, B, True),
        ({"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}, B, False),
        ({"key": "b", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}, B, True),
        ({**A, "value": "2"}, A, False),
        ({**A, "effect": "NoExecute"}, A, False),
    ],
    ids=repr,
)
def test_one_covers_another(wide, narrow, expected):
    assert covers(wide, narrow) is expected
