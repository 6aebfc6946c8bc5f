"""The types of apps/v1beta2, where they differ from those of today."""

from hyperkube_api.apps import v1 as apps
from hyperkube_api.legacy_workloads.schemas import scales
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="apps",
    version="v1beta2",
    proto="k8s.io.api.apps.v1beta2",
    openapi="io.k8s.api.apps.v1beta2",
)

Scale = alias(scales.Scale, __name__)
ControllerRevision = alias(apps.ControllerRevision, __name__)
ControllerRevisionList = list_alias(apps.ControllerRevisionList, __name__)
DaemonSet = alias(apps.DaemonSet, __name__)
DaemonSetList = list_alias(apps.DaemonSetList, __name__)
Deployment = alias(apps.Deployment, __name__)
DeploymentList = list_alias(apps.DeploymentList, __name__)
ReplicaSet = alias(apps.ReplicaSet, __name__)
ReplicaSetList = list_alias(apps.ReplicaSetList, __name__)
StatefulSet = alias(apps.StatefulSet, __name__)
StatefulSetList = list_alias(apps.StatefulSetList, __name__)
