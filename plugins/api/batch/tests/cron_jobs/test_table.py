"""The table rows of CronJobs."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.batch.cron_jobs.table import cron_job_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:58:00Z"}
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({"suspend": False}, {}, ["<none>", "False", 0, "<none>"]),
        ({"suspend": True, "timeZone": "UTC"}, {"active": [{}, {}]}, ["UTC", "True", 2, "<none>"]),
        ({}, {"lastScheduleTime": "2026-01-01T11:59:00Z"}, ["<none>", "<unset>", 0, "60s"]),
    ],
    ids=["new", "suspended", "ran"],
)
def test_a_row_of_a_cron_job(spec, status, shown):
    job_spec = {"template": TEMPLATE}
    obj = {"metadata": META, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job_spec}, **spec}}

    assert cron_job_cells({**obj, "status": status}, NOW) == ["a", "* * * * *", *shown, "2m", "c", "i", "<none>"]
