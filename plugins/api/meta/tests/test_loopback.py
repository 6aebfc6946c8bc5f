"""Which endpoints may be on the machine's own addresses: those of Pods that have them."""

from types import SimpleNamespace

from hyperkube_api.meta.loopback import GATE, loopback_rule

from hyperkube.machinery.errors import NotFound

POD = {"status": {"podIP": "127.64.0.2", "podIPs": [{"ip": "127.64.0.2"}, {"ip": "::1"}]}}


def a_call(**more):
    def get(resource, name, namespace):
        if (name, namespace) != ("web", "ns"):
            raise NotFound.about(resource.group_resource, name)
        return POD

    return SimpleNamespace(**{"gates": {}, "namespace": "ns", "objects": SimpleNamespace(get=get), **more})


def endpoint(name="web", **more):
    return {"targetRef": {"kind": "Pod", "name": name, "namespace": "ns", **more}}


def test_the_addresses_of_the_pod_that_the_endpoint_names_are_allowed():
    allowed = loopback_rule(a_call())

    assert allowed(endpoint(), "127.64.0.2")
    assert allowed(endpoint(), "::1")


def test_all_others_are_not():
    allowed = loopback_rule(a_call())

    assert not allowed(endpoint(), "127.0.0.1")
    assert not allowed(endpoint("gone"), "127.64.0.2")
    assert not allowed(endpoint(namespace="other"), "127.64.0.2")
    assert not allowed(endpoint(kind="Node"), "127.64.0.2")
    assert not allowed({}, "127.64.0.2")


def test_an_endpoint_may_outlive_its_pod():
    allowed = loopback_rule(a_call(), lambda: {("127.64.0.9", "gone")})

    assert allowed(endpoint("gone"), "127.64.0.9")
    assert not allowed(endpoint("gone"), "127.64.0.8")


def test_the_gate_allows_all():
    assert loopback_rule(a_call(gates={GATE: True}))({}, "127.0.0.1")
