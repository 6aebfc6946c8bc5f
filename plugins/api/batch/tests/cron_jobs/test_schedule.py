"""The notation of the schedules of CronJobs."""

import pytest
from hyperkube_api.batch.cron_jobs.schedule import schedule_fault


@pytest.mark.parametrize(
    "schedule", ["*/5 * * * *", "0 3 * * 1-5", "@daily", "@every 1h30m", "0 0 1 jan sun", "1,2 ? * * *", "5/15 * * * *"]
)
def test_a_good_schedule_has_no_fault(schedule):
    assert schedule_fault(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "fault"),
    [
        ("x", "expected exactly 5 fields, found 1: [x]"),
        ("* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"),
        ("61 * * * *", "end of range (61) above maximum (59): 61"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("@often", "unrecognized descriptor: @often"),
        ("TZ=Mars/Base * * * * *", "provided bad location Mars/Base: unknown time zone Mars/Base"),
    ],
)
def test_a_bad_schedule_says_why(schedule, fault):
    assert schedule_fault(schedule) == fault
