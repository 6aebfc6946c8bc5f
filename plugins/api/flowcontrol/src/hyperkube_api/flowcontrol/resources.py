"""The flowcontrol group: which requests wait for which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_api.flowcontrol.bootstrap import bootstrap_objects
from hyperkube_api.flowcontrol.flow_schemas.spec import flow_schemas
from hyperkube_api.flowcontrol.priority_levels.spec import priority_level_configurations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time
from hyperkube.plugin import Plugin


class FlowcontrolApi(Plugin):
    """The flowcontrol group: which requests wait for which."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve flowcontrol.apiserver.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="flowcontrol.apiserver.k8s.io",
                version="v1",
                resources=(flow_schemas(), priority_level_configurations()),
                group_priority=16_100,
                version_priority=21,
            ),
        ]

    @hookimpl
    def api_bootstrap_objects(self) -> Sequence[Object]:
        """Give every cluster the levels and schemas of its own components."""
        return list(bootstrap_objects(format_time(self.context.clock.now())))
