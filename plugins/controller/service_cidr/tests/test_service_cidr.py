"""The service-cidr controller: ranges wait for their addresses."""

from hyperkube_controller.service_cidr import ServiceCidr

from hyperkube.kinds.resources import IP_ADDRESSES, SERVICE_CIDRS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def service_cidr(name="more", *ranges):
    return {"kind": "ServiceCIDR", "metadata": {"name": name}, "spec": {"cidrs": list(ranges) or ["10.9.0.0/24"]}}


class TestContract(ControllerContract):
    plugin = ServiceCidr

    def populate(self, rig):
        rig.client.seed(SERVICE_CIDRS, service_cidr())


def run(*ranges, manager="ipallocator.k8s.io"):
    rig = ControllerRig(ServiceCidr)
    rig.client.seed(SERVICE_CIDRS, *ranges)
    labels = {"ipaddress.kubernetes.io/managed-by": manager}
    rig.client.seed(IP_ADDRESSES, {"kind": "IPAddress", "metadata": {"name": "10.9.0.7", "labels": labels}})
    rig.settle()
    return rig


def ready(rig):
    (condition,) = rig.client.objects(SERVICE_CIDRS)[0]["status"]["conditions"]
    return condition["status"], condition["reason"]


def test_a_range_is_ready():
    rig = run(service_cidr())

    assert ready(rig) == ("True", "")
    assert rig.client.objects(SERVICE_CIDRS)[0]["metadata"]["finalizers"] == [
        "networking.k8s.io/service-cidr-finalizer"
    ]


def test_a_range_waits_for_its_addresses():
    rig = run(service_cidr())
    rig.client.delete(SERVICE_CIDRS, "more")
    rig.settle()
    waiting = ready(rig)

    rig.client.delete(IP_ADDRESSES, "10.9.0.7")
    rig.settle()
    rig.advance(10)

    assert waiting == ("False", "Terminating")
    assert rig.client.objects(SERVICE_CIDRS) == []


def test_an_address_may_be_in_another_range_too():
    rig = run(service_cidr(), service_cidr("wide", "10.9.0.0/16"))

    rig.client.delete(SERVICE_CIDRS, "more")
    rig.settle()
    rig.advance(10)

    assert [each["metadata"]["name"] for each in rig.client.objects(SERVICE_CIDRS)] == ["wide"]


def test_a_range_without_addresses_stays_until_all_servers_know():
    rig = run(service_cidr("more", "10.10.0.0/24"))
    rig.client.delete(SERVICE_CIDRS, "more")
    rig.settle()
    rig.advance(8)
    staying = ready(rig)

    rig.advance(3)

    assert staying == ("True", "")
    assert rig.client.objects(SERVICE_CIDRS) == []


def test_an_address_that_no_allocator_gave_holds_nothing():
    rig = run(service_cidr(), manager="someone")

    rig.client.delete(SERVICE_CIDRS, "more")
    rig.settle()
    rig.advance(11)

    assert rig.client.objects(SERVICE_CIDRS) == []


def test_a_status_that_is_refused_is_an_event():
    rig = ControllerRig(ServiceCidr)
    made = service_cidr()
    made["metadata"]["finalizers"] = ["networking.k8s.io/service-cidr-finalizer"]
    rig.client.seed(SERVICE_CIDRS, made)
    said = []
    rig.plugins[0]._recorder.event = lambda _obj, *event: said.append(event)
    rig.client.fail_next("patch", "servicecidrs", Forbidden("no"))

    rig.settle()
    rig.advance(5)

    text = "The ServiceCIDR Status can not be set to Ready=True"
    assert said == [("Warning", "KubernetesServiceCIDRError", text)]
    assert ready(rig) == ("True", "")
