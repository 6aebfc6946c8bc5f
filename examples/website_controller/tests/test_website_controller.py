import pytest
from website_controller import WEBSITES, Website

from hyperkube.kinds.resources import DEPLOYMENTS, SERVICES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

SITE = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "hello", "namespace": "default"},
    "spec": {"text": "hello", "replicas": 2},
}


class TestContract(ControllerContract):
    plugin = Website

    def populate(self, rig):
        rig.client.seed(WEBSITES, SITE)


@pytest.fixture
def rig():
    rig = ControllerRig(Website)
    rig.client.seed(WEBSITES, SITE)
    rig.settle()
    return rig


def test_a_website_becomes_a_deployment_and_a_service(rig):
    (deployment,), (service,) = rig.client.objects(DEPLOYMENTS), rig.client.objects(SERVICES)

    assert deployment["spec"]["replicas"] == 2
    assert deployment["metadata"]["ownerReferences"][0]["kind"] == "Website"
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]


def test_a_changed_text_reaches_the_pods(rig):
    rig.client.patch(WEBSITES, "hello", {"spec": {"text": "goodbye"}}, "default")
    rig.settle()

    (container,) = rig.client.objects(DEPLOYMENTS)[0]["spec"]["template"]["spec"]["containers"]
    assert {"name": "TEXT", "value": "goodbye"} in container["env"]


def test_its_status_counts_the_ready_pods(rig):
    rig.client.patch(DEPLOYMENTS, "hello", {"status": {"readyReplicas": 2}}, "default", subresource="status")
    rig.settle()

    assert rig.client.objects(WEBSITES)[0]["status"] == {"readyReplicas": 2}
