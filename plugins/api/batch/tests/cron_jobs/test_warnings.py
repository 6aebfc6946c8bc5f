"""The warnings about CronJobs."""

from hyperkube_api.batch.cron_jobs.strategy import CronJobStrategy

MANY = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
    "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
)
ZONE = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)
GRACE = (
    "template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
)
LARGE = {"completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001}


def a_job(name="a", generation=1, **spec):
    return {"metadata": {"name": name, "generation": generation}, "spec": spec}


def test_a_cron_job_is_warned_of_its_jobs():
    template = {"spec": {**LARGE, "template": {"spec": {"terminationGracePeriodSeconds": -1}}}}
    obj = a_job(schedule="* * * * *", jobTemplate=template)
    found = [f"spec.jobTemplate.spec: {MANY}", f"spec.jobTemplate.spec.{GRACE}"]

    assert CronJobStrategy().warnings(None, obj, None) == found
    assert CronJobStrategy().warnings(None, obj, obj) == []


def test_a_cron_job_that_was_stored_with_a_zone_in_its_schedule_is_warned_of_it_at_each_change():
    obj = a_job(schedule="CRON_TZ=UTC * * * * *")

    assert CronJobStrategy().warnings(None, obj, obj) == [ZONE]
    assert CronJobStrategy().warnings(None, a_job(schedule="* * * * *"), obj) == []
