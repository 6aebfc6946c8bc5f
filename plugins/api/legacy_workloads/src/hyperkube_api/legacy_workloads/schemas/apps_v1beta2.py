"""The types of apps/v1beta2, where they differ from those of today."""

from hyperkube_api.apps import v1 as apps
from hyperkube_api.legacy_workloads.schemas import scales
from hyperkube_api.meta.again import again, listed

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="apps",
    version="v1beta2",
    proto="k8s.io.api.apps.v1beta2",
    openapi="io.k8s.api.apps.v1beta2",
)

Scale = again(scales.Scale, __name__)
ControllerRevision = again(apps.ControllerRevision, __name__)
ControllerRevisionList = listed(apps.ControllerRevisionList, __name__)
DaemonSet = again(apps.DaemonSet, __name__)
DaemonSetList = listed(apps.DaemonSetList, __name__)
Deployment = again(apps.Deployment, __name__)
DeploymentList = listed(apps.DeploymentList, __name__)
ReplicaSet = again(apps.ReplicaSet, __name__)
ReplicaSetList = listed(apps.ReplicaSetList, __name__)
StatefulSet = again(apps.StatefulSet, __name__)
StatefulSetList = listed(apps.StatefulSetList, __name__)
