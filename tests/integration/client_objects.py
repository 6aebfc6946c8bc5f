"""Objects and a cluster for the tests that drive clients written by others."""

from __future__ import annotations

import contextlib

from hyperkube_testing.cluster.cluster import ControlPlane

GROUP = "clients.example.com"


def deployment(name, replicas=1, namespace="default"):
    """Return a Deployment whose pods a simulated node runs."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "any"}]},
            },
        },
    }


def pod(name, namespace="default", **labels):
    """Return a Pod of one container."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "any"}]},
    }


def definition(kind):
    """Return a definition of a namespaced kind with a status of its own and a number of replicas."""
    plural = kind.lower() + "s"
    text, number = {"type": "string"}, {"type": "integer"}
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"colour": text, "replicas": {**number, "minimum": 0}}},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "additionalPrinterColumns": [{"name": "Colour", "type": "string", "jsonPath": ".spec.colour"}],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "shortNames": [plural[:2]]},
            "versions": [version],
        },
    }


def custom(kind, name, **spec):
    """Return an object of a kind that `definition` defined."""
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, "spec": spec}


@contextlib.contextmanager
def served_cluster():
    """Run a cluster with one simulated node that is served over HTTPS."""
    with ControlPlane(hollow_nodes=1) as cluster:
        cluster.url  # noqa: B018  it is served from the first use on
        yield cluster
