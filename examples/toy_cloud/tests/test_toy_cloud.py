"""The provider keeps what every cloud promises, asked over HTTP; and the toy cloud's balancers relay."""

import socket
import threading

import pytest
from hyperkube_testing.cloud import CLUSTER, CloudContract, service
from toy_cloud import ToyCloud
from toy_cloud.cloud import Cloud, serving

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

NODE = {
    "metadata": {"name": "n1"},
    "spec": {},
    "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]},
}


def provider(tmp_path, text):
    (tmp_path / "cloud.conf").write_text(text)
    return ToyCloud(PluginContext(name="toy", settings={"cloud_config": str(tmp_path / "cloud.conf")}))


@pytest.fixture
def cloud():
    return Cloud(listen=False)


@pytest.fixture
def built(cloud, tmp_path):
    cloud.put("machines", "n1", {"zone": "desk1", "address": "127.0.0.1"})
    with serving(cloud) as url:
        yield provider(tmp_path, f"[Cloud]\nurl = {url}\n")


class TestContract(CloudContract):
    @pytest.fixture
    def built(self, built):
        return built

    def node(self):
        return NODE

    def nodes(self):
        return [NODE]


def test_a_machine_is_described_and_followed_to_its_end(built, cloud):
    machines = built.cloud_provider().instances
    told = machines.metadata(NODE)
    cloud.put("machines", "n1", {"state": "off"})
    off = machines.is_shut_down(NODE)
    cloud.delete("machines", "n1")

    assert (told.provider_id, told.zone, told.region) == ("toy://n1", "desk1", "desk")
    assert off
    assert not machines.exists(NODE)


def test_a_balancer_is_changed_only_where_it_differs(built, cloud):
    balancers = built.cloud_provider().load_balancers
    balancers.ensure(CLUSTER, service("a"), [NODE])
    made = cloud.get("balancers", f"{CLUSTER}-default-a")

    balancers.ensure(CLUSTER, service("a"), [NODE])
    assert cloud.get("balancers", f"{CLUSTER}-default-a") is made
    balancers.ensure(CLUSTER, service("a", port=81), [NODE])
    assert cloud.get("balancers", f"{CLUSTER}-default-a")["ports"] == [{"port": 81, "node_port": 30081}]


def test_a_cloud_that_is_down_or_another_server_is_no_word_that_machines_are_gone(tmp_path):
    down = provider(tmp_path, "[Cloud]\nurl = http://127.0.0.1:1\n").cloud_provider()

    with pytest.raises(CloudUnavailable, match="GET machines/n1: "):
        down.instances.exists(NODE)


def test_what_the_cloud_does_not_have_is_refused(built):
    asked = service("a")
    asked["spec"]["ports"][0]["protocol"] = "UDP"

    with pytest.raises(CloudFailed, match="the toy cloud balances TCP alone"):
        built.cloud_provider().load_balancers.ensure(CLUSTER, asked, [NODE])


@pytest.mark.parametrize(
    "text", ["", "[Cloud]\n", "[Cloud]\nurl = ftp://x\n", "nonsense"], ids=["empty", "no url", "scheme", "syntax"]
)
def test_a_wrong_file_is_one_line(tmp_path, text):
    with pytest.raises(UsageError, match="--cloud-config"):
        provider(tmp_path, text).cloud_provider()


def test_a_balancer_relays_to_the_target_that_answers():
    cloud = Cloud()
    with socket.create_server(("127.0.0.1", 0)) as target, socket.create_server(("127.0.0.1", 0)) as other:
        node_port, free = target.getsockname()[1], other.getsockname()[1]
        other.close()
        made = cloud.put(
            "balancers", "b", {"ports": [{"port": free, "node_port": node_port}], "targets": ["127.0.0.9", "127.0.0.1"]}
        )

        def answer():
            connection, _ = target.accept()
            with connection:
                connection.sendall(connection.recv(100).upper())

        thread = threading.Thread(target=answer)
        thread.start()
        with socket.create_connection((made["address"], free), timeout=5) as client:
            client.sendall(b"hello")
            assert client.recv(100) == b"HELLO"
        thread.join()
    cloud.close()
    with pytest.raises(OSError):
        socket.create_connection((made["address"], free), timeout=1)
