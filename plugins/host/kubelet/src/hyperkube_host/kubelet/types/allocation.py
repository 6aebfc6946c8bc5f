"""The resources that the node granted a pod, laid over what its spec asks for.

Source: kubernetes ``pkg/kubelet/allocation/allocation_manager.go`` (allocationFromPod, updatePodFromAllocation).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of
from hyperkube_host.kubelet.types.pod_update import is_static

from hyperkube.kinds.resource_lists import read, same
from hyperkube.machinery.objects import Object


class Allocation(NamedTuple):
    """Resource requirements of containers by name, and those of the pod itself, None where it has none."""

    containers: dict[str, Object]
    pod: Object | None = None

    @classmethod
    def of(cls, pod: Object) -> Allocation:
        """Return what a spec asks for."""
        spec = pod["spec"]
        asked = {container["name"]: container.get("resources") or {} for container in _resizable(pod)}
        return cls(asked, spec.get("resources"))

    def encode(self) -> dict[str, Any]:
        """Return the entry of the checkpoint."""
        return {"containerResources": self.containers} | ({"podLevelResources": self.pod} if self.pod else {})

    @classmethod
    def decode(cls, entry: Any) -> Allocation:
        """Read an entry of the checkpoint.

        Raises:
            KeyError, TypeError, AttributeError: it is none.
        """
        containers = {str(name): dict(resources) for name, resources in entry["containerResources"].items()}
        return cls(containers, entry.get("podLevelResources"))


def _resizable(pod: Object) -> list[Object]:
    return [*init_containers_of(pod), *containers_of(pod)]


def differs(one: Object | None, other: Object | None) -> bool:
    """Tell whether two resource requirements ask for different amounts."""
    return any(
        not same(read((one or {}).get(which)), read((other or {}).get(which))) for which in ("requests", "limits")
    )


def is_resized(pod: Object, granted: Allocation) -> bool:
    """Tell whether a spec asks for other resources than were granted; a static pod never is: it is made anew."""
    if is_static(pod):
        return False
    asked = Allocation.of(pod)
    return differs(asked.pod, granted.pod) or any(
        differs(resources, granted.containers.get(name, resources)) for name, resources in asked.containers.items()
    )


def with_allocation(pod: Object, granted: Allocation) -> Object:
    """Return a pod with the resources that it was granted; the pod itself when these are what it asks for."""
    if not is_resized(pod, granted):
        return pod
    spec = {**pod["spec"]}
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [
                {**container, "resources": granted.containers.get(container["name"], container.get("resources") or {})}
                for container in spec[field] or []
            ]
    if granted.pod is None:
        spec.pop("resources", None)
    else:
        spec["resources"] = granted.pod
    return {**pod, "spec": spec}
