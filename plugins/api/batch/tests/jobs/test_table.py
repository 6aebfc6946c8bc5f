"""The table rows of Jobs."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.batch.jobs.table import job_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:58:00Z"}
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i"}]}}


def true(*kinds):
    return {"conditions": [{"type": kind, "status": "True"} for kind in kinds]}


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({"completions": 5}, {"succeeded": 2}, "2/5"),
        ({"completions": 0}, {}, "0/0"),
        ({}, {}, "0/1"),
        ({"parallelism": 1}, {"succeeded": 1}, "1/1"),
        ({"parallelism": 3}, {"succeeded": 2}, "2/1 of 3"),
    ],
)
def test_a_row_shows_how_many_pods_are_done(spec, status, shown):
    assert job_cells({"metadata": META, "spec": spec, "status": status}, NOW)[2] == shown


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ({}, ""),
        ({"startTime": "2026-01-01T11:40:00Z"}, "20m"),
        ({"startTime": "2026-01-01T11:40:00Z", "completionTime": "2026-01-01T11:40:30Z"}, "30s"),
        ({"startTime": "2026-01-01T10:00:00Z", "completionTime": "2026-01-01T11:50:00Z"}, "110m"),
        ({"startTime": "2026-01-01T12:00:30Z"}, "<invalid>"),
    ],
    ids=["waiting", "running", "short", "long", "to-come"],
)
def test_a_row_shows_how_long_a_job_took(status, shown):
    assert job_cells({"metadata": META, "status": status}, NOW)[3] == shown


@pytest.mark.parametrize(
    ("status", "going", "shown"),
    [
        ({}, False, "Running"),
        (true("Complete"), True, "Complete"),
        (true("Failed"), True, "Failed"),
        (true("Suspended"), True, "Terminating"),
        (true("Suspended"), False, "Suspended"),
        (true("FailureTarget", "SuccessCriteriaMet"), False, "FailureTarget"),
        (true("SuccessCriteriaMet"), False, "SuccessCriteriaMet"),
        ({"conditions": [{"type": "Complete", "status": "False"}]}, False, "Running"),
    ],
)
def test_a_row_shows_what_a_job_is_doing(status, going, shown):
    meta = {**META, "deletionTimestamp": "2026-01-01T12:00:00Z"} if going else META

    assert job_cells({"metadata": meta, "status": status}, NOW)[1] == shown


def test_a_wide_row_of_a_job():
    obj = {"metadata": META, "spec": {"template": TEMPLATE, "selector": {"matchLabels": {"a": "b"}}}}

    assert job_cells(obj, NOW)[4:] == ["2m", "c", "i", "a=b"]
