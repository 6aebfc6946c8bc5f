"""What Kubernetes 1.36 answered for each of these texts, and arithmetic."""

from pathlib import Path

import pytest

from hyperkube.machinery.quantity import QuantityError, canonical, canonical_resource, from_milli, parse

FACTS = Path(__file__).parents[4] / "shared" / "spec" / "quantity.md"

VECTORS = [  # text, as a value of a ResourceList, as a plain field
    ("0", "0", "0"), ("0.0", "0", "0"), ("1", "1", "1"), ("01", "01", "01"), ("+1", "+1", "+1"),
    ("1.5", "1500m", "1500m"), ("1500m", "1500m", "1500m"), ("0.1", "100m", "100m"), ("0.5m", "1m", "500u"),
    ("0.0001", "1m", "100u"), ("1n", "1m", "1n"), ("0.1n", "1m", "1n"), ("1u", "1m", "1u"), ("1000", "1k", "1k"),
    ("1000000", "1M", "1M"), ("1k", "1k", "1k"), ("1024", "1024", "1024"), ("1Ki", "1Ki", "1Ki"),
    ("1.5Ki", "1536", "1536"), ("1023Ki", "1023Ki", "1023Ki"), ("1024Ki", "1Mi", "1Mi"), ("0.5Ki", "512", "512"),
    ("0.5Mi", "512Ki", "512Ki"), ("1.5Gi", "1536Mi", "1536Mi"), ("1536Mi", "1536Mi", "1536Mi"),
    ("1e3", "1e3", "1e3"), ("1E3", "1E3", "1E3"), ("1E", "1E", "1E"), ("1e-3", "1e-3", "1e-3"),
    ("1.5e3", "1500", "1500"), ("12e6", "12e6", "12e6"), ("100e1", "1e3", "1e3"), ("1000k", "1M", "1M"),
    ("0.001k", "1", "1"), ("9223372036854775808", "9223372036854775808", "9223372036854775808"),
    ("9223372036854775807k", "9223372036854775807k", "9223372036854775807k"), ("1e30", "1e30", "1e30"),
    ("8Ei", "9223372036854775807", "9223372036854775807"), ("0Ki", "0", "0"), ("1000Ki", "1000Ki", "1000Ki"),
    ("3.1415", "3142m", "3141500u"), (".5", "500m", "500m"), ("5.", "5.", "5."),
    ("0.3Gi", "322122547200m", "322122547200m"), ("0.00000001", "1m", "10n"), ("123456789n", "124m", "123456789n"),
    ("10e-1", "1", "1"), ("1e0", "1e0", "1e0"), ("1.m", "1.m", "1.m"), (" 1 ", "1", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "resource", "plain"), VECTORS, ids=[row[0] for row in VECTORS])
def test_texts_come_out_as_kubernetes_writes_them(text, resource, plain):
    assert (canonical_resource(text), canonical(text)) == (resource, plain)


def test_every_recorded_vector_holds():
    if not FACTS.exists():
        pytest.skip("the recorded facts are not here")
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in FACTS.read_text().partition("## Vectors")[2].splitlines()
        if line.startswith("| `")
    ]
    wrong = {}
    for text, resource, plain in rows:
        try:
            got = (canonical_resource(text), canonical(text))
        except QuantityError:
            got = ("400 BadRequest", "400 BadRequest")
        if got != (resource, plain):
            wrong[text] = got

    assert len(rows) >= 60
    assert wrong == {}


@pytest.mark.parametrize("text", ["", "1_0", "1kb", "x", "1 0", "1KI", "1.2.3", "1Gi5.", "1e5.5"])
def test_a_malformed_text_is_refused_in_kubernetes_words(text):
    with pytest.raises(QuantityError, match="quantities must match the regular expression"):
        parse(text)


@pytest.mark.parametrize("text", ["--1", "1e", "1Kii", "1e99999999999"])
def test_an_unknown_suffix_is_refused_in_kubernetes_words(text):
    with pytest.raises(QuantityError, match="unable to parse quantity's suffix"):
        parse(text)


def test_a_boolean_is_no_number():
    with pytest.raises(QuantityError):
        parse(True)


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [("1", "500m", "1500m"), ("0", "1Gi", "1Gi"), ("1Gi", "512Mi", "1536Mi"), ("1.5", "0.5", "2"), ("1k", "1", "1001")],
)
def test_sums_keep_the_format_of_the_first_that_is_not_nought(left, right, total):
    assert str(parse(left) + parse(right)) == total


def test_a_difference_may_be_negative():
    assert str(parse("1") - parse("1500m")) == "-500m"


def test_quantities_compare_by_value_and_hash_alike():
    assert parse("1Ki") == parse("1024") == parse("1.024k")
    assert hash(parse("1Ki")) == hash(parse("1.024k"))
    assert parse("999m") < parse("1") < parse("1Ki") <= parse("1024")


def test_integers_round_away_from_nought():
    assert (parse("1.1").value(), parse("-1.1").value(), parse("1n").milli_value()) == (2, -2, 1)
    assert parse("2Gi").value() == 2 * 1024**3


def test_numbers_are_quantities_too():
    assert (canonical(5), canonical(0.5), str(from_milli(250))) == ("5", "500m", "250m")


def test_a_huge_exponent_costs_nothing():
    assert canonical("1e-9999") == "1e-9"
    assert parse("1e9999") > parse("1")


def test_whole_numbers_are_told_from_fractions():
    assert parse("2000m").is_integer()
    assert not parse("2500m").is_integer()


@pytest.mark.parametrize("text", ["1000000000000000000000", "1000E", "-2000E"])
def test_a_number_past_exa_keeps_its_text_though_it_is_shown_without_a_letter(text):
    quantity = parse(text)

    assert str(quantity) == text[: 2 if text[0] == "-" else 1]
    assert canonical(text) == canonical_resource(text) == text


@pytest.mark.parametrize(
    ("text", "whole"),
    [("1", True), ("1500m", False), ("1e21", True), ("1000000000000000000000", False), ("9223372036854775808", True)],
)
def test_whether_a_number_is_whole_is_asked_of_the_lowest_64_bits_of_its_thousandths(text, whole):
    assert parse(text).is_whole() is whole
