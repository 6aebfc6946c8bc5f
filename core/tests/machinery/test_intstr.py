import pytest

from hyperkube.machinery.intstr import IntOrStringError, is_percent, parse_int, scaled, scaled_or


@pytest.mark.parametrize(
    ("value", "round_up", "expected"),
    [(3, True, 3), ("25%", True, 3), ("25%", False, 2), ("0%", True, 0), ("100%", False, 10), ("200%", False, 20)],
)
def test_a_percentage_is_a_share_of_the_total(value, round_up, expected):
    assert scaled(value, 10, round_up=round_up) == expected


def test_a_default_stands_in_for_nothing():
    assert scaled_or(None, "50%", 10, round_up=False) == 5


def test_another_string_is_refused():
    with pytest.raises(IntOrStringError, match="string is not a percentage"):
        scaled("abc", 10, round_up=True)


def test_a_percentage_is_a_text_with_its_sign():
    assert is_percent("5%")
    assert not is_percent(5)


@pytest.mark.parametrize(
    ("text", "bits", "expected"),
    [
        ("42", 64, 42),
        ("-042", 64, -42),
        ("+0", 64, 0),
        ("0" * 5000 + "7", 64, 7),
        (str(2**63 - 1), 64, 2**63 - 1),
        (str(-(2**63)), 64, -(2**63)),
        (str(2**63), 64, None),
        (str(2**31), 32, None),
        ("9" * 5000, 64, None),
        ("\u0668", 64, None),
        ("1_0", 64, None),
        (" 1", 64, None),
        ("+-1", 64, None),
        ("-", 64, None),
        ("", 64, None),
    ],
)
def test_integers_are_read_as_go_reads_them(text, bits, expected):
    assert parse_int(text, bits) == expected


def test_a_share_that_no_integer_holds_is_refused():
    with pytest.raises(IntOrStringError, match="value out of range"):
        scaled("9" * 5000 + "%", 10, round_up=True)
