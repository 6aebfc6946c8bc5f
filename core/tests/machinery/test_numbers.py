"""Numbers as JSON's writer takes them."""

import orjson
import pytest

from hyperkube.machinery.codecs import yaml
from hyperkube.machinery.numbers import without_fraction
from hyperkube.machinery.schema.scalars import float64


@pytest.mark.parametrize("number", [0.0, -0.0, 1.0, 1e15, -(2.0**63), 2.0**63, 2.0**64 - 2048])
def test_a_whole_number_has_no_fraction(number):
    assert type(without_fraction(number)) is int


@pytest.mark.parametrize("number", [0.5, 2.0**64, 1e20, 1e300, -(2.0**63) - 2048, -1e20, float("inf"), float("nan")])
def test_others_stay_what_they_are(number):
    assert without_fraction(number) is number


@pytest.mark.parametrize(
    "text", ["18446744073709551616", "-9223372036854775809", "1e20", "-1e20", "999999999999999999999"]
)
def test_what_is_read_can_be_written(text):
    (value,) = yaml.loads(f"[{text}]".encode())[0]

    assert orjson.dumps(value)
    assert orjson.dumps(float64(value, None))
