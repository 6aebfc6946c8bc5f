"""The services between the kubelet and its plugins. Source: kubernetes ``staging/src/k8s.io/kubelet/pkg/apis``."""

from __future__ import annotations

from hyperkube_lib.grpc_messages import Schema, load_schema


def device_plugin() -> Schema:
    """Return how devices are offered and given; read at the first call, as the others."""
    return load_schema(__name__, "deviceplugin.v1beta1.proto")


def pod_resources() -> Schema:
    """Return how monitors of the node ask which pod has what."""
    return load_schema(__name__, "podresources.v1.proto")


def dra() -> Schema:
    """Return how drivers prepare resource claims."""
    return load_schema(__name__, "dra.v1.proto")


def dra_health() -> Schema:
    """Return how drivers tell the health of devices."""
    return load_schema(__name__, "dra-health.v1alpha1.proto")
