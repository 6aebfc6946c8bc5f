"""Patterns mean here what they mean in Go."""

import pytest
from hyperkube_lib.structural_schema.patterns import matches


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^a$", "a", "a\n"),
        (r"^\d+$", "12", "١٢"),
        (r"\Aa\z", "a", "ab"),
        ("^[[:alpha:]]+$", "aZ", "a1"),
        ("^[^[:digit:]_]+$", "aZ", "a1"),
        (r"^\p{L}+$", "aé", "a1"),
        (r"^\pN$", "1", "a"),
        (r"^\P{Lu}$", "a", "A"),
        (r"^[\p{L}0-9]+$", "é1", "é-"),
        (r"^\Qa.b\E$", "a.b", "axb"),
        (r"^\x{41}$", "A", "B"),
        ("^(?<x>a)$", "a", "b"),
        ("(?m)^a$", "a\nb", "b\nc"),
        ("^[]a]$", "]", "b"),
        ("^[a[]$", "[", "b"),
        (r"^[\]a]$", "]", "b"),
        ("^[$]$", "$", "a"),
    ],
)
def test_a_pattern_means_what_it_means_in_go(pattern, good, bad):
    assert matches(pattern, good)
    assert not matches(pattern, bad)


def test_a_pattern_without_counterpart_matches_everything():
    assert matches(r"^\p{Greek}$", "a")
