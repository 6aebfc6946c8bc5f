"""Which pods belong together when the pod itself does not say: those of its services and of its controller.

Source: kubernetes ``pkg/scheduler/framework/plugins/helper/spread.go``.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.kinds.resources import REPLICA_SETS, REPLICATION_CONTROLLERS, SERVICES, STATEFUL_SETS
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import Requirement, Selector, from_label_selector, selector_from_map
from hyperkube.machinery.objects import Object, controller_of, labels_of, namespace_of

_OWNERS = {
    ("ReplicationController", "v1"): REPLICATION_CONTROLLERS,
    ("ReplicaSet", "apps/v1"): REPLICA_SETS,
    ("StatefulSet", "apps/v1"): STATEFUL_SETS,
}
SYNC_SECONDS = 5.0


def only_selector(obj: Object) -> Object:
    """Keep of an owner what is needed here."""
    meta = obj.get("metadata", {})
    kept = {key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion") if key in meta}
    return {"metadata": kept, "spec": {"selector": obj.get("spec", {}).get("selector")}}


class Owners:
    """Knows services and controllers, from informers that it asks for at first need and waits for once.

    Attributes:
        version: changes whenever a service's or a controller's selector does.
    """

    def __init__(self, informers: InformerFactory) -> None:
        self._informers = informers
        self._known: dict[GroupVersionResource, Informer] = {}
        self.version = 0
        self._heard: Callable[[], None] = lambda: None

    def on_change(self, heard: Callable[[], None]) -> None:
        """Call something after each change of `version`; on an informer's thread, and after it was looked up first."""
        self._heard = heard

    def default_selector(self, pod: Object) -> Selector | None:
        """Return what selects the pods of this pod's services and controller; None if it has neither."""
        requirements: list[Requirement] = []
        for selector in self.service_selectors(pod):
            requirements += selector_from_map(selector).requirements
        owner = controller_of(pod)
        resource = _OWNERS.get((owner.get("kind", ""), owner.get("apiVersion", ""))) if owner else None
        if owner is not None and resource is not None:
            found = self._informer(resource).get(namespace_of(pod), owner["name"])
            wanted = found["spec"].get("selector") if found is not None else None
            if wanted is not None:
                by_map = resource == REPLICATION_CONTROLLERS
                selects = selector_from_map(wanted) if by_map else from_label_selector(wanted)
                requirements += selects.requirements
        return Selector(tuple(dict.fromkeys(requirements))) if requirements else None

    def service_selectors(self, pod: Object) -> list[dict[str, str]]:
        """Return the selectors of the services that select the pod."""
        labels = labels_of(pod)
        services = self._informer(SERVICES).list(namespace_of(pod)) if labels else []
        selectors = [service["spec"].get("selector") or {} for service in services]
        return [each for each in selectors if each and all(labels.get(key) == value for key, value in each.items())]

    def selectors_by_labels(self, pod: Object) -> list[Selector]:
        """Return the selectors of the services and the controllers that select the pod, owned by them or not.

        This is how 1.x found them: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/metadata.go`` (getSelectors).
        """
        labels, found = labels_of(pod), [selector_from_map(each) for each in self.service_selectors(pod)]
        for resource in _OWNERS.values() if labels else ():
            read = selector_from_map if resource == REPLICATION_CONTROLLERS else from_label_selector
            for owner in self._informer(resource).list(namespace_of(pod)):
                selector = read(owner["spec"].get("selector"))
                if not selector.is_empty and selector.matches(labels):
                    found.append(selector)
        return found

    def _informer(self, resource: GroupVersionResource) -> Informer:
        informer = self._known.get(resource)
        if informer is None:
            informer = self._known[resource] = self._informers.informer(resource, project=only_selector)
            informer.add_handler(self._changed, self._updated, self._changed)
            informer.wait_synced(SYNC_SECONDS)
        return informer

    def _changed(self, _owner: Object) -> None:
        self.version += 1
        self._heard()

    def _updated(self, old: Object, new: Object) -> None:
        if old["spec"] != new["spec"]:
            self._changed(new)
