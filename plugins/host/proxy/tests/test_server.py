"""The proxy as a whole with a proxier that only remembers: what it counts and tells of itself."""

import json
import socket
from http.client import HTTPConnection
from types import SimpleNamespace

import pytest
from hyperkube_host.proxy import server as module
from hyperkube_host.proxy.command import COMMAND
from hyperkube_host.proxy.endpoint import proxy_endpoints, proxy_handler
from hyperkube_host.proxy.options import ListenAddress, ProxyOptions, listen_address
from hyperkube_host.proxy.server import Proxy
from hyperkube_lib.component_base.compatibility import with_compat
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_testing.peers.ports import free_port

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.proxier import Endpoint, ServicePortName
from hyperkube.kinds.resources import ENDPOINT_SLICES, EVENTS, NODES, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin.flags import FlagValues
from hyperkube.testing.waiting import eventually


class Remembering:
    """A proxier."""

    def __init__(self):
        self.states = [{}]
        self.calls = []
        self.fails = False

    def sync(self, state):
        self.calls.append(state._replace(services=dict(state.services)))
        if self.fails:
            raise RuntimeError("the kernel refused")
        if state.family == "IPv4":
            self.states.append(dict(state.services))
        return []

    def close(self):
        self.states.append({})


@pytest.fixture
def proxier():
    return Remembering()


@pytest.fixture
def world(monkeypatch, proxier):
    """A started proxy of node `n`: the API, the proxy and a function that asks its metrics port."""
    client = FakeClient(SystemClock())
    host = SimpleNamespace(start=lambda: None, close=lambda: None, hook=SimpleNamespace(proxier_build=lambda: proxier))
    monkeypatch.setattr(module, "cleanup_others", lambda _options: None)
    monkeypatch.setattr("hyperkube_host.proxy.conntrack.sysctls.set_up", lambda _options: None)
    monkeypatch.setattr(module, "build_host", lambda _options, _clock, _metrics: host)
    client.create(NODES, {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "spec": {}})
    values = {"hostname-override": "n", "proxy-mode": "remembering"}
    options = ProxyOptions.of(FlagValues.of(COMMAND.all_flags(), values))
    proxy = Proxy(client=client, options=options)
    proxy.start()
    handler = proxy_handler(proxy, proxy_endpoints(proxy, options))

    def ask(path):
        answer = handler.handle(HttpRequest(method="GET", path=path))
        return answer.status, answer.body.decode()

    eventually(proxy.ready)
    yield SimpleNamespace(client=client, proxy=proxy, proxier=proxier, ask=ask)
    proxy.close()


def service(name):
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}]
    spec = {"clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9"], "ports": ports}
    return {"kind": "Service", "apiVersion": "v1", "metadata": {"name": name, "namespace": "d"}, "spec": spec}


def told(world, line):
    values = [row.removeprefix(line) for row in world.ask("/metrics")[1].splitlines() if row.startswith(line + " ")]
    return float(values[0]) if values else None


def test_changes_and_syncs_are_counted(world):
    before = told(world, 'kubeproxy_sync_proxy_rules_duration_seconds_count{ip_family="IPv4"}')

    world.client.create(SERVICES, service("web"))

    eventually(lambda: len(world.proxier.states[-1]) == 1)
    eventually(lambda: told(world, 'kubeproxy_sync_proxy_rules_duration_seconds_count{ip_family="IPv4"}') > before)
    assert told(world, 'kubeproxy_sync_proxy_rules_service_changes_total{ip_family="IPv4"}') == 1
    assert told(world, 'kubeproxy_sync_proxy_rules_service_changes_pending{ip_family="IPv4"}') == 0
    assert told(world, 'kubeproxy_sync_proxy_rules_endpoint_changes_total{ip_family="IPv4"}') == 0
    assert told(world, 'kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv4"}') > 0


def test_mode_and_configuration_are_told(world):
    assert world.ask("/proxyMode") == (200, "remembering")
    assert world.ask("/healthz") == (200, "ok")
    assert '"mode":"remembering"' in world.ask("/configz")[1].replace(" ", "")


def test_a_node_that_is_marked_makes_its_proxy_say_so(world):
    taint = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}

    world.client.patch(NODES, "n", {"spec": {"taints": [taint]}})

    eventually(lambda: not world.proxy.health.eligible)
    assert world.proxy.health.alive()


@pytest.mark.parametrize(
    ("address", "port", "where"),
    [
        ("0.0.0.0:10256", 10256, ("0.0.0.0", 10256)),
        ("127.0.0.1:1", 10256, ("127.0.0.1", 1)),
        ("127.0.0.1", 10256, ("127.0.0.1", 10256)),
        ("[::1]:2", 10256, ("::1", 2)),
        ("::1", 10256, ("::1", 10256)),
        ("[::]", 3, ("::", 3)),
        ("0.0.0.0:10256", 0, None),
        ("", 10256, None),
    ],
)
def test_the_port_of_an_address_wins_and_port_zero_closes(address, port, where):
    assert listen_address(address, port) == (None if where is None else ListenAddress(*where))


def test_it_says_on_its_node_that_it_starts(world):
    def started():
        return [
            (event["involvedObject"]["kind"], event["involvedObject"]["name"], event["message"])
            for event in world.client.objects(EVENTS)
            if event["reason"] == "Starting"
        ]

    assert eventually(started) == [("Node", "n", "Starting kube-proxy.")]


@pytest.mark.parametrize(
    ("given", "healthz", "metrics"),
    [
        pytest.param({}, ("0.0.0.0", 10256), ("127.0.0.1", 10249), id="defaults"),
        pytest.param({"healthz-port": 7, "metrics-port": 8}, ("0.0.0.0", 7), ("127.0.0.1", 8), id="ports"),
        pytest.param(
            {"healthz-bind-address": "1.2.3.4:5", "metrics-bind-address": "1.2.3.4"},
            ("1.2.3.4", 5), ("1.2.3.4", 10249), id="addresses",
        ),
        pytest.param(
            {"healthz-bind-address": "1.2.3.4:5", "healthz-port": 7}, ("1.2.3.4", 5), ("127.0.0.1", 10249), id="both",
        ),
        pytest.param({"compat": "1.5"}, ("127.0.0.1", 10249), None, id="as-in-1.5"),
    ],
)  # fmt: skip
def test_where_it_serves_is_what_the_given_flags_say(given, healthz, metrics):
    values = with_compat(COMMAND.name, FlagValues.of(COMMAND.all_flags(), {"proxy-mode": "remembering", **given}))

    options = ProxyOptions.of(values)

    assert options.healthz == ListenAddress(*healthz)
    assert options.metrics == (ListenAddress(*metrics) if metrics else None)


def endpoint_slice(*ips, annotations=None):
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "name": "web-1", "namespace": "d", "labels": {"kubernetes.io/service-name": "web"}, "annotations": annotations,
        },
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": [{"addresses": [ip], "nodeName": "n", "conditions": {"ready": True}} for ip in ips],
    }  # fmt: skip


NONE = SimpleNamespace(endpoints=())


def calls(world, family="IPv4"):
    return [call for call in world.proxier.calls if call.family == family]


def test_the_first_sync_is_full_and_later_ones_tell_what_changed(world):
    world.client.create(SERVICES, service("web"))
    world.client.create(SERVICES, service("other"))
    eventually(lambda: len(world.proxier.states[-1]) == 2)
    world.client.create(ENDPOINT_SLICES, endpoint_slice("10.1.0.1"))

    name = ServicePortName("d", "web", "http")
    last = eventually(lambda: next((call for call in calls(world) if call.services.get(name, NONE).endpoints), None))

    assert calls(world)[0].changed is None
    assert last.changed == {name}
    assert last.services[name].endpoints == (Endpoint("10.1.0.1", 8080, local=True),)
    assert not any(call.services for call in calls(world, "IPv6"))


def test_after_a_failure_all_is_synced_and_no_change_is_lost(world):
    proxy = world.proxy
    world.proxier.fails = True
    world.client.create(SERVICES, service("web"))
    eventually(lambda: len(calls(world)) > 1)
    world.proxier.fails = False
    world.client.create(SERVICES, service("other"))

    eventually(lambda: len(world.proxier.states[-1]) == 2)

    assert calls(world)[-1].changed is None
    assert proxy.health.alive()


def test_a_nodes_change_has_everything_written(world):
    eventually(lambda: calls(world))
    before = len(calls(world))

    world.client.patch(NODES, "n", {"metadata": {"labels": {"topology.kubernetes.io/zone": "a"}}})

    eventually(lambda: len(calls(world)) > before)
    assert calls(world)[-1].node.zone == "a"
    assert calls(world)[-1].changed is None


def test_the_service_says_which_proxy_it_is_for_not_its_slices(world):
    labelled = endpoint_slice("10.1.0.1")
    labelled["metadata"]["labels"]["service.kubernetes.io/service-proxy-name"] = "other"
    world.client.create(ENDPOINT_SLICES, labelled)

    world.client.create(SERVICES, service("web"))

    name = ServicePortName("d", "web", "http")
    found = eventually(lambda: world.proxier.states[-1].get(name))
    assert found.endpoints == (Endpoint("10.1.0.1", 8080, local=True),)


def asked(address, port):
    """Return status, weight and body of a health check node port; None if nothing listens there."""
    connection = HTTPConnection(address, port, timeout=60)
    try:
        connection.request("GET", "/")
        answer = connection.getresponse()
        return answer.status, answer.headers["X-Load-Balancing-Endpoint-Weight"], json.loads(answer.read())
    except OSError:
        return None
    finally:
        connection.close()


def test_load_balancers_are_told_of_endpoints_here(world):
    port = free_port()
    web = service("web")
    web["spec"] |= {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": port}
    world.client.create(ENDPOINT_SLICES, endpoint_slice("10.1.0.1", "10.1.0.2"))
    world.client.create(SERVICES, web)

    def told():
        return asked("127.0.0.1", port)

    eventually(lambda: told() is not None)
    status, weight, body = told()
    assert (status, weight) == (200, "2")
    assert body == {"service": {"namespace": "d", "name": "web"}, "localEndpoints": 2, "serviceProxyHealthy": True}
    world.client.delete(ENDPOINT_SLICES, "web-1", "d")
    assert eventually(lambda: (told() or (200,))[0] == 503)
    world.client.delete(SERVICES, "web", "d")
    assert eventually(lambda: told() is None)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="needs IPv6")
def test_load_balancers_are_told_of_endpoints_of_the_family_they_ask_over(world):
    port = free_port()
    web = service("web")
    web["spec"] |= {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": port}
    web["spec"]["clusterIPs"] = ["10.0.0.9", "fd00::9"]
    six = endpoint_slice("fd00:1::1")
    six["metadata"]["name"], six["addressType"] = "web-2", "IPv6"
    for each in (endpoint_slice("10.1.0.1", "10.1.0.2"), six):
        world.client.create(ENDPOINT_SLICES, each)

    world.client.create(SERVICES, web)

    eventually(lambda: asked("127.0.0.1", port) and asked("::1", port))
    assert asked("127.0.0.1", port)[:2] == (200, "2")
    assert asked("::1", port)[:2] == (200, "1")


def test_a_health_check_node_port_that_is_taken_is_told(world):
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = taken.getsockname()[1]
        web = service("web")
        web["spec"] |= {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": port}

        world.client.create(SERVICES, web)

        start = f'node n failed to start healthcheck "d/web" on port {port}: '
        assert eventually(lambda: any(each["message"].startswith(start) for each in world.client.objects(EVENTS)))


def test_a_change_with_a_time_is_measured_until_it_is_served(world):
    trigger = {"endpoints.kubernetes.io/last-change-trigger-time": "2099-01-01T00:00:00Z"}
    world.client.create(SERVICES, service("web"))

    world.client.create(ENDPOINT_SLICES, endpoint_slice("10.1.0.1", annotations=trigger))

    line = 'kubeproxy_network_programming_duration_seconds_count{ip_family="IPv4"}'
    assert eventually(lambda: told(world, line) == 1)


def test_the_old_flag_for_iptables_chooses_it():
    values = FlagValues.of(COMMAND.all_flags(), {"legacy-userspace-proxy": "false"})

    assert ProxyOptions.of(values).mode == "iptables"


class Leaving(Remembering):
    """A proxier of the kernel that has something to remove later."""

    families = ("IPv4",)

    def __init__(self):
        super().__init__()
        self.waits = [0.01, None]

    def rules_lost(self):
        return False

    def tidy(self):
        return self.waits.pop(0) if self.waits else None


@pytest.mark.parametrize("proxier", [Leaving()], ids=["leaving"])
def test_what_is_left_to_remove_is_removed_without_a_change(world):
    eventually(lambda: not world.proxier.waits)
