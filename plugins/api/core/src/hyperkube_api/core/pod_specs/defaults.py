"""Defaults of a pod's specification, alike in pods and in every template.

Source: kubernetes pkg/apis/core/v1/defaults.go and conversion.go.
"""

from __future__ import annotations

from hyperkube_api.core.volumes.defaults import default_volumes

from hyperkube.kinds.images import pull_policy
from hyperkube.machinery.objects import Object

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE_NUMBERS = (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3))


def default_pod_spec(spec: Object) -> None:
    """Fill in a pod spec as a template has it."""
    if not spec.get("restartPolicy"):
        spec["restartPolicy"] = "Always"
    if not spec.get("dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirst"
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    _mirror_service_account(spec)
    for member in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(member) or ():
            default_container(container)
    if spec.get("volumes"):
        default_volumes(spec["volumes"])


def default_template(template: Object | None) -> None:
    """Fill in a pod template, if there is one."""
    if template and isinstance(template.get("spec"), dict):
        default_pod_spec(template["spec"])


def _mirror_service_account(spec: Object) -> None:
    """Keep the old name of the service account's field equal to the new one."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    else:
        spec.pop("serviceAccount", None)


def default_container(container: Object) -> None:
    """Fill in a container of any sort."""
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    for port in container.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
    _default_hooks(container)
    for variable in container.get("env") or ():
        source = variable.get("valueFrom")
        if source:
            default_env_source(source)


def _default_hooks(container: Object) -> None:
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            _default_probe(probe)
    lifecycle = container.get("lifecycle")
    if lifecycle:
        for name in ("postStart", "preStop"):
            _default_http_get((lifecycle.get(name) or {}).get("httpGet"))


def _default_probe(probe: Object) -> None:
    for member, value in _PROBE_NUMBERS:
        if not probe.get(member):
            probe[member] = value
    _default_http_get(probe.get("httpGet"))
    grpc = probe.get("grpc")
    if grpc is not None and grpc.get("service") is None:
        grpc["service"] = ""


def _default_http_get(action: Object | None) -> None:
    if action is None:
        return
    if not action.get("path"):
        action["path"] = "/"
    if not action.get("scheme"):
        action["scheme"] = "HTTP"


def default_env_source(source: Object) -> None:
    """Fill in the source of an environment variable, in place."""
    reference = source.get("fieldRef")
    if reference is not None and not reference.get("apiVersion"):
        reference["apiVersion"] = "v1"
    file_key = source.get("fileKeyRef")
    if file_key is not None and file_key.get("optional") is None:
        file_key["optional"] = False
