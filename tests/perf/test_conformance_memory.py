"""What the memory of an hour is taken to be, from some minutes of it."""

import pytest
from bench_conformance_memory import after_an_hour


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([(60, 100.0)], 100.0),
        ([(60, 90.0), (120, 100.0), (180, 110.0), (240, 110.0), (300, 110.0), (360, 110.0)], 110.0),
        ([(60, 100.0), (120, 101.0), (180, 102.0), (240, 103.0)], 159.0),
        ([(60, 130.0), (120, 120.0), (180, 110.0), (240, 100.0)], 100.0),
    ],
    ids=["one round", "grows at the start only", "a MiB a minute", "shrinks"],
)
def test_memory_grows_on_as_in_the_second_half(samples, expected):
    assert after_an_hour(samples) == pytest.approx(expected)
