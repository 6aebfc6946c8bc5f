"""What a machine of Amazon's learns of itself, and the name that its kubelet takes from there."""

import pytest
from hyperkube_cloud.aws.metadata import Metadata
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudUnavailable, InstanceNotFound


class Service:
    """The metadata service, version 2: nothing is told without a token."""

    def __init__(self, instance_id):
        self.instance_id, self.asked = instance_id, []

    def __call__(self, request):
        self.asked.append((request.method, request.url))
        if request.method == "PUT":
            assert request.headers == {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
            return answer(200, b"a-token")
        if request.headers.get("X-aws-ec2-metadata-token") != "a-token":
            return answer(401, b"")
        return answer(200, self.instance_id.encode())


@pytest.fixture
def of_machine(cloud, monkeypatch):
    """Return what gives the instances of the provider, as a machine of that id sees them."""
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")

    def made(instance_id):
        instances = cloud.provider().instances
        instances._metadata = Metadata(Service(instance_id))
        return instances

    return made


def test_a_kubelet_learns_its_private_name_and_zone(cloud, of_machine):
    node = cloud.machine()
    instances = of_machine(node["spec"]["providerID"].rpartition("/")[2])

    assert instances.current_node_name("my-host") == node["metadata"]["name"]
    assert instances.current_zone() == ("us-east-1a", "us-east-1")


def test_a_machine_that_ec2_does_not_know_has_no_name(of_machine):
    with pytest.raises(InstanceNotFound):
        of_machine("i-0123456789abcdef0").current_node_name("my-host")


def test_it_is_asked_where_the_sdks_environment_says(monkeypatch):
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://[fd00:ec2::254]/")
    service = Service("i-1")

    assert Metadata(service).instance_id() == "i-1"
    assert service.asked == [
        ("PUT", "http://[fd00:ec2::254]/latest/api/token"),
        ("GET", "http://[fd00:ec2::254]/latest/meta-data/instance-id"),
    ]


@pytest.mark.parametrize("told", [(404, b""), (200, b""), (200, b"<html>\n</html>"), (401, b"no")], ids=str)
def test_what_is_no_machine_of_amazons_is_said_so(told, monkeypatch):
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED", raising=False)
    with pytest.raises(CloudUnavailable, match="error fetching instance-id from ec2 metadata service"):
        Metadata(lambda _request: answer(*told)).instance_id()


def test_it_is_not_asked_where_that_is_switched_off(monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(CloudUnavailable, match="AWS_EC2_METADATA_DISABLED"):
        Metadata(Service("i-1")).instance_id()
