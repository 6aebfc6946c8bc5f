"""The cloud controller manager on an Amazon that moto plays: nodes, balancers and routes follow the cloud and back."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.cloud_controller_manager import MANAGER
from hyperkube_lib.controller_manager import ControllerManager, ManagerOptions
from hyperkube_testing.beside import module_at

from hyperkube.kinds.resources import NODES, SERVICES
from hyperkube.machinery.users import UserInfo
from hyperkube.testing.waiting import eventually

boto3 = pytest.importorskip("boto3")
pytest.importorskip("hyperkube_cloud.aws")

amazon = module_at(Path(__file__).parents[2] / "cloudproviders/aws/tests/amazon.py")

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
UNINITIALIZED = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """Amazon behind a port of this process."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "key-of-the-test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
        yield amazon.Amazon(endpoint, boto3.Session(region_name="us-east-1"), tmp_path_factory.mktemp("amazon"))
    server.stop()


@pytest.fixture(scope="module")
def log():
    """What is logged, all of it."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record):
            lines.append(self.format(record))

    listener = Listener()
    logging.getLogger().addHandler(listener)
    yield lines
    logging.getLogger().removeHandler(listener)


@pytest.fixture(scope="module")
def cluster(cloud, log):
    """An API server and the cloud controller manager, each controller with its own account."""
    cloud.built()  # writes the configuration
    options = {
        "cloud-provider": "aws",
        "cloud-config": str(cloud.folder / "cloud.ini"),
        "allocate-node-cidrs": True,
        "cluster-cidr": "10.244.0.0/16",
        "route-reconciliation-period": "500ms",
        "node-monitor-period": "500ms",
        "use-service-account-credentials": True,
    }
    server = ApiServer(options={"storage-backend": "memory", "authorization-mode": ["RBAC"]})
    server.start()
    manager = ControllerManager(client_for=server.client, options=ManagerOptions.in_process(MANAGER, options))
    manager.start()
    assert manager.wait_ready(20)
    yield server.client(ADMIN)
    manager.close()
    server.close()


def ready(value):
    return {"status": {"conditions": [{"type": "Ready", "status": value}]}}


@pytest.fixture
def node(cluster, cloud):
    """A machine and its node, as its kubelet registers it; both go again."""
    made = cloud.machine(subnet=1)
    made["metadata"]["labels"] = {"kubernetes.io/hostname": made["metadata"]["name"]}
    cluster.create(NODES, {**made, "spec": {"taints": [UNINITIALIZED]}})
    name = made["metadata"]["name"]
    cluster.patch(NODES, name, ready("True"), subresource="status")
    yield made
    cloud.ec2.terminate_instances(InstanceIds=[ident(made)])
    if any(each["metadata"]["name"] == name for each in cluster.list(NODES).items):
        cluster.delete(NODES, name)


def initialized(cluster, name):
    taints = cluster.get(NODES, name)["spec"].get("taints") or []
    return all(taint["key"] != UNINITIALIZED["key"] for taint in taints)


def ident(node):
    return node["spec"]["providerID"].rpartition("/")[2]


def test_a_node_learns_where_and_what_its_machine_is(cluster, node):
    name = node["metadata"]["name"]
    eventually(lambda: initialized(cluster, name), 30)

    found = cluster.get(NODES, name)

    assert found["spec"]["providerID"] == node["spec"]["providerID"]
    assert found["metadata"]["labels"]["topology.kubernetes.io/zone"] == "us-east-1b"
    assert found["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "m5.large"
    assert {row["type"] for row in found["status"]["addresses"]} >= {"InternalIP", "Hostname"}


def test_routes_lead_to_the_nodes_pods_and_say_so(cluster, cloud, node):
    name = node["metadata"]["name"]

    def routes():
        (table,) = cloud.ec2.describe_route_tables(RouteTableIds=[cloud.table])["RouteTables"]
        return {(row["DestinationCidrBlock"], row.get("InstanceId")) for row in table["Routes"]}

    eventually(lambda: cluster.get(NODES, name)["spec"].get("podCIDR"), 30)
    wanted = cluster.get(NODES, name)["spec"]["podCIDR"], ident(node)
    eventually(lambda: wanted in routes(), 30)

    def network():
        rows = cluster.get(NODES, name)["status"].get("conditions") or []
        return [row["status"] for row in rows if row["type"] == "NetworkUnavailable"]

    eventually(lambda: network() == ["False"], 30)


def test_a_service_gets_a_balancer_that_goes_with_it(cluster, cloud, node):
    name = node["metadata"]["name"]
    eventually(lambda: initialized(cluster, name), 30)
    before = cloud.everything()
    service = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    }  # fmt: skip

    cluster.create(SERVICES, service, "default")
    eventually(lambda: cluster.get(SERVICES, "web", "default")["status"]["loadBalancer"], 30)

    (balancer,) = cloud.elb.describe_load_balancers()["LoadBalancerDescriptions"]
    told = cluster.get(SERVICES, "web", "default")["status"]["loadBalancer"]
    assert told == {"ingress": [{"hostname": balancer["DNSName"]}]}
    assert [row["InstanceId"] for row in balancer["Instances"]] == [ident(node)]

    cluster.delete(SERVICES, "web", "default")

    def there():
        return [each["metadata"]["name"] for each in cluster.list(SERVICES, "default").items]

    eventually(lambda: there() == ["kubernetes"] or there() == [], 30)
    assert cloud.everything() == before


def test_a_node_goes_with_its_machine(cluster, cloud, node):
    name = node["metadata"]["name"]
    eventually(lambda: initialized(cluster, name), 30)

    cloud.ec2.terminate_instances(InstanceIds=[ident(node)])
    cluster.patch(NODES, name, ready("Unknown"), subresource="status")

    eventually(lambda: all(each["metadata"]["name"] != name for each in cluster.list(NODES).items), 30)


def test_no_credential_was_logged(cluster, log):
    assert not [line for line in log if "of-the-test" in line]
