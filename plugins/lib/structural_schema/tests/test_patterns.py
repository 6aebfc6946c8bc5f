"""Patterns mean here what they mean in Go."""

import time

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


def test_a_pattern_that_cannot_be_read_matches_everything():
    assert matches("(", "a")


def test_the_classes_of_scripts_are_known():
    assert matches(r"^\p{Greek}$", "\u03b1")
    assert not matches(r"^\p{Greek}$", "a")


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_takes_longer_than_its_text_is_long(pattern):
    began = time.perf_counter()

    assert not matches(pattern, "a" * 5000 + "xx!")
    assert time.perf_counter() - began < 1
