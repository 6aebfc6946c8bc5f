"""Webhooks that stand in their own way: seen when configured, and only what the backend needs is let through."""

import logging

import pytest
from hyperkube_lib.dynamic_admission.deadlocks import BROKEN, REASON, Deadlocks
from hyperkube_lib.dynamic_admission.needs import Backend

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import (
    CONFIG_MAPS,
    ENDPOINTS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICES,
)
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.users import LOOPBACK

KIND = "ValidatingWebhookConfiguration"
CONFIGURATIONS = GroupVersionResource("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")
EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
PODS_ONLY = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def webhook(service="guard/hook", rule=EVERYTHING, name="w.example.com", **more):
    namespace, _, service_name = service.partition("/")
    config = {"service": {"namespace": namespace, "name": service_name}}
    return {"name": name, "clientConfig": config, "rules": [rule], "failurePolicy": "Fail", **more}


def elsewhere(namespace):
    """A selector that leaves one namespace out."""
    term = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [namespace]}
    return {"namespaceSelector": {"matchExpressions": [term]}}


def configuration(*webhooks, name="conf"):
    return {"metadata": {"name": name}, "webhooks": list(webhooks)}


class World:
    def __init__(self, *configurations, breaks=True, addresses=()):
        self.client = FakeClient()
        self.informers = InformerFactory(self.client, self.client.clock)
        logger = logging.getLogger("test")
        self.deadlocks = Deadlocks(self.client, self.informers, self.client.clock, logger, breaks=breaks)
        for name in ("guard", "other", "default"):
            meta = {"name": name, "labels": {"kubernetes.io/metadata.name": name}}
            self.client.seed(NAMESPACES, {"metadata": meta})
            service = {"metadata": {"name": "hook", "namespace": name}, "spec": {"selector": {"app": "hook"}}}
            self.client.seed(SERVICES, service)
        for namespace in addresses:
            subsets = [{"addresses": [{"ip": "10.0.0.1"}]}]
            self.client.seed(ENDPOINTS, {"metadata": {"name": "hook", "namespace": namespace}, "subsets": subsets})
        for one in configurations:
            self.client.seed(CONFIGURATIONS, one)
        self.informers.refresh()

    def warnings(self, written):
        asked = request("CREATE", CONFIGURATIONS, written)
        self.deadlocks.warn(asked)
        return asked.warnings

    def breaks(self, asked, declared=None):
        return self.deadlocks.breaks(KIND, "conf", declared or webhook(), asked)

    def events(self):
        assert self.deadlocks._events.flush()
        return self.client.objects(EVENTS)


def request(operation, resource, obj, **more):
    meta = obj["metadata"]
    values = {
        "operation": operation,
        "resource": resource,
        "kind": GroupVersionKind(resource.group, resource.version, ""),
        "namespace": meta.get("namespace", ""),
        "name": meta["name"],
        "user": LOOPBACK,
        "object": obj if operation != "DELETE" else None,
        "old_object": obj if operation != "CREATE" else None,
        "may": lambda *_, **__: False,
    }
    return AdmissionRequest(**{**values, **more})


def thing(namespace="guard", name="x", **labels):
    meta = {"name": name, "labels": labels}
    return {"metadata": {**meta, "namespace": namespace} if namespace else meta}


@pytest.mark.parametrize(
    ("declared", "needed"),
    [
        (webhook(), "pods"),
        (webhook(rule=PODS_ONLY), "pods"),
        (webhook(rule={**PODS_ONLY, "resources": ["leases"], "apiGroups": ["coordination.k8s.io"]}), "leases"),
        (webhook(rule={**PODS_ONLY, "resources": ["pods/binding"]}), "pods/binding"),
        (webhook(rule={**PODS_ONLY, "resources": ["secrets"]}), ""),
        (webhook(rule=PODS_ONLY, **elsewhere("guard")), ""),
        (webhook(rule=EVERYTHING, **elsewhere("guard")), "nodes"),
        (webhook(rule=PODS_ONLY, objectSelector={"matchLabels": {"app": "other"}}), ""),
        (webhook(rule=PODS_ONLY, objectSelector={"matchLabels": {"app": "hook"}}), "pods"),
        (webhook(failurePolicy="Ignore"), ""),
        (webhook(clientConfig={"url": "https://example.com"}), ""),
        (webhook("guard/nobody"), ""),
    ],
    ids=str,
)
def test_a_configuration_that_could_deadlock_is_warned_about(declared, needed):
    warnings = World().warnings(configuration(declared))

    if not needed:
        assert warnings == []
        return
    (text,) = warnings
    assert text == (
        f'webhook "w.example.com" (service guard/hook) fails closed and is asked about {needed} that its own backend '
        "needs to start: once no endpoint is ready, none will be; exempt the namespace with a namespaceSelector"
    )


def test_two_webhooks_that_wait_for_each_other_are_warned_about():
    first = webhook("guard/hook", PODS_ONLY, "first", **elsewhere("guard"))
    second = webhook("other/hook", PODS_ONLY, "second", **elsewhere("other"))
    world = World(configuration(first, name="a"))

    assert world.warnings(configuration(webhook("other/hook", PODS_ONLY, "s", **elsewhere("guard")), name="b")) != []
    (text,) = world.warnings(configuration(second, name="b"))

    assert text.startswith('webhooks "second" (service other/hook), "first" (service guard/hook) fail closed')


def test_a_webhook_that_waits_for_another_is_no_deadlock():
    waits = webhook("guard/hook", PODS_ONLY, "waits", **elsewhere("other"), objectSelector={"matchLabels": {"no": "x"}})
    world = World(configuration(waits, name="a"))

    assert world.warnings(configuration(webhook("other/hook", PODS_ONLY, "b", **elsewhere("other")), name="b")) == []


@pytest.mark.parametrize(
    ("asked", "through"),
    [
        (request("CREATE", PODS, thing(app="hook", more="x")), True),
        (request("UPDATE", PODS, thing(app="hook"), subresource="status"), True),
        (request("CREATE", REPLICA_SETS, thing()), True),
        (request("UPDATE", NODES, thing(""), subresource="status"), True),
        (request("UPDATE", LEASES, thing("kube-node-lease")), True),
        (request("CREATE", PODS, thing(app="other")), False),
        (request("CREATE", PODS, thing("default", app="hook")), False),
        (request("CREATE", PODS, thing(app="hook"), subresource="exec"), False),
        (request("UPDATE", CONFIG_MAPS, thing()), False),
        (request("UPDATE", LEASES, thing("default")), False),
        (request("DELETE", NODES, thing("")), False),
    ],
    ids=lambda value: f"{value.operation} {value.resource.resource}" if isinstance(value, AdmissionRequest) else "",
)
def test_exactly_what_the_backend_needs_is_let_through(asked, through):
    world = World(configuration(webhook()))

    assert world.breaks(asked) is through
    assert asked.annotations == ({f"{BROKEN}w.example.com": "needed by guard/hook"} if through else {})
    assert bool(asked.warnings) is through


def test_a_binding_is_judged_by_the_labels_of_its_pod():
    world = World(configuration(webhook()))
    world.client.seed(PODS, thing(name="own", app="hook"), thing(name="foreign", app="x"))

    def bind(name):
        return request("CREATE", PODS, {"metadata": {"name": name, "namespace": "guard"}}, subresource="binding")

    assert world.breaks(bind("own"))
    assert not world.breaks(bind("foreign"))
    assert not world.breaks(bind("nobody"))


def test_without_the_flag_it_is_told_and_refused():
    world = World(configuration(webhook()), breaks=False)
    asked = request("CREATE", PODS, thing(app="hook"))

    assert not world.breaks(asked)

    (text,) = asked.warnings
    assert text == (
        'deadlock: webhook "w.example.com" (service guard/hook) keeps its own backend from starting: '
        "start the API server with --break-webhook-deadlocks to break it"
    )
    assert asked.annotations == {}
    (event,) = world.events()
    assert (event["reason"], event["type"], event["message"]) == (REASON, "Warning", asked.warnings[0])
    assert event["involvedObject"]["name"] == "conf"


def test_it_is_told_once_a_minute():
    world = World(configuration(webhook()))
    for _ in range(3):
        world.breaks(request("CREATE", PODS, thing(app="hook")))
    assert [event.get("count", 1) for event in world.events()] == [1]

    world.client.clock.advance(61)
    world.breaks(request("CREATE", PODS, thing(app="hook")))

    assert sum(event.get("count", 1) for event in world.events()) == 2


def test_a_dry_run_writes_no_event():
    world = World(configuration(webhook()))

    assert world.breaks(request("CREATE", PODS, thing(app="hook"), dry_run=True))
    assert world.events() == []


def test_of_two_that_wait_for_each_other_both_must_be_down():
    first = webhook("guard/hook", PODS_ONLY, "first", **elsewhere("guard"))
    second = webhook("other/hook", PODS_ONLY, "second", **elsewhere("other"))
    needed = request("CREATE", PODS, thing("other", app="hook"))

    up = World(configuration(first, second), addresses=["other"])
    down = World(configuration(first, second))

    assert not up.breaks(needed, first)
    assert down.breaks(needed, first)
    assert "needed by guard/hook, other/hook" in needed.annotations.values()


def test_endpoints_that_are_listed_but_gone_count_as_down():
    world = World(configuration(webhook()), addresses=["guard"])

    assert world.breaks(request("CREATE", PODS, thing(app="hook")))


def test_a_backend_has_labels_that_its_identity_does_not_count():
    assert Backend("a", "b", {"x": "y"}) == Backend("a", "b", {})
