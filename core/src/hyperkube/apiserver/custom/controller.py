"""Follows CustomResourceDefinitions: accepts names, serves what is established, cleans up what is deleted.

Source: kubernetes apiextensions-apiserver ``pkg/controller/{status,establish,finalizer}``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from hyperkube.apiserver.custom.definitions import RulesOf, group_versions, names_of, no_rules, storage_version
from hyperkube.apiserver.follower import Follower
from hyperkube.apiserver.registry import Registry
from hyperkube.client.client import Client
from hyperkube.client.webhooks import Caller, Resolver
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, copy_object, is_being_deleted, name_of
from hyperkube.machinery.times import format_time

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_RETRY_SECONDS = 1.0


class Definitions:
    """One thread that keeps the registry equal to the definitions."""

    def __init__(
        self,
        registry: Registry,
        client: Client,
        clock: Clock,
        logger: logging.Logger,
        *,
        rules_of: RulesOf = no_rules,
    ) -> None:
        self._registry = registry
        self._client = client
        self._clock = clock
        self._logger = logger
        self._rules_of = rules_of
        self._caller = Caller(Resolver(client), clock)
        self._known: dict[str, Object] = {}
        self._served: dict[str, list[ApiGroupVersion]] = {}
        self._specs: dict[str, Object] = {}
        self._follower = Follower(
            CUSTOM_RESOURCE_DEFINITIONS,
            client,
            name="definitions",
            listed=self._listed,
            changed=self._safely,
            gone=self._gone,
        )
        self.synced = False

    def start(self) -> None:
        """Serve what is established already, then follow changes."""
        if self._registry.find(CUSTOM_RESOURCE_DEFINITIONS) is None:
            self.synced = True
            return
        self._follower.start()

    def close(self) -> None:
        """Follow no more; idempotent."""
        self._follower.close()

    def _listed(self, crds: Sequence[Object]) -> None:
        for crd in crds:
            self._safely(crd)
        self.synced = True

    def _safely(self, crd: Object) -> None:
        try:
            self._reconcile(crd)
        except Conflict:
            return  # a newer version of it is on its way
        except Exception:  # one broken definition must not stop the others from being served
            self._logger.exception("definition %r could not be reconciled", name_of(crd))

    def _reconcile(self, crd: Object) -> None:
        name = name_of(crd)
        self._known[name] = crd
        if is_being_deleted(crd):
            self._clean_up(crd)
            return
        status = self._status(crd)
        if status != crd.get("status"):
            crd = {**copy_object(crd), "status": status}
            crd = self._client.update(CUSTOM_RESOURCE_DEFINITIONS, crd, subresource="status")
            self._known[name] = crd
        if _condition(crd, "Established") == "True":
            self._serve(crd)

    def _serve(self, crd: Object) -> None:
        name = name_of(crd)
        if self._specs.get(name) == crd["spec"]:
            return  # only its status or metadata changed: what is known about its objects stays known
        wanted = group_versions(crd, self._rules_of, caller=self._caller)
        before = self._served.get(name, [])
        self._registry.add(wanted, custom=True)
        self._served[name], self._specs[name] = wanted, crd["spec"]
        for version in before:
            if version.version not in {one.version for one in wanted}:
                self._registry.remove(version.resources[0].resource)

    def _gone(self, name: str) -> None:
        self._known.pop(name, None)
        self._specs.pop(name, None)
        for version in self._served.pop(name, []):
            self._registry.remove(version.resources[0].resource)
        for crd in list(self._known.values()):
            if _condition(crd, "NamesAccepted") == "False":
                self._safely(self._client.get(CUSTOM_RESOURCE_DEFINITIONS, name_of(crd)))

    def _clean_up(self, crd: Object) -> None:
        """Delete all objects of a definition that goes, then let it go."""
        name = name_of(crd)
        finalizers = crd["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers:
            return
        spec = crd["spec"]
        served = self._served.get(name)
        if served:
            versions = [one.version for one in served]
            stored = storage_version(crd)
            version = stored if stored in versions else versions[0]
            self._delete_all(GroupVersionResource(spec["group"], version, spec["names"]["plural"]))
        crd = copy_object(crd)
        crd["metadata"]["finalizers"] = [one for one in finalizers if one != FINALIZER]
        self._client.update(CUSTOM_RESOURCE_DEFINITIONS, crd)

    def _delete_all(self, resource: GroupVersionResource) -> None:
        while not self._follower.stopped.is_set():
            left = self._client.list(resource).items
            if not left:
                return
            for obj in left:
                meta = obj["metadata"]
                if not meta.get("deletionTimestamp"):
                    try:
                        self._client.delete(resource, meta["name"], meta.get("namespace", ""))
                    except NotFound:
                        continue
            if self._client.list(resource).items:
                self._clock.sleep(_RETRY_SECONDS)

    def _status(self, crd: Object) -> Object:
        status = copy_object(crd.get("status") or {})
        conditions = status["conditions"] = status.get("conditions") or []
        conflict = self._conflict(crd)
        names = dict(crd["spec"]["names"])
        if conflict is None:
            status["acceptedNames"] = names
            self._set(conditions, "NamesAccepted", "True", "NoConflicts", "no conflicts found")
            if _condition(crd, "Established") != "True":
                text = "the initial names have been accepted"
                self._set(conditions, "Established", "True", "InitialNamesAccepted", text)
        else:
            accepted = status.get("acceptedNames") or {"plural": names["plural"], "kind": ""}
            accepted["plural"] = names["plural"]
            if conflict[0] in {"KindConflict", "ListKindConflict"} and names.get("singular"):
                accepted["singular"] = names["singular"]
            status["acceptedNames"] = accepted
            self._set(conditions, "NamesAccepted", "False", *conflict)
            if _condition(crd, "Established") != "True":
                self._set(conditions, "Established", "False", "NotAccepted", "not all names are accepted")
        stored = status["storedVersions"] = status.get("storedVersions") or []
        if storage_version(crd) not in stored:
            stored.append(storage_version(crd))
        return status

    def _set(self, conditions: list[Object], kind: str, value: str, reason: str, message: str) -> None:
        old = next((one for one in conditions if one["type"] == kind), None)
        changed = old is None or old["status"] != value
        moment = format_time(self._clock.now()) if changed or old is None else old["lastTransitionTime"]
        new = {"type": kind, "status": value, "lastTransitionTime": moment, "reason": reason, "message": message}
        if old is None:
            conditions.append(new)
        else:
            old.update(new)

    def _conflict(self, crd: Object) -> tuple[str, str] | None:
        """Return the reason and message of the last conflict with the names of others, None without any."""
        names, group, found = names_of(crd), crd["spec"]["group"], None
        resources: set[str] = set()
        kinds: set[str] = set()
        for other in self._known.values():
            if name_of(other) == name_of(crd) or other["spec"]["group"] != group:
                continue
            if _condition(other, "Established") != "True":
                continue
            theirs = names_of(other)
            resources |= {theirs["plural"], theirs["singular"], *(theirs.get("shortNames") or ())}
            kinds |= {theirs["kind"], theirs["listKind"]}
        for name, taken, reason in (
            (names["plural"], resources, "PluralConflict"),
            (names["singular"], resources, "SingularConflict"),
            *((short, resources, "ShortNamesConflict") for short in names.get("shortNames") or ()),
            (names["kind"], kinds, "KindConflict"),
            (names["listKind"], kinds, "ListKindConflict"),
        ):
            if name in taken:
                found = (reason, f'"{name}" is already in use')
        return found


def _condition(crd: Object, kind: str) -> str:
    conditions = (crd.get("status") or {}).get("conditions") or []
    return next((str(one["status"]) for one in conditions if one["type"] == kind), "")
