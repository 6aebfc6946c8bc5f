"""The types of batch/v1beta1: as they are today, under their old name."""

from hyperkube_api.batch import v1 as newer
from hyperkube_api.meta.again import again, listed

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="batch",
    version="v1beta1",
    proto="k8s.io.api.batch.v1beta1",
    openapi="io.k8s.api.batch.v1beta1",
)

CronJob = again(newer.CronJob, __name__)
CronJobList = listed(newer.CronJobList, __name__)
