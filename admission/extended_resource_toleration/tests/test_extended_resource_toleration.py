from hyperkube_admission.extended_resource_toleration import ExtendedResourceToleration

from hyperkube.kinds.resources import PODS
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def pod(*requests, inits=(), tolerations=()):
    def rows(tables):
        return [{"name": f"c{index}", "resources": {"requests": table}} for index, table in enumerate(tables)]

    spec = {"containers": rows(requests), "initContainers": rows(inits), "tolerations": list(tolerations)}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


def toleration(name):
    return {"key": name, "operator": "Exists", "effect": "NoSchedule"}


def tolerations_of(given):
    return AdmissionRig(ExtendedResourceToleration).create(PODS, given)["spec"]["tolerations"]


class TestPromises(AdmissionContract):
    plugin = ExtendedResourceToleration

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod({"example.com/gpu": "1"}))]


def test_each_extended_resource_is_tolerated_once():
    given = pod({"example.com/gpu": "1", "cpu": "1"}, {"example.com/gpu": "1"}, inits=[{"example.com/fpga": "1"}])

    assert tolerations_of(given) == [toleration("example.com/fpga"), toleration("example.com/gpu")]


def test_a_toleration_that_is_there_is_not_repeated():
    given = pod({"example.com/gpu": "1"}, tolerations=[toleration("example.com/gpu")])

    assert tolerations_of(given) == [toleration("example.com/gpu")]


def test_resources_of_kubernetes_own_need_none():
    assert tolerations_of(pod({"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "2Mi"})) == []
