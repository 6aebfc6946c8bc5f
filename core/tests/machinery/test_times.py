from datetime import UTC, datetime

import pytest

from hyperkube.machinery.times import (
    TimeError,
    format_micro_time,
    format_time,
    human_duration,
    parse_micro_time,
    parse_time,
)

MOMENT = datetime(2030, 2, 3, 4, 5, 6, 789, tzinfo=UTC)


def test_times_are_written_in_whole_seconds_or_micros():
    assert format_time(MOMENT) == "2030-02-03T04:05:06Z"
    assert format_micro_time(MOMENT) == "2030-02-03T04:05:06.000789Z"


def test_early_years_have_four_digits():
    early = datetime(7, 2, 3, 4, 5, 6, tzinfo=UTC)

    assert format_time(early) == "0007-02-03T04:05:06Z"
    assert format_micro_time(early) == "0007-02-03T04:05:06.000000Z"
    assert parse_time(format_time(early)) == early


def test_times_come_back():
    assert parse_micro_time(format_micro_time(MOMENT)) == MOMENT
    assert parse_time("2030-02-03T06:05:06.000789123+02:00") == MOMENT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
        ("2030-01-02", 'parsing time "2030-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        (
            "2030-01-02T03:04:05",
            'parsing time "2030-01-02T03:04:05" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
        ),
        ("2030-01-02T03:04:05Zx", 'parsing time "2030-01-02T03:04:05Zx": extra text: "x"'),
        ("2030-13-02T03:04:05Z", 'parsing time "2030-13-02T03:04:05Z": month out of range'),
        ("2030-02-30T03:04:05Z", 'parsing time "2030-02-30T03:04:05Z": day out of range'),
    ],
)
def test_a_bad_time_is_refused_in_go_words(text, message):
    with pytest.raises(TimeError) as caught:
        parse_time(text)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (45, "45s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (600, "10m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (9 * 3600, "9h"),
        (5 * 86400 + 3 * 3600, "5d3h"),
        (400 * 86400, "400d"),
        (3 * 365 * 86400 + 86400, "3y1d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_ages_read_as_in_kubectl(seconds, age):
    assert human_duration(seconds) == age


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2021-02-30T00:00:00Z", ': cannot parse "Z" as ".000000"'),
        ("2020-01-01T00:00:00", ': cannot parse "" as ".000000"'),
        ("2020-01-01T00:00:00.12Z", ': cannot parse ".12Z" as ".000000"'),
        ("2020-01-01T00:00:00.123456789Z", ': cannot parse "789Z" as "Z07:00"'),
    ],
)
def test_a_micro_time_has_six_digits_of_fraction(text, why):
    with pytest.raises(TimeError) as caught:
        parse_micro_time(text)

    assert str(caught.value) == f'parsing time "{text}" as "2006-01-02T15:04:05.000000Z07:00"{why}'


def test_a_month_that_is_none_is_found_before_a_missing_fraction():
    with pytest.raises(TimeError, match='"2021-13-01T00:00:00Z": month out of range'):
        parse_micro_time("2021-13-01T00:00:00Z")
