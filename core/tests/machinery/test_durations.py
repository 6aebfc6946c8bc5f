import pytest

from hyperkube.machinery.durations import (
    DurationError,
    format_duration,
    format_nanoseconds,
    parse_duration,
    parse_nanoseconds,
)


@pytest.mark.parametrize(
    ("text", "nanoseconds", "written"),
    [
        ("0", 0, "0s"),
        ("1h2m3.5s", 3723500000000, "1h2m3.5s"),
        ("1h", 3600 * 10**9, "1h0m0s"),
        ("90s", 90 * 10**9, "1m30s"),
        ("-1.5ms", -1500000, "-1.5ms"),
        ("+1us", 1000, "1\u00b5s"),
        ("1\u03bcs", 1000, "1\u00b5s"),
        (".5s", 500000000, "500ms"),
        ("1.s", 10**9, "1s"),
        ("7ns", 7, "7ns"),
    ],
)
def test_a_duration_is_read_and_written_as_in_go(text, nanoseconds, written):
    assert parse_nanoseconds(text) == nanoseconds
    assert format_nanoseconds(nanoseconds) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("5", 'time: missing unit in duration "5"'),
        ("5x", 'time: unknown unit "x" in duration "5x"'),
        (".s", 'time: invalid duration ".s"'),
        ("1h-2m", 'time: unknown unit "h-" in duration "1h-2m"'),
        ("9999999h", 'time: invalid duration "9999999h"'),
    ],
)
def test_a_bad_duration_is_refused_in_go_words(text, message):
    with pytest.raises(DurationError) as caught:
        parse_nanoseconds(text)

    assert str(caught.value) == message


def test_seconds_are_the_everyday_form():
    assert parse_duration("1m1.5s") == 61.5
    assert format_duration(61.5) == "1m1.5s"
