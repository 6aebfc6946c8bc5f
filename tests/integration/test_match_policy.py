"""matchPolicy Equivalent: webhooks and policies are asked in the version they name, whichever the client used."""

from __future__ import annotations

from base64 import b64encode
from contextlib import contextmanager

import orjson
import pytest
from hyperkube_testing.cluster.cluster import ControlPlane
from hyperkube_testing.peers.webhook_server import WebhookServer

from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource

GROUP = "admissionregistration.k8s.io"
OLD_DEPLOYMENTS = GroupVersionResource("extensions", "v1beta1", "deployments")
OLD_INGRESSES = GroupVersionResource("extensions", "v1beta1", "ingresses")
SCALERS = GroupVersionResource("autoscaling", "v1", "horizontalpodautoscalers")
GAUGES, NEW_GAUGES = (GroupVersionResource("example.com", version, "gauges") for version in ("v1beta1", "v1"))
DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}
SCALER = {
    "metadata": {"name": "h"},
    "spec": {
        "maxReplicas": 3,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "targetCPUUtilizationPercentage": 80,
    },
}


@pytest.fixture(scope="module")
def cluster():
    options = {"runtime-config": {"api/legacy": "true"}}
    with ControlPlane(apiserver=options, controller_manager=None, scheduler=None) as cluster:
        yield cluster


@contextmanager
def configured(cluster, kind, spec):
    """Hold an object of admission configuration while a test runs, known to the plugins."""
    resource = GroupVersionResource(
        GROUP, "v1", f"{kind.lower()}s" if not kind.endswith("y") else f"{kind[:-1].lower()}ies"
    )
    cluster.client.create(resource, {"metadata": {"name": "it"}, **spec})
    try:
        yield
    finally:
        cluster.client.delete(resource, "it")


def webhook(server, group, version, resource, **more):
    rule = {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": ["*"],
        "resources": [f"{resource}", f"{resource}/*"],
    }
    return {
        "webhooks": [
            {
                "name": "w.example.com",
                "clientConfig": {"url": server.url, "caBundle": server.ca_bundle},
                "rules": [rule],
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 30,
                "failurePolicy": "Ignore",  # its configuration is known for a moment longer than it is there
                **more,
            }
        ]
    }


def patching(*operations):
    return {"allowed": True, "patch": b64encode(orjson.dumps(list(operations))).decode(), "patchType": "JSONPatch"}


def asked_of(cluster, server, act):
    """Act until the webhook has heard of it: the plugins follow the configuration a moment later."""

    def attempt():
        server.reviews.clear()
        act()
        return [review["request"] for review in server.reviews]

    return cluster.wait(attempt, "a question to the webhook", 30)


def test_a_validating_webhook_sees_the_version_that_it_names(cluster):
    client = cluster.client
    client.create(OLD_DEPLOYMENTS, DEPLOYMENT, "default")
    with (
        WebhookServer(lambda _: {"allowed": True}) as server,
        configured(cluster, "ValidatingWebhookConfiguration", webhook(server, "apps", "v1", "deployments")),
    ):
        asked = asked_of(
            cluster,
            server,
            lambda: client.patch(OLD_DEPLOYMENTS, "d", {"metadata": {"labels": {"x": "y"}}}, "default"),
        )[0]
    client.delete(DEPLOYMENTS, "d", "default")

    assert asked["kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert asked["resource"] == {"group": "apps", "version": "v1", "resource": "deployments"}
    assert asked["requestKind"] == {"group": "extensions", "version": "v1beta1", "kind": "Deployment"}
    assert asked["requestResource"] == {"group": "extensions", "version": "v1beta1", "resource": "deployments"}
    assert (asked["object"]["apiVersion"], asked["oldObject"]["apiVersion"]) == ("apps/v1", "apps/v1")


def test_exactly_the_named_version_is_not_another_one(cluster):
    client = cluster.client
    with WebhookServer(lambda _: {"allowed": True}) as server:
        exact = webhook(server, "apps", "v1", "deployments", matchPolicy="Exact")
        with configured(cluster, "ValidatingWebhookConfiguration", exact):
            asked_of(cluster, server, lambda: client.create(DEPLOYMENTS, _with_selector(), "default", dry_run=True))
            server.reviews.clear()

            client.create(OLD_DEPLOYMENTS, DEPLOYMENT, "default", dry_run=True)

        assert server.reviews == []


def _with_selector():
    return {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "selector": {"matchLabels": {"a": "b"}}}}


def test_a_mutating_webhook_patches_the_version_that_it_names(cluster):
    client = cluster.client
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 55}},
    }
    answer = patching({"op": "replace", "path": "/spec/metrics", "value": [metric]})
    with WebhookServer(lambda _: answer) as server:
        spec = webhook(server, "autoscaling", "v2", "horizontalpodautoscalers")
        made = {}

        def create():
            made.update(client.create(SCALERS, SCALER, "default", dry_run=True))

        with configured(cluster, "MutatingWebhookConfiguration", spec):
            asked = asked_of(cluster, server, create)[0]

    assert asked["object"]["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 80
    assert made["apiVersion"] == "autoscaling/v1"
    assert made["spec"]["targetCPUUtilizationPercentage"] == 55


def definition():
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1beta1", "schema": {"openAPIV3Schema": schema}}
        for name in ("v1beta1", "v1")
    ]
    names = {"plural": "gauges", "kind": "Gauge"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "gauges.example.com"}, "spec": spec}


def test_custom_resources_are_shown_in_the_named_version_too(cluster):
    client = cluster.client
    client.create(CUSTOM_RESOURCE_DEFINITIONS, definition())
    cluster.wait(lambda: cluster.server.registry.find(NEW_GAUGES), "the definition", 30)
    answer = patching({"op": "replace", "path": "/spec/size", "value": 9})
    made = {}

    def create():
        made.update(client.create(GAUGES, {"metadata": {"name": "g"}, "spec": {"size": 1}}, "default", dry_run=True))

    with (
        WebhookServer(lambda _: answer) as server,
        configured(cluster, "MutatingWebhookConfiguration", webhook(server, "example.com", "v1", "gauges")),
    ):
        asked = asked_of(cluster, server, create)[0]
    client.delete(CUSTOM_RESOURCE_DEFINITIONS, "gauges.example.com")

    assert (asked["object"]["apiVersion"], asked["requestKind"]["version"]) == ("example.com/v1", "v1beta1")
    assert (made["apiVersion"], made["spec"]) == ("example.com/v1beta1", {"size": 9})


def constraints(group, version, resource):
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE"], "resources": [resource]}
    return {"matchConstraints": {"resourceRules": [rule]}}


def test_a_validating_policy_speaks_of_the_version_that_it_names(cluster):
    client = cluster.client
    expression = "object.spec.defaultBackend.service.name != 'bad' || request.requestKind.group != 'extensions'"
    policy = {
        "spec": {
            **constraints("networking.k8s.io", "v1", "ingresses"),
            "validations": [{"expression": expression, "message": "no"}],
        }
    }
    binding = {"spec": {"policyName": "it", "validationActions": ["Deny"]}}

    def refusal():
        spec = {"backend": {"serviceName": "bad", "servicePort": 80}}
        try:
            client.create(OLD_INGRESSES, {"metadata": {"name": "i"}, "spec": spec}, "default", dry_run=True)
        except ApiError as error:
            return str(error)
        return ""

    with (
        configured(cluster, "ValidatingAdmissionPolicy", policy),
        configured(cluster, "ValidatingAdmissionPolicyBinding", binding),
    ):
        text = cluster.wait(refusal, "a refusal", 30)

    assert text.endswith("ValidatingAdmissionPolicy 'it' with binding 'it' denied request: no")
    assert 'ingresses.extensions "i" is forbidden' in text


def test_a_mutating_policy_changes_the_version_that_it_names(cluster):
    client = cluster.client
    patch = "[JSONPatch{op: 'replace', path: '/spec/defaultBackend/service/name', value: 'good'}]"
    policy = {
        "spec": {
            **constraints("networking.k8s.io", "v1", "ingresses"),
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
        }
    }

    def changed():
        spec = {"backend": {"serviceName": "web", "servicePort": 80}}
        made = client.create(OLD_INGRESSES, {"metadata": {"name": "i"}, "spec": spec}, "default", dry_run=True)
        return made if made["spec"]["backend"]["serviceName"] != "web" else None

    with (
        configured(cluster, "MutatingAdmissionPolicy", policy),
        configured(cluster, "MutatingAdmissionPolicyBinding", {"spec": {"policyName": "it"}}),
    ):
        made = cluster.wait(changed, "a mutation", 30)

    assert (made["apiVersion"], made["spec"]["backend"]) == (
        "extensions/v1beta1",
        {"serviceName": "good", "servicePort": 80},
    )
