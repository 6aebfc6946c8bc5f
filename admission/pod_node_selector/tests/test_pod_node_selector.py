import pytest
from hyperkube_admission.pod_node_selector import ANNOTATION, PodNodeSelector

from hyperkube.kinds.resources import NAMESPACES, PODS
from hyperkube.machinery.errors import Forbidden, UsageError
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def pod(**selector):
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"nodeSelector": selector}}


def namespace(text=None):
    return {"metadata": {"name": "ns", "annotations": {} if text is None else {ANNOTATION: text}}}


def rig_with(text=None, **table):
    rig = AdmissionRig(PodNodeSelector, settings={"podNodeSelectorPluginConfig": table})
    rig.seed(NAMESPACES, namespace(text))
    return rig


class TestPromises(AdmissionContract):
    plugin = PodNodeSelector

    def populate(self, rig):
        rig.seed(NAMESPACES, namespace("env=test"))

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


@pytest.mark.parametrize(
    ("annotation", "table", "given", "expected"),
    [
        ("env=test", {}, {"disk": "ssd"}, {"env": "test", "disk": "ssd"}),
        ("env=test, zone=a", {}, {}, {"env": "test", "zone": "a"}),
        (None, {"clusterDefaultNodeSelector": "env=dev"}, {}, {"env": "dev"}),
        ("", {"clusterDefaultNodeSelector": "env=dev"}, {}, {}),
        (None, {"other": "env=dev"}, {"env": "x"}, {"env": "x"}),
        ("env=test", {"ns": "env=test,disk=ssd"}, {"disk": "ssd"}, {"env": "test", "disk": "ssd"}),
    ],
    ids=repr,
)
def test_the_selectors_are_merged(annotation, table, given, expected):
    assert rig_with(annotation, **table).create(PODS, pod(**given))["spec"]["nodeSelector"] == expected


@pytest.mark.parametrize(
    ("annotation", "table", "given", "message"),
    [
        ("env=test", {}, {"env": "prod"}, "conflicts with its namespace node label selector"),
        (None, {"ns": "env=test"}, {"disk": "ssd"}, "labels conflict with its namespace whitelist"),
        ("a=b=c", {}, {}, "invalid selector"),
    ],
    ids=repr,
)
def test_a_contradiction_is_refused(annotation, table, given, message):
    with pytest.raises(Forbidden, match=message):
        rig_with(annotation, **table).create(PODS, pod(**given))


def test_pods_without_a_namespace_are_refused():
    with pytest.raises(Forbidden, match="namespace ns does not exist"):
        AdmissionRig(PodNodeSelector).create(PODS, pod())


def test_wrong_settings_are_refused_at_start():
    with pytest.raises(UsageError, match="invalid selector: 'env'"):
        rig_with(ns="env")
