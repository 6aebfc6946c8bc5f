"""Extended resources that stand for device classes: the claim that a pod gets for them on a node.

Containers that never run at the same time share devices: what an init container asks for is taken from what those
after it get, and what is missing is asked for once. Source: kubernetes
``pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go``.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence

from hyperkube_lib.scheduling.device_classes import may_stand_for_class

from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.objects import Object, annotations_of, controller_of, name_of, namespace_of
from hyperkube.machinery.quantity import parse

ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
IN_MEMORY = "<extended-resources>"
"""The name of a claim that is not stored yet; no stored one can have it."""


def backable(pod: Object) -> list[str]:
    """Return the resources that a pod requests for which a device class may stand."""
    found = {
        name
        for container in _containers(pod)
        for name, amount in ((container.get("resources") or {}).get("requests") or {}).items()
        if may_stand_for_class(name) and parse(str(amount))
    }
    return sorted(found)


def owner_index(claim: Object) -> Iterator[str]:
    """Yield the uid of the pod that a claim of this kind was made for."""
    if annotations_of(claim).get(ANNOTATION) == "true":
        yield str((controller_of(claim) or {}).get("uid") or "")


def claim_for(pod: Object) -> Object:
    """Return the claim for a pod's extended resources, as it is before a node is looked at."""
    meta = {
        "name": IN_MEMORY,
        "uid": str(uuid.uuid4()),
        "generateName": f"{name_of(pod)}-extended-resources-",
        "namespace": namespace_of(pod),
        "annotations": {ANNOTATION: "true"},
        "ownerReferences": [_owner(pod)],
    }
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": {"devices": {}}}


def with_requests(claim: Object, requests: Sequence[Object]) -> Object:
    """Return the claim as a node needs it."""
    return {**claim, "spec": {"devices": {"requests": [*requests]}}}


def requests_and_mappings(pod: Object, classes: Mapping[str, str]) -> tuple[list[Object], list[Object]]:
    """Return the requests of the claim, and which containers they are for.

    Args:
        pod: the pod.
        classes: resource → device class.
    """
    requests: list[Object] = []
    mappings: list[Object] = []
    for resource in sorted(classes):
        more, told = _for_resource(pod, resource, classes[resource])
        requests += more
        mappings += told
    return sorted(requests, key=lambda request: str(request["name"])), mappings


def _for_resource(pod: Object, resource: str, device_class: str) -> tuple[list[Object], list[Object]]:
    containers = _containers(pod)
    init = len(pod["spec"].get("initContainers") or ())
    short = [n for n in range(init) if containers[n].get("restartPolicy") != "Always"]
    long_lived: dict[int, Object] = {}
    mappings: list[Object] = []
    for number in range(len(containers)):
        if number not in short:
            request, told = _for_container(number, containers[number], resource, device_class, ())
            mappings += told
            if request is not None:
                long_lived[number] = request
    most: Object | None = None
    extra: set[str] = set()
    later: list[Object] = []
    for number in short:
        reusable = [request for index, request in long_lived.items() if index >= number]
        request, told = _for_container(number, containers[number], resource, device_class, reusable)
        later += told
        if request is not None:
            extra.add(request["name"])
            if most is None or most["exactly"]["count"] < request["exactly"]["count"]:
                most = request
    for mapping in later:
        if most is not None and mapping["requestName"] in extra:
            mapping["requestName"] = most["name"]
    return ([] if most is None else [most]) + [*long_lived.values()], mappings + later


def _for_container(
    number: int, container: Object, resource: str, device_class: str, reusable: Sequence[Object]
) -> tuple[Object | None, list[Object]]:
    """Return the request that a container needs beside those it can use, and all that it uses."""
    asked = (container.get("resources") or {}).get("requests") or {}
    count = parse(str(asked[resource])).value() if resource in asked else 0
    if not count:
        return None, []
    mappings: list[Object] = []

    def use(request: str) -> None:
        mapping = {"containerName": container["name"], "resourceName": resource, "requestName": request}
        mappings.append(mapping)

    for each in reusable:
        use(each["name"])
        count -= each["exactly"]["count"]
        if count <= 0:
            return None, mappings
    name = f"container-{number}-request-{sorted(asked).index(resource)}"
    use(name)
    exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
    return {"name": name, "exactly": exactly}, mappings


def _containers(pod: Object) -> list[Object]:
    spec = pod.get("spec") or {}
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _owner(pod: Object) -> Object:
    owner = dict(controller_reference(pod, "v1", "Pod"))
    owner.pop("blockOwnerDeletion", None)
    return owner
