"""The types of batch/v2alpha1: as they are today, under their old name."""

from hyperkube_api.batch import v1 as newer
from hyperkube_api.meta.again import again, listed

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="batch",
    version="v2alpha1",
    proto="k8s.io.api.batch.v2alpha1",
    openapi="io.k8s.api.batch.v2alpha1",
)

CronJob = again(newer.CronJob, __name__)
CronJobList = listed(newer.CronJobList, __name__)
