"""Which requests go to another server; the rows are those of upstream's ``peerproxy_handler_test.go``."""

import json
import logging
from contextlib import nullcontext

import pytest
from hyperkube_host.apiserver.controlplane.identity_lease import IdentityLease
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.peerproxy.endpoint_leases import LEASE_SECONDS, PeerEndpointLeases
from hyperkube_host.apiserver.peerproxy.peer_discovery import PeerDiscovery, served_of
from hyperkube_host.apiserver.peerproxy.peer_metrics import PeerMetrics
from hyperkube_host.apiserver.peerproxy.proxy import PeerCredentials, PeerProxy, peer_proxy_of
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse
from hyperkube_host.apiserver.routes.discovery import aggregated_form, with_peers

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.errors import ServiceUnavailable, UsageError
from hyperkube.machinery.users import UserInfo
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

LOG = logging.getLogger("test")
ALICE = UserInfo("alice", "7", ("dev",))
WHOLE = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def group(name, **versions):
    rows = [
        {"version": version, "resources": [{"resource": each} for each in resources]}
        for version, resources in versions.items()
    ]
    return {"metadata": {"name": name} if name else {}, "versions": rows}


def document(*groups):
    return json.dumps({"kind": "APIGroupDiscoveryList", "items": list(groups)}).encode()


ANSWERS = {"/api": document(group("", v1=["gadgets"])), "/apis": document(group("shop", v1=["bikes", "cars"]))}


class World:
    """A server among others, whose discovery is `ANSWERS`."""

    def __init__(self, *others):
        self.client = FakeClient()
        self.store = MemoryStore(self.client.clock)
        self.endpoints = PeerEndpointLeases(self.store, "/registry/")
        credentials = PeerCredentials(ca_file="ca", certificate_file="crt", key_file="key")
        self.proxy = PeerProxy(
            credentials, self.endpoints, lambda *resource: resource == ("shop", "v1", "cars"),
            self.client, self.client.clock, LOG, address="10.0.0.1", port=6443,
        )  # fmt: skip
        self.asked = []
        self.proxy.discovery._ask = self.ask
        for host in others:
            IdentityLease(self.client, self.client.clock, host).renew()
        self.proxy.update()

    def ask(self, name, path):
        self.asked.append((name, path))
        return ANSWERS[path]

    def name(self, host):
        return IdentityLease(self.client, self.client.clock, host).name

    def answer(self, path, headers=(), *, inside=False):
        info = parse("GET", path, {})
        request = ApiRequest(method="GET", path=path, info=info, headers=dict(headers), user=ALICE, inside=inside)
        return self.proxy.answer(request)


@pytest.mark.parametrize(
    ("path", "more"),
    [
        pytest.param("/foo/bar/baz", {}, id="no resource"),
        pytest.param("/apis/shop/v1/bikes", {"headers": {"x-kubernetes-peer-proxied": "true"}}, id="passed on before"),
        pytest.param("/apis/shop/v1/bikes", {"inside": True}, id="of this process"),
        pytest.param("/apis/shop/v1/cars", {}, id="served here"),
        pytest.param("/apis/shop/v1/boats", {}, id="served nowhere"),
    ],
)
def test_what_this_server_answers(path, more):
    world = World("two")
    world.endpoints.renew(world.name("two"), "10.0.0.2", 7443)

    assert world.answer(path, **more) is None


@pytest.mark.parametrize("path", ["/apis/shop/v1/namespaces/d/bikes/b/status", "/api/v1/gadgets"])
def test_what_another_serves_goes_there_with_the_users_name(path):
    world = World("two")
    world.endpoints.renew(world.name("two"), "10.0.0.2", 7443)

    way = world.answer(path)

    assert (way.host, way.port, way.path, way.server_name) == ("10.0.0.2", 7443, path, "kubernetes.default.svc")
    assert (way.ca_file, way.certificate_file, way.key_file, way.withheld) == ("ca", "crt", "key", ("x-remote-",))
    assert ("X-Remote-User", "alice") in way.headers
    assert ("x-kubernetes-peer-proxied", "true") in way.headers


def test_a_server_that_does_not_say_where_it_is_is_unavailable():
    world = World("two")

    with pytest.raises(ServiceUnavailable, match="Error getting ip and port info of the remote server while proxying"):
        world.answer("/apis/shop/v1/bikes")

    labels = 'type="endpoint_resolution",group="shop",version="v1",resource="bikes"'
    assert f"apiserver_peer_proxy_errors_total{{{labels}}} 1\n" in world.proxy.metrics.text().decode()


def test_what_went_to_another_is_counted_by_the_status_that_came_back():
    world = World("two")
    world.endpoints.renew(world.name("two"), "10.0.0.2", 7443)
    assert world.proxy.metrics.text() == b""

    for status in (200, 404, 200):
        world.answer("/apis/shop/v1/bikes").counted(status)

    rows = world.proxy.metrics.text().decode().splitlines()
    labels = 'group="shop",version="v1",resource="bikes"'
    assert rows[1:] == [
        "# TYPE apiserver_rerouted_request_total counter",
        f'apiserver_rerouted_request_total{{code="200",{labels}}} 2',
        f'apiserver_rerouted_request_total{{code="404",{labels}}} 1',
    ]


@pytest.mark.parametrize("kind", ["lease_list", "hostport_resolution"])
def test_why_it_is_not_known_what_others_serve_is_counted(kind):
    world = World()
    world.proxy.discovery._ask = world.proxy._ask
    IdentityLease(world.client, world.client.clock, "two").renew()

    if kind == "lease_list":
        world.client.fail_next("list", "leases", ServiceUnavailable("away"))
    with pytest.raises(ServiceUnavailable) if kind == "lease_list" else nullcontext():
        world.proxy.update()

    assert f'apiserver_peer_discovery_sync_errors_total{{type="{kind}"}} 1\n' in world.proxy.metrics.text().decode()


def test_of_two_servers_that_serve_it_one_that_says_where_it_is_is_asked():
    world = World("two", "three")
    world.endpoints.renew(world.name("three"), "10.0.0.3", 6443)

    assert world.answer("/apis/shop/v1/bikes").host == "10.0.0.3"


def test_before_others_are_known_all_is_answered_here():
    assert World().answer("/apis/shop/v1/bikes") is None


def test_servers_are_asked_when_they_come_or_begin_anew_and_forgotten_when_they_go():
    world = World("two")
    two = world.name("two")
    generation = world.proxy.discovery.generation
    world.proxy.update()
    assert world.asked == [(two, "/api"), (two, "/apis")]

    IdentityLease(world.client, world.client.clock, "two").renew()
    world.proxy.update()
    assert len(world.asked) == 4
    assert world.proxy.discovery.generation == generation

    world.client.delete(LEASES, two, "kube-system")
    world.proxy.update()
    assert not world.proxy.discovery


@pytest.mark.parametrize("answer", [OSError("refused"), b"no json", b'{"items": 7}'], ids=repr)
def test_one_that_gives_no_answer_is_asked_again(answer, caplog):
    world, metrics = World(), PeerMetrics()
    known = PeerDiscovery("one", world.client, lambda _name, _path: _given(answer), metrics, LOG)
    IdentityLease(world.client, world.client.clock, "two").renew()
    for _ in range(2):
        known.update()

    assert not known
    assert caplog.text.count("what the API server") == 2
    assert b'apiserver_peer_discovery_sync_errors_total{type="fetch_discovery"} 2\n' in metrics.text()


def _given(answer):
    if isinstance(answer, Exception):
        raise answer
    return answer


def test_where_a_server_is_ends_by_itself():
    world = World()
    world.proxy.update()
    own = world.proxy._name
    assert world.endpoints.find(own) == ("10.0.0.1", 6443)

    world.client.clock.advance(LEASE_SECONDS + 1)
    eventually(lambda: world.endpoints.find(own) is None)
    world.proxy.update()
    world.proxy.leave()

    assert world.endpoints.find(own) is None


def test_what_others_serve_stands_behind_what_this_one_serves():
    own = [group("apps", v1=["deployments"]), group("shop", v1=["cars"])]

    merged = with_peers(own, [*served_of(ANSWERS).groups, group("shop", v2=["cars"]), group("new", v1=["x"])])

    assert merged == [
        group("apps", v1=["deployments"]), group("shop", v1=["cars", "bikes"], v2=["cars"]), group("new", v1=["x"])
    ]  # fmt: skip
    assert own[1] == group("shop", v1=["cars"])


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (f"application/json;{WHOLE};profile=nopeer,application/json", ("application/json", "nopeer")),
        (f"application/json;{WHOLE}", ("application/json", "")),
        (f"application/json;{WHOLE};profile=other", ("application/json", "")),
        ("application/json", ("", "")),
    ],
)
def test_a_client_may_ask_for_this_server_alone(accept, expected):
    assert aggregated_form(accept) == expected


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ({}, "proxy-cert-file not specified"),
        ({"proxy-client-cert-file": "x"}, "proxy-key-file not specified"),
        (
            {"proxy-client-cert-file": "x", "proxy-client-key-file": "x", "peer-ca-file": "/no"},
            "open /no: no such file",
        ),
        (
            {
                "proxy-client-cert-file": "x",
                "proxy-client-key-file": "x",
                "peer-ca-file": __file__,
                "peer-advertise-port": "y",
            },
            "--peer-advertise-port: 'y' is no port",
        ),
    ],
)
def test_what_is_missing_is_one_line(flags, text):
    world = World()
    options = Options.of({"peer-ca-file": "ca", **flags}, is_announced=True)

    with pytest.raises(UsageError, match=text):
        peer_proxy_of(options, world.store, "/registry/", lambda *_: True, world.client, world.client.clock, LOG)


def test_without_the_flag_or_the_gate_there_is_none():
    world = World()
    for values in ({}, {"peer-ca-file": "ca", "feature-gates": {"UnknownVersionInteroperabilityProxy": False}}):
        options = Options.of(values, is_announced=True)
        made = peer_proxy_of(options, world.store, "/", lambda *_: True, world.client, world.client.clock, LOG)
        assert made is None
