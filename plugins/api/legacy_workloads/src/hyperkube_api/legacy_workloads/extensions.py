"""extensions/v1beta1: workloads, autoscalers and network rules, before they had groups of their own."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.apps.resources import AppsApi
from hyperkube_api.autoscaling.resources import AutoscalingApi
from hyperkube_api.batch.resources import BatchApi
from hyperkube_api.legacy_workloads import cohabitation, workloads
from hyperkube_api.legacy_workloads.ingresses import INGRESS
from hyperkube_api.legacy_workloads.rollback import with_rollback
from hyperkube_api.meta.older_versions import Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version
from hyperkube_api.networking.resources import NetworkingApi

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_V1BETA1 = OlderVersion(
    version=Version("extensions", "v1beta1", "hyperkube_api.legacy_workloads.schemas.extensions_v1beta1"),
    lifecycle=Lifecycle(8, 16, "apps/v1"),
    scale=workloads.own_scale,
)
_AUTOSCALING, _BATCH, _NETWORKING = "autoscaling/v2", "batch/v1", "networking.k8s.io/v1"


class ExtensionsApi(Plugin):
    """extensions/v1beta1: workloads, autoscalers, ingresses, network policies."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve extensions/v1beta1 where it is asked for."""
        apps, networking = newest_resources(AppsApi, self.context), newest_resources(NetworkingApi, self.context)
        autoscaling, batch = newest_resources(AutoscalingApi, self.context), newest_resources(BatchApi, self.context)
        resources = (
            _V1BETA1.resource(apps["daemonsets"], workloads.EXTENSIONS_DAEMON_SET),
            with_rollback(_V1BETA1.resource(apps["deployments"], workloads.EXTENSIONS_DEPLOYMENT), _V1BETA1.version),
            _V1BETA1.resource(
                cohabitation.described(autoscaling["horizontalpodautoscalers"]),
                cohabitation.AUTOSCALER,
                lifecycle=Lifecycle(2, 6, _AUTOSCALING),
            ),
            _V1BETA1.resource(networking["ingresses"], INGRESS, lifecycle=Lifecycle(14, 22, _NETWORKING)),
            _V1BETA1.resource(batch["jobs"], cohabitation.JOB, lifecycle=Lifecycle(2, 6, _BATCH)),
            _V1BETA1.resource(networking["networkpolicies"], lifecycle=Lifecycle(9, 16, _NETWORKING)),
            _V1BETA1.resource(apps["replicasets"], workloads.EXTENSIONS_REPLICA_SET),
        )
        return [_V1BETA1.group_version(resources, group_priority=17_150, version_priority=1)]
