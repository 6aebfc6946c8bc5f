"""The validation of CronJobs."""

import pytest
from hyperkube_api.batch.cron_jobs.validation import validate_cron_job
from hyperkube_api.batch.jobs.defaults import default_job
from hyperkube_api.batch.jobs.strategy import JobStrategy

from hyperkube.machinery.objects import copy_object

UID = "11111111-2222-3333-4444-555555555555"


def a_job(**spec):
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "default", "uid": UID},
        "spec": {"template": {"spec": pod}, **copy_object(spec)},
    }
    default_job(job)
    if not job["spec"]["manualSelector"]:
        JobStrategy()._generate_selector(job, job["spec"])
    return job


def messages(errors):
    return [str(error) for error in errors]


def a_cron_job(**spec):
    template = {"spec": a_job()["spec"]}
    template["spec"].pop("selector")
    return {
        "metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "concurrencyPolicy": "Allow", "jobTemplate": template, **spec},
    }


ZONED = 'spec.schedule: Invalid value: "TZ=UTC * * * * *": '


@pytest.mark.parametrize(
    ("before", "spec", "errors"),
    [
        (None, {"schedule": "TZ=UTC * * * * *", "timeZone": "UTC"}, [
            ZONED + "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
        ]),
        ("* * * * *", {"schedule": "TZ=UTC * * * * *"}, [
            ZONED + "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
        ]),
        ("TZ=UTC 1 * * * *", {"schedule": "TZ=UTC * * * * *"}, []),
        ("TZ=UTC * * * * *", {"schedule": "TZ=UTC * * * * *", "timeZone": "UTC"}, [
            ZONED + "cannot use both timeZone field and TZ or CRON_TZ in schedule",
        ]),
        (None, {"timeZone": "../UTC"}, ['spec.timeZone: Invalid value: "../UTC": unknown time zone ../UTC']),
        (None, {"timeZone": "LOCAL"}, [
            ('spec.timeZone: Invalid value: "LOCAL": timeZone must be an explicit time zone as defined in '
            "https://www.iana.org/time-zones"),
            'spec.timeZone: Invalid value: "LOCAL": unknown time zone LOCAL',
        ]),
    ],
)  # fmt: skip
def test_zones_are_not_part_of_a_schedule(before, spec, errors):
    old = None if before is None else a_cron_job(schedule=before)

    assert messages(validate_cron_job(a_cron_job(**spec), old)) == errors
