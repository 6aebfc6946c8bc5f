"""The apps group: sets of pods that replace one another."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.apps.controller_revisions import controller_revisions
from hyperkube_api.apps.daemon_sets.spec import daemon_sets
from hyperkube_api.apps.deployments.spec import deployments
from hyperkube_api.apps.replica_sets import replica_sets
from hyperkube_api.apps.stateful_sets.spec import stateful_sets

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin


class AppsApi(Plugin):
    """The apps group: sets of pods that replace one another."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve apps/v1."""
        v1 = (controller_revisions(), daemon_sets(), deployments(), replica_sets(), stateful_sets())
        return [ApiGroupVersion(group="apps", version="v1", resources=v1, group_priority=17_800, version_priority=15)]
