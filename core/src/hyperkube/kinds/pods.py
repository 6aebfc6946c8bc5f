"""Pure functions on pods: their containers, phase, ports, and what they ask for.

A "pod" here is anything with a pod's ``spec``: a Pod or a pod template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX, ResourceList, add, raise_to, read
from hyperkube.machinery.objects import Object, annotations_of, is_being_deleted
from hyperkube.machinery.quantity import Quantity

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
DISRUPTION_TARGET = "DisruptionTarget"
TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})
_ANY_ADDRESS = "0.0.0.0"
_POD_LEVEL = frozenset({"cpu", "memory"})


def spec_of(pod: Object) -> Object:
    """Return the pod's spec, or an empty dict."""
    return pod.get("spec") or {}


def status_of(pod: Object) -> Object:
    """Return the pod's status, or an empty dict."""
    return pod.get("status") or {}


def containers(pod: Object | None) -> Iterator[Object]:
    """Yield all containers: init, ordinary and ephemeral ones; change them only in a copy of your own."""
    spec = spec_of(pod or {})
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()
    yield from spec.get("ephemeralContainers") or ()


def containers_with_paths(pod: Object) -> Iterator[tuple[str, Object]]:
    """Yield (``spec.initContainers[0]``, container) for all containers, in Kubernetes' order of visits."""
    spec = spec_of(pod)
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(name) or ()):
            yield f"spec.{name}[{index}]", container


def is_sidecar(container: Object) -> bool:
    """Tell whether an init container keeps running beside the ordinary ones."""
    return container.get("restartPolicy") == "Always"


def phase(pod: Object) -> str:
    """Return ``status.phase`` or the empty string."""
    return str((pod.get("status") or {}).get("phase", ""))


def is_terminal(pod: Object) -> bool:
    """Tell whether the pod has ended, well or badly."""
    return (pod.get("status") or {}).get("phase", "") in TERMINAL_PHASES


def is_active(pod: Object) -> bool:
    """Tell whether the pod has neither ended nor is being deleted."""
    return not is_terminal(pod) and not is_being_deleted(pod)


def is_ready(pod: Object) -> bool:
    """Tell whether the pod's Ready condition is true."""
    return is_true(status_of(pod), "Ready")


def priority_of(pod: Object) -> int:
    """Return ``spec.priority``, 0 where there is none."""
    return int((pod.get("spec") or {}).get("priority") or 0)


def disruption_target(reason: str, message: str) -> Object:
    """Return the condition by which a job's failure policy tells the end of a disrupted pod from its own failure."""
    return {"type": DISRUPTION_TARGET, "status": "True", "reason": reason, "message": message}


def node_index(pod: Object) -> tuple[str, ...]:
    """Index pods by the node that they are assigned to."""
    node = (pod.get("spec") or {}).get("nodeName")
    return (node,) if node else ()


def is_scheduled(pod: Object) -> bool:
    """Tell whether the pod has a node."""
    return bool(spec_of(pod).get("nodeName"))


def is_mirror(pod: Object) -> bool:
    """Tell whether the pod mirrors a static one of a kubelet."""
    return MIRROR_ANNOTATION in annotations_of(pod)


HostPort = tuple[str, str, int]
"""Address, protocol and port."""


def host_ports(pod: Object) -> Iterator[HostPort]:
    """Yield every port that the pod takes on its node while it runs: not what only its start needs."""
    spec = spec_of(pod)
    sidecars = filter(is_sidecar, spec.get("initContainers") or ())
    for container in (*sidecars, *(spec.get("containers") or ())):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield port.get("hostIP") or _ANY_ADDRESS, port.get("protocol") or "TCP", int(port["hostPort"])


def host_ports_conflict(wanted: Iterable[HostPort], taken: Iterable[HostPort]) -> bool:
    """Tell whether two sets of ports collide; the address 0.0.0.0 collides with every other."""
    held = list(taken)
    return bool(held) and any(
        (protocol, port) == (other_protocol, other_port) and (address == other or _ANY_ADDRESS in {address, other})
        for address, protocol, port in wanted
        for other, other_protocol, other_port in held
    )


def pod_requests(
    pod: Object, *, with_overhead: bool = True, non_missing: Mapping[str, Quantity] | None = None
) -> ResourceList:
    """Return what the pod asks for: the sum of its containers, at least what its start needs, or the pod-level values.

    Args:
        pod: a pod, or a template.
        with_overhead: whether to add what the runtime itself needs.
        non_missing: stands in for requests that a container does not make (scheduling's least amounts).

    Source: component-helpers ``resource/helpers.go`` (PodRequests, without regard to the status).
    """
    total = aggregate_containers(spec_of(pod), "requests", non_missing)
    _apply_pod_level(total, spec_of(pod), "requests")
    if with_overhead:
        add(total, read(spec_of(pod).get("overhead")))
    return total


def pod_limits(pod: Object, *, with_overhead: bool = True) -> ResourceList:
    """Return the limits of the pod as a whole; overhead is added to limits that are set."""
    total = aggregate_containers(spec_of(pod), "limits")
    _apply_pod_level(total, spec_of(pod), "limits")
    if with_overhead:
        overhead = read(spec_of(pod).get("overhead"))
        add(total, {name: quantity for name, quantity in overhead.items() if total.get(name)})
    return total


def _apply_pod_level(total: ResourceList, spec: Object, which: str) -> None:
    """Let values of ``spec.resources`` stand for the sums of the containers."""
    for name, quantity in read((spec.get("resources") or {}).get(which)).items():
        if is_pod_level_resource(name):
            total[name] = quantity


def is_pod_level_resource(name: str) -> bool:
    """Tell whether ``spec.resources`` may name that resource for the pod as a whole."""
    return name in _POD_LEVEL or name.startswith(HUGE_PAGES_PREFIX)


def container_resources(container: Object, which: str) -> ResourceList:
    """Return a container's ``requests`` or ``limits``."""
    return read((container.get("resources") or {}).get(which))


def default_requests(container: Object) -> None:
    """Request what is limited, where nothing was requested; changes the container."""
    resources = container.get("resources")
    if not resources or not resources.get("limits"):
        return
    requests = resources.get("requests") or {}
    resources["requests"] = requests
    for name, limit in resources["limits"].items():
        requests.setdefault(name, limit)


def aggregate_containers(spec: Object, which: str, non_missing: Mapping[str, Quantity] | None = None) -> ResourceList:
    """Return the ``requests`` or ``limits`` of the containers together: of those that stay, or the largest init step.

    Args:
        spec: the specification of a pod or a template.
        which: ``requests`` or ``limits``.
        non_missing: stands in for what a container does not name.
    """

    def wanted(container: Object) -> ResourceList:
        own = container_resources(container, which)
        return {**non_missing, **own} if non_missing else own

    total: ResourceList = {}
    for container in spec.get("containers") or ():
        add(total, wanted(container))
    sidecars: ResourceList = {}
    start: ResourceList = {}
    for container in spec.get("initContainers") or ():
        own = wanted(container)
        if is_sidecar(container):
            add(total, own)
            add(sidecars, own)
            raise_to(start, sidecars)
        else:
            add(own, sidecars)
            raise_to(start, own)
    raise_to(total, start)
    return total
