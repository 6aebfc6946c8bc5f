"""Cron schedules, moment by moment."""

from datetime import UTC, datetime

import pytest
from hyperkube_controller.cronjob.schedule import BadSchedule, parse, zone_named


@pytest.mark.parametrize(
    ("text", "after", "due"),
    [
        ("* * * * *", "2030-01-01T00:00:00", "2030-01-01T00:01:00"),
        ("* * * * *", "2030-01-01T00:00:59", "2030-01-01T00:01:00"),
        ("*/15 * * * *", "2030-01-01T00:46:00", "2030-01-01T01:00:00"),
        ("5/20 * * * *", "2030-01-01T00:06:00", "2030-01-01T00:25:00"),
        ("0 9-17/4 * * *", "2030-01-01T13:00:00", "2030-01-01T17:00:00"),
        ("30 4 1,15 * *", "2030-01-01T05:00:00", "2030-01-15T04:30:00"),
        ("0 0 29 feb *", "2030-01-01T00:00:00", "2032-02-29T00:00:00"),
        ("0 0 * * MON-fri", "2030-01-04T00:00:00", "2030-01-07T00:00:00"),
        ("0 0 13 * 5", "2030-01-01T00:00:00", "2030-01-04T00:00:00"),
        ("0 0 31 * *", "2030-01-31T00:00:00", "2030-03-31T00:00:00"),
        ("@yearly", "2030-01-01T00:00:00", "2031-01-01T00:00:00"),
        ("@weekly", "2030-01-01T00:00:00", "2030-01-06T00:00:00"),
        ("@hourly", "2030-01-01T00:00:00", "2030-01-01T01:00:00"),
        ("@every 90s", "2030-01-01T00:00:00", "2030-01-01T00:01:30"),
        ("@every 1ms", "2030-01-01T00:00:00", "2030-01-01T00:00:01"),
        ("TZ=Asia/Tokyo 0 9 * * *", "2030-01-01T00:00:00", "2030-01-02T00:00:00"),
    ],
)
def test_the_next_time(text, after, due):
    assert parse(text).next(datetime.fromisoformat(after).replace(tzinfo=UTC)) == datetime.fromisoformat(due).replace(
        tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("after", "due"),
    [
        ("2030-03-30T12:00:00", "2030-04-01T00:30:00"),  # on the 31st there is no half past two
        ("2030-10-26T12:00:00", "2030-10-27T00:30:00"),  # summer time
        ("2030-10-27T00:30:00", "2030-10-27T01:30:00"),  # the same again in winter time
    ],
    ids=["left out", "once", "twice"],
)
def test_a_changing_clock(after, due):
    schedule = parse("30 2 * * *", zone_named("Europe/Berlin"))

    assert schedule.next(datetime.fromisoformat(after).replace(tzinfo=UTC)) == datetime.fromisoformat(due).replace(
        tzinfo=UTC
    )


def test_a_day_that_never_comes():
    assert parse("0 0 31 2 *").next(datetime(2030, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("9-5 * * * *", "beginning of range (9) beyond end of range (5): 9-5"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("@often", "unrecognized descriptor: @often"),
        ("@every day", 'failed to parse duration @every day: time: invalid duration "day"'),
        ("TZ=Moon/Sea * * * * *", "provided bad location Moon/Sea: unknown time zone Moon/Sea"),
    ],
)
def test_what_is_no_schedule(text, why):
    with pytest.raises(BadSchedule) as caught:
        parse(text)

    assert str(caught.value) == why
