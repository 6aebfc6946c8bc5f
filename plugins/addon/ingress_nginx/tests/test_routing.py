"""Which backend a host and path have."""

import base64

import pytest
from hyperkube_addon.ingress_nginx.routing import CONTROLLER, Cluster, KeyPair, ours, servers

SERVICES = {
    "web": {"ports": [{"name": "http", "port": 80}, {"name": "admin", "port": 8081}]},
    "plain": {"ports": [{"port": 80}]},
    "dns": {"ports": [{"name": "dns", "port": 53, "protocol": "UDP"}]},
}
SLICES = {
    "web": [
        {
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": 8080}, {"name": "admin", "port": 9090}],
            "endpoints": [
                {"addresses": ["10.0.0.2"]},
                {"addresses": ["10.0.0.1"], "conditions": {"ready": True}},
                {"addresses": ["10.0.0.3"], "conditions": {"ready": False}},
            ],
        }
    ],
    "plain": [{"addressType": "IPv6", "ports": [{"port": 8000}], "endpoints": [{"addresses": ["fd00::1"]}]}],
}
SECRETS = {
    "cert": {"data": {"tls.crt": base64.b64encode(b"C").decode(), "tls.key": base64.b64encode(b"K").decode()}},
    "broken": {"data": {"tls.crt": "!"}},
}
CLUSTER = Cluster(
    lambda _namespace, name: {"metadata": {"name": name}, "spec": SERVICES[name]} if name in SERVICES else None,
    lambda _namespace, name: SLICES.get(name, ()),
    lambda _namespace, name: SECRETS.get(name),
)
WEB = ("10.0.0.1:8080", "10.0.0.2:8080")


def backend(to="web", **port):
    return {"service": {"name": to, "port": port or {"number": 80}}}


def ingress(*rules, name="i", created="2026-01-01T00:00:00Z", annotations=None, **spec):
    meta = {"name": name, "namespace": "default", "creationTimestamp": created, "annotations": annotations or {}}
    return {"metadata": meta, "spec": {"rules": list(rules), **spec}}


def rule(*paths, host=None):
    rows = [{"path": path, "pathType": kind, "backend": target} for path, kind, target in paths]
    return {**({"host": host} if host else {}), "http": {"paths": rows}}


def by_host(*ingresses):
    return {server.host: server for server in servers(ingresses, CLUSTER)}


def routes(server):
    return [(route.path, route.exact, route.endpoints) for route in server.routes]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (backend(), WEB),
        (backend(name="admin"), ("10.0.0.1:9090", "10.0.0.2:9090")),
        (backend(number=8081), ("10.0.0.1:9090", "10.0.0.2:9090")),
        (backend(number=81), ()),
        (backend("plain"), ("[fd00::1]:8000",)),
        (backend("no-such"), ()),
        (backend("dns", number=53), ()),
        ({"resource": {"kind": "Bucket", "name": "b"}}, ()),
    ],
    ids=["number", "name", "other-number", "no-such-port", "ipv6", "no-such-service", "udp", "resource"],
)  # fmt: skip
def test_a_backend_is_the_ready_endpoints_of_a_port(target, expected):
    found = by_host(ingress(rule(("/", "Prefix", target))))

    assert routes(found[""]) == [("/", False, expected)]


def test_paths_of_all_types_the_longest_first():
    found = by_host(
        ingress(
            rule(("/a", "Prefix", backend()), ("/a/b/", "Prefix", backend()), ("/a/", "Exact", backend()), host="x.org"),
            rule(("/only", "ImplementationSpecific", backend()), host="x.org"),
        )
    )  # fmt: skip

    assert [row[:2] for row in routes(found["x.org"])] == [
        ("/only", False),
        ("/a/b", False),
        ("/a/", True),
        ("/a", False),
    ]
    assert routes(found[""]) == []


def test_the_older_ingress_has_a_path_that_two_claim():
    new = ingress(rule(("/", "Prefix", backend("plain")), host="x.org"), name="a", created="2026-02-01T00:00:00Z")
    old = ingress(rule(("/", "Prefix", backend()), host="X.org"), name="b")

    assert routes(by_host(new, old)["x.org"]) == [("/", False, WEB)]


def test_default_backends():
    own = ingress(rule(("/a", "Exact", backend("plain")), host="own.org"), defaultBackend=backend())
    without = ingress(rule(("/a", "Exact", backend("plain")), host="without.org"), name="w")
    common = ingress(name="c", defaultBackend=backend(number=8081))

    alone = by_host(own, without)
    together = by_host(own, without, common)

    assert routes(alone["own.org"])[-1] == ("/", False, WEB)
    assert [row[0] for row in routes(alone["without.org"])] == ["/a"]
    assert routes(together["own.org"])[-1] == ("/", False, WEB)
    assert routes(together["without.org"])[-1][2] == ("10.0.0.1:9090", "10.0.0.2:9090")
    assert routes(together[""])[-1][2] == ("10.0.0.1:9090", "10.0.0.2:9090")


def test_tls_of_hosts():
    secure = rule(("/", "Prefix", backend()), host="s.org")
    broken = rule(("/", "Prefix", backend()), host="b.org")
    tls = [{"hosts": ["s.org"], "secretName": "cert"}, {"hosts": ["b.org"], "secretName": "broken"}]

    found = by_host(ingress(secure, broken, tls=tls))
    kept_plain = by_host(ingress(secure, tls=tls, annotations={"nginx.ingress.kubernetes.io/ssl-redirect": "false"}))

    assert found["s.org"].pair == KeyPair(b"C", b"K")
    assert found["s.org"].redirect
    assert found["b.org"].pair is None
    assert found["b.org"].tls
    assert not found[""].tls
    assert not kept_plain["s.org"].redirect


@pytest.mark.parametrize("text", ["a\nb", "a\0b", "\x7f"])
def test_characters_that_cannot_be_written_down_are_left_out(text):
    found = by_host(ingress(rule((f"/{text}", "Prefix", backend())), rule(("/", "Prefix", backend()), host=text)))

    assert list(found) == [""]
    assert routes(found[""]) == []


@pytest.mark.parametrize(
    ("spec", "annotations", "expected"),
    [
        ({"ingressClassName": "nginx"}, {}, True),
        ({"ingressClassName": "other"}, {}, False),
        ({"ingressClassName": "missing"}, {}, False),
        ({}, {"kubernetes.io/ingress.class": "nginx"}, True),
        ({}, {"kubernetes.io/ingress.class": "other"}, False),
        ({}, {}, False),
    ],
)
def test_whose_an_ingress_is(spec, annotations, expected):
    classes = {"nginx": {"spec": {"controller": CONTROLLER}}, "other": {"spec": {"controller": "example.org/other"}}}

    assert ours({"metadata": {"annotations": annotations}, "spec": spec}, classes) is expected
