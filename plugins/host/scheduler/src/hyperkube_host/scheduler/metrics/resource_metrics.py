"""``/metrics/resources``: what each pod requests, and its limits, as the scheduler reckons.

One line per pod and resource, made when it is read. Source: kubernetes
``pkg/scheduler/metrics/resources/resources.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperkube.kinds.pods import is_terminal, pod_limits, pod_requests
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.quantity import Quantity

_FAMILIES = (
    ("kube_pod_resource_request", "What a pod requests.", pod_requests),
    ("kube_pod_resource_limit", "The limits of a pod.", pod_limits),
)
_UNITS = {"cpu": "cores", "memory": "bytes", "storage": "bytes", "ephemeral-storage": "bytes"}


def resource_metrics(pods: Iterable[Object]) -> bytes:
    """Return the requests and limits of pods that have not ended, in Prometheus' text format."""
    alive = [pod for pod in pods if not (is_terminal(pod) and pod.get("spec", {}).get("nodeName"))]
    lines: list[str] = []
    for name, text, amounts in _FAMILIES:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
        for pod in alive:
            lines += _lines(name, pod, amounts(pod))
    return "".join(f"{line}\n" for line in lines).encode()


def unit(resource: str) -> str:
    """Return what a resource is counted in, the empty string if that is nothing in particular."""
    if resource.startswith("hugepages-"):
        return "bytes"
    return "integer" if resource.startswith("attachable-volumes-") else _UNITS.get(resource, "")


def _lines(name: str, pod: Object, amounts: dict[str, Quantity]) -> Iterator[str]:
    spec = pod.get("spec", {})
    labels = {
        "namespace": namespace_of(pod),
        "pod": name_of(pod),
        "node": spec.get("nodeName", ""),
        "scheduler": spec.get("schedulerName", ""),
        "priority": spec.get("priority", ""),
    }
    head = ",".join(f'{label}="{value}"' for label, value in labels.items())
    for resource, quantity in sorted(amounts.items()):
        if quantity:
            yield f'{name}{{{head},resource="{resource}",unit="{unit(resource)}"}} {quantity.as_float():.12g}'
