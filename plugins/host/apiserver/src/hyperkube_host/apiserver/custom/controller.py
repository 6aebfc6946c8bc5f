"""Follows CustomResourceDefinitions: accepts names, serves what is established, has what is deleted cleaned up.

Source: kubernetes apiextensions-apiserver ``pkg/controller/{status,establish}``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.custom.cleanup import Cleanup
from hyperkube_host.apiserver.follower import Follower
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_lib.webhooks.caller import Caller, Resolver

from hyperkube.client.client import Client
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.machinery.objects import Object, copy_object, is_being_deleted, name_of

if TYPE_CHECKING:
    from hyperkube_host.apiserver.custom.definitions import RulesOf


class DefinitionController:
    """Keeps the registry equal to the definitions, one change at a time."""

    def __init__(
        self,
        registry: Registry,
        client: Client,
        clock: Clock,
        logger: logging.Logger,
        *,
        rules_of: RulesOf | None = None,
        egress: Mapping[str, Dial] | None = None,
    ) -> None:
        self._registry = registry
        self._client = client
        self._clock = clock
        self._logger = logger
        self._rules_of = rules_of
        self._caller = Caller(Resolver(client), clock, egress or {})
        self._known: dict[str, Object] = {}
        self._served: dict[str, list[ApiGroupVersion]] = {}
        self._specs: dict[str, Object] = {}
        self._cleanup = Cleanup(client, clock, logger)
        self._follower = Follower(
            CUSTOM_RESOURCE_DEFINITIONS,
            client,
            clock,
            logger,
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
        self._cleanup.close()
        self._follower.close()

    def _listed(self, crds: Sequence[Object]) -> None:
        for crd in crds:
            self._safely(crd)
        self.synced = True

    def _safely(self, crd: Object) -> None:
        try:
            self._reconcile(crd)
        except (Conflict, NotFound):
            return  # a newer version of it is on its way, or it is gone
        except Exception:  # one broken definition must not stop the others from being served
            self._logger.exception("definition %r could not be reconciled", name_of(crd))

    def _reconcile(self, crd: Object) -> None:
        from hyperkube_host.apiserver.custom.definition_status import condition_of

        name = name_of(crd)
        self._known[name] = crd
        if is_being_deleted(crd):
            self._end(crd)
            return
        status = self._status(crd)
        if status != crd.get("status"):
            crd = {**copy_object(crd), "status": status}
            crd = self._client.update(CUSTOM_RESOURCE_DEFINITIONS, crd, subresource="status")
            self._known[name] = crd
        if condition_of(crd, "Established") == "True":
            self._serve(crd)

    def _serve(self, crd: Object) -> None:
        name = name_of(crd)
        if self._specs.get(name) == crd["spec"]:
            return  # only its status or metadata changed: what is known about its objects stays known
        from hyperkube_host.apiserver.custom.definitions import group_versions, no_rules  # with the first definition

        wanted = group_versions(crd, self._rules_of or no_rules, caller=self._caller)
        before = self._served.get(name, [])
        self._registry.add(wanted, custom=True, anew=_looks_different(self._specs.get(name), crd["spec"]))
        self._served[name], self._specs[name] = wanted, crd["spec"]
        for version in before:
            if version.version not in {one.version for one in wanted}:
                self._registry.remove(version.resources[0].resource)

    def _gone(self, name: str) -> None:
        from hyperkube_host.apiserver.custom.definition_status import condition_of

        self._known.pop(name, None)
        self._specs.pop(name, None)
        for version in self._served.pop(name, []):
            self._registry.remove(version.resources[0].resource)
        for crd in list(self._known.values()):
            if condition_of(crd, "NamesAccepted") == "False":
                self._safely(self._client.get(CUSTOM_RESOURCE_DEFINITIONS, name_of(crd)))

    def _end(self, crd: Object) -> None:
        """Serve a definition that goes for as long as there are objects of it, but refuse new ones."""
        from hyperkube_host.apiserver.custom.definition_status import condition_of
        from hyperkube_host.apiserver.custom.strategy import CustomStrategy

        if condition_of(crd, "Established") == "True":
            self._serve(crd)
        if condition_of(crd, "Terminating") == "True":
            for version in self._served.get(name_of(crd), []):
                for resource in version.resources:
                    if isinstance(resource.strategy, CustomStrategy):
                        resource.strategy.terminating = True
        self._cleanup.begin(crd)

    def _status(self, crd: Object) -> Object:
        from hyperkube_host.apiserver.custom.definition_status import next_status
        from hyperkube_host.apiserver.custom.definitions import names_of

        group = crd["spec"]["group"]
        others = [one for one in self._known.values() if name_of(one) != name_of(crd) and one["spec"]["group"] == group]
        named = {**crd, "spec": {**crd["spec"], "names": names_of(crd)}}
        return next_status(named, others, self._clock.now())


def _looks_different(before: Object | None, spec: Object) -> bool:
    """Tell whether what is stored may look different now: the schema of a version is another one."""
    if before is None:
        return False
    schemas = ({version["name"]: version.get("schema") for version in one["versions"]} for one in (before, spec))
    return next(schemas) != next(schemas)
