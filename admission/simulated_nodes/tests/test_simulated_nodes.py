"""Pods find the nodes that can run their images."""

import pytest
from hyperkube_admission.simulated_nodes import LABEL, SimulatedNodes

from hyperkube.kinds.resources import DAEMON_SETS, PODS
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

RULE = {"key": LABEL, "operator": "NotIn", "values": ["true"]}


def pod(*images, **spec):
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": containers, **spec}}


def required(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def admitted(obj):
    return AdmissionRig(SimulatedNodes).create(PODS, obj)["spec"]


class TestPromises(AdmissionContract):
    plugin = SimulatedNodes

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod("nginx")), rig.request("CREATE", PODS, pod("host"))]


@pytest.mark.parametrize("image", ["host", "host:latest", "docker.io/library/host:latest"])
def test_the_machines_own_image_keeps_away_from_simulated_nodes(image):
    assert admitted(pod(image, image))["affinity"] == required({"matchExpressions": [RULE]})


@pytest.mark.parametrize("images", [("nginx",), ("host", "nginx"), ("host:1.2",), ("example.org/host",)])
def test_any_other_image_asks_for_a_simulated_node(images):
    spec = admitted(pod(*images, nodeSelector={"disk": "ssd"}))

    assert spec["nodeSelector"] == {"disk": "ssd", LABEL: "true"}
    assert "affinity" not in spec


def test_each_term_of_an_affinity_gets_the_rule():
    fast, large = ({"key": key, "operator": "Exists"} for key in ("fast", "large"))
    affinity = required({"matchExpressions": [fast]}, {"matchFields": [large]})

    spec = admitted(pod("host", affinity={**affinity, "podAffinity": {}}))

    assert spec["affinity"] == {
        **required({"matchExpressions": [fast, RULE]}, {"matchFields": [large], "matchExpressions": [RULE]}),
        "podAffinity": {},
    }


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"nodeSelector": {LABEL: "true"}}, id="selector"),
        pytest.param({"nodeName": "here"}, id="node"),
        pytest.param({"affinity": required({"matchExpressions": [RULE]})}, id="affinity"),
    ],
)
def test_who_has_decided_is_left_alone(spec):
    obj = pod("host", **spec)

    assert admitted(obj) == obj["spec"]


@pytest.mark.parametrize("verb", ["create", "update"])
def test_the_template_of_a_daemon_set_is_told(verb):
    rig = AdmissionRig(SimulatedNodes)
    obj = {"metadata": {"name": "d", "namespace": "ns"}, "spec": {"template": pod("nginx")}}

    told = rig.create(DAEMON_SETS, obj) if verb == "create" else rig.update(DAEMON_SETS, obj, obj)

    assert told["spec"]["template"]["spec"]["nodeSelector"] == {LABEL: "true"}


def test_a_pod_that_runs_is_not_changed():
    obj = pod("nginx")

    assert "nodeSelector" not in AdmissionRig(SimulatedNodes).update(PODS, obj, obj)["spec"]
