"""Numbers of custom resources are written as Go writes them, as far as JSON's writer can."""

import orjson
import pytest
from hyperkube_host.apiserver.resources.custom_codec import _go_numbers


@pytest.mark.parametrize("text", [
    "1.0", "1e15", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809", "1e20",
    "-1e20", "1e300", "[1e20]", '{"a": -1e20}',
])  # fmt: skip
def test_what_is_read_can_be_written(text):
    assert orjson.dumps(_go_numbers(orjson.loads(text)))
