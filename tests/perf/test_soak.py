"""When the soak says that memory stays."""

import pytest
from soak import is_flat


@pytest.mark.parametrize(
    ("samples", "flat"),
    [
        ([], True),
        ([90, 120, 121, 120, 121, 122], True),
        ([90, 100, 110, 120, 130, 140], False),
        ([200, 100, 100, 100, 100, 100, 100, 100, 300], True),
    ],
    ids=["too short", "grows at the start only", "grows for ever", "one peak"],
)
def test_memory_stays_when_the_last_third_is_like_the_second(samples, flat):
    assert is_flat(samples) == flat
