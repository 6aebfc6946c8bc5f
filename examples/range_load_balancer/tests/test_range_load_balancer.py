import pytest
from hyperkube_testing.cloud import CLUSTER, CloudContract, service
from range_load_balancer import RangeExhausted, RangeLoadBalancer

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext


def provider(tmp_path, text="[LoadBalancer]\nrange = 192.0.2.0/30\n", client=None):
    (tmp_path / "cloud.conf").write_text(text)
    settings = {"cloud_config": str(tmp_path / "cloud.conf")}
    return RangeLoadBalancer(PluginContext(name="range", settings=settings, client=client))


class TestContract(CloudContract):
    @pytest.fixture
    def built(self, tmp_path):
        return provider(tmp_path)


def test_a_full_range_says_so(tmp_path):
    pool = provider(tmp_path).cloud_provider().load_balancers
    pool.ensure(CLUSTER, service("a"), [])
    pool.ensure(CLUSTER, service("b"), [])

    with pytest.raises(RangeExhausted, match=r"no free address in 192\.0\.2\.0/30 for service 'default/c'"):
        pool.ensure(CLUSTER, service("c"), [])


def test_a_freed_address_is_given_again(tmp_path):
    pool = provider(tmp_path).cloud_provider().load_balancers
    status = pool.ensure(CLUSTER, service("a"), [])
    pool.ensure_deleted(CLUSTER, service("a", status))

    assert pool.ensure(CLUSTER, service("b"), []) == status


def test_a_service_may_ask_for_an_address(tmp_path):
    pool = provider(tmp_path).cloud_provider().load_balancers
    asking = service("a")
    asking["spec"]["loadBalancerIP"] = "192.0.2.2"

    assert pool.ensure(CLUSTER, asking, []) == {"ingress": [{"ip": "192.0.2.2"}]}


def test_after_a_restart_nobody_gets_what_another_service_has(tmp_path):
    client = FakeClient()
    client.seed(SERVICES, service("old", {"ingress": [{"ip": "192.0.2.1"}]}))
    pool = provider(tmp_path, client=client).cloud_provider().load_balancers

    assert pool.ensure(CLUSTER, service("new"), []) == {"ingress": [{"ip": "192.0.2.2"}]}


@pytest.mark.parametrize("text", ["", "[LoadBalancer]\nrange = much\n", "nonsense"], ids=["empty", "range", "syntax"])
def test_a_wrong_file_is_one_line(tmp_path, text):
    with pytest.raises(UsageError, match="--cloud-config"):
        provider(tmp_path, text).cloud_provider()
