"""The proxy as a whole with a proxier that only remembers: what it counts and tells of itself."""

from types import SimpleNamespace

import pytest
from hyperkube_host.proxy import server as module
from hyperkube_host.proxy.command import COMMAND
from hyperkube_host.proxy.endpoint import proxy_endpoints, proxy_handler
from hyperkube_host.proxy.options import ListenAddress, ProxyOptions, listen_address
from hyperkube_host.proxy.server import Proxy
from hyperkube_lib.component_base.compatibility import with_compat
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import EVENTS, NODES, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin.flags import FlagValues
from hyperkube.testing.waiting import eventually


class Remembering:
    """A proxier."""

    def __init__(self):
        self.states = [{}]
        self.calls = []

    def sync(self, state):
        self.calls.append(state._replace(services=dict(state.services)))
        if state.family == "IPv4":
            self.states.append(dict(state.services))
        return []

    def close(self):
        self.states.append({})


@pytest.fixture
def world(monkeypatch):
    """A started proxy of node `n`: the API, the proxy and a function that asks its metrics port."""
    client = FakeClient(SystemClock())
    proxier = Remembering()
    host = SimpleNamespace(start=lambda: None, close=lambda: None, hook=SimpleNamespace(proxier_build=lambda: proxier))
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
