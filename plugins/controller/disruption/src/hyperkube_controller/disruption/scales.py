"""How many pods the controllers of pods are to have: those that are known, and any other with a scale.

Source: kubernetes ``pkg/controller/disruption/disruption.go`` (getExpectedScale and its finders).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import orjson

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.machinery.errors import ApiError, HyperkubeError, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, controller_of, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from hyperkube_controller.disruption.decision import Scale


class NoScale(HyperkubeError):
    """The scale of a pod's controller is not known; the message says why."""


class Scales:
    """Looks controllers up: in caches where there is one, else through their subresource ``scale``."""

    def __init__(self, client: Client, owners: Mapping[tuple[str, str], Informer]) -> None:
        """Look up through `client`; `owners` are the caches by (group, kind)."""
        self._client = client
        self._owners = owners

    def expected(self, pods: Sequence[Object]) -> Scale:
        """Return the sum of the scales of all controllers of the pods.

        Raises:
            NoScale: the controller of a pod is gone, or has no scale.
        """
        from hyperkube_controller.disruption.decision import Scale

        replicas: dict[str, int] = {}
        seen: set[str] = set()
        has_unmanaged = False
        for pod in pods:
            reference = controller_of(pod)
            if reference is None:
                has_unmanaged = True
                continue
            if reference["uid"] in seen:
                continue
            seen.add(reference["uid"])
            found, unset = self._topmost(reference, namespace_of(pod)), 1
            if found is None:
                # A scale that leaves the replicas out has none.
                found, unset = self._scale(reference, namespace_of(pod)), 0
            if found is None:
                raise NoScale(f'found no controllers for pod "{name_of(pod)}"')
            replicas[uid_of(found)] = int((found.get("spec") or {}).get("replicas", unset))
        return Scale(sum(replicas.values()), has_unmanaged)

    def _topmost(self, reference: Object, namespace: str) -> Object | None:
        """Return a controller from the caches: a deployment rather than its replica set."""
        group = reference.get("apiVersion", "").rpartition("/")[0]
        informer = self._owners.get(("apps" if group == "extensions" else group, reference.get("kind", "")))
        owner = informer.get(namespace, reference["name"]) if informer is not None else None
        if owner is None or uid_of(owner) != reference.get("uid"):
            return None
        above = controller_of(owner)
        if above is not None and above.get("kind") == "Deployment":
            return self._topmost(above, namespace)
        return owner

    def _scale(self, reference: Object, namespace: str) -> Object | None:
        """Return the scale of a controller of any other kind; None when it is gone.

        Raises:
            NoScale: objects of the kind have none.
        """
        try:
            resource = self._resource(reference)
            scale = self._client.get(resource, reference["name"], namespace, subresource="scale")
        except NotFound as error:
            if not self._has_scale(resource):
                raise NoScale(f"{resource.group_resource} does not implement the scale subresource") from error
            return None
        except (ApiError, OSError) as error:
            raise NoScale(str(error)) from error
        return scale if uid_of(scale) == reference.get("uid") else None

    def _resource(self, reference: Object) -> GroupVersionResource:
        group, _, version = reference.get("apiVersion", "").rpartition("/")
        for row in self._served(group, version):
            if row.get("kind") == reference["kind"] and "/" not in row["name"]:
                return GroupVersionResource(group, version, row["name"])
        raise NoScale(f'no matches for kind "{reference["kind"]}" in version "{reference.get("apiVersion", "")}"')

    def _has_scale(self, resource: GroupVersionResource) -> bool:
        rows = self._served(resource.group, resource.version)
        return any(row["name"] == f"{resource.resource}/scale" and row.get("kind") == "Scale" for row in rows)

    def _served(self, group: str, version: str) -> list[Object]:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        answer = self._client.request("GET", path, headers={"Accept": "application/json"})
        rows: list[Object] = orjson.loads(answer.body).get("resources") or [] if answer.status == 200 else []
        return rows
