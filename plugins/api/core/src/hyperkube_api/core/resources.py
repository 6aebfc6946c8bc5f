"""The core group: pods and what they run on, are given, and are reached by."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.core.bindings.spec import bindings
from hyperkube_api.core.component_statuses.spec import component_statuses
from hyperkube_api.core.config_maps.spec import config_maps
from hyperkube_api.core.endpoints.spec import endpoints
from hyperkube_api.core.events.spec import events
from hyperkube_api.core.limit_ranges.spec import limit_ranges
from hyperkube_api.core.namespaces.spec import namespaces
from hyperkube_api.core.nodes.spec import nodes
from hyperkube_api.core.persistent_volume_claims.spec import persistent_volume_claims
from hyperkube_api.core.persistent_volumes.spec import persistent_volumes
from hyperkube_api.core.pod_templates.spec import pod_templates
from hyperkube_api.core.pods.spec import pods
from hyperkube_api.core.replication_controllers.spec import replication_controllers
from hyperkube_api.core.resource_quotas.spec import resource_quotas
from hyperkube_api.core.secrets.spec import secrets
from hyperkube_api.core.service_accounts.spec import service_accounts
from hyperkube_api.core.services.spec import services

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_RESOURCES = (
    bindings,
    component_statuses,
    config_maps,
    endpoints,
    events,
    limit_ranges,
    namespaces,
    nodes,
    persistent_volume_claims,
    persistent_volumes,
    pods,
    pod_templates,
    replication_controllers,
    resource_quotas,
    secrets,
    service_accounts,
    services,
)
"""Each declares its resource anew: strategies may have state, which two servers do not share."""


class CoreApi(Plugin):
    """The core group: pods and what they run on, are given, and are reached by."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve v1."""
        resources = tuple(declare() for declare in _RESOURCES)
        return [ApiGroupVersion(group="", version="v1", resources=resources, group_priority=18_000, version_priority=1)]
