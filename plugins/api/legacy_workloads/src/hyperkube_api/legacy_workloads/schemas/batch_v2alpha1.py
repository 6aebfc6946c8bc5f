"""The types of batch/v2alpha1: as they are today, under their old name."""

from hyperkube_api.batch import v1 as newer
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="batch",
    version="v2alpha1",
    proto="k8s.io.api.batch.v2alpha1",
    openapi="io.k8s.api.batch.v2alpha1",
)

CronJob = alias(newer.CronJob, __name__)
CronJobList = list_alias(newer.CronJobList, __name__)
