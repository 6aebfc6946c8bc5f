import pytest
from hyperkube_admission.default_ingress_class import DefaultIngressClass

from hyperkube.kinds.resources import INGRESS_CLASSES
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

INGRESSES = GroupVersionResource("networking.k8s.io", "v1", "ingresses")


def ingress_class(name, created="2020-01-01T00:00:00Z"):
    annotations = {"ingressclass.kubernetes.io/is-default-class": "true"}
    return {"metadata": {"name": name, "annotations": annotations, "creationTimestamp": created}}


def ingress(annotations=None, **spec):
    return {"metadata": {"name": "i", "namespace": "ns", "annotations": annotations or {}}, "spec": spec}


@pytest.fixture
def rig():
    rig = AdmissionRig(DefaultIngressClass)
    rig.seed(INGRESS_CLASSES, ingress_class("old"), ingress_class("new", "2021-01-01T00:00:00Z"))
    return rig


class TestPromises(AdmissionContract):
    plugin = DefaultIngressClass

    def populate(self, rig):
        rig.client.seed(INGRESS_CLASSES, ingress_class("a"))

    def concerned(self, rig):
        return [rig.request("CREATE", INGRESSES, ingress())]


def test_the_newest_default_is_taken(rig):
    assert rig.create(INGRESSES, ingress())["spec"]["ingressClassName"] == "new"


def test_an_ingress_of_the_oldest_group_gets_one_too(rig):
    oldest = GroupVersionResource("extensions", "v1beta1", "ingresses")

    assert rig.create(oldest, ingress())["spec"]["ingressClassName"] == "new"


def test_a_choice_is_kept_in_either_form(rig):
    assert rig.create(INGRESSES, ingress(ingressClassName="x"))["spec"]["ingressClassName"] == "x"
    assert rig.create(INGRESSES, ingress({"kubernetes.io/ingress.class": "y"}))["spec"] == {}
