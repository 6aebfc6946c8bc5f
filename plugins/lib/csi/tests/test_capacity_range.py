"""How large a volume is to be, and whether one that is there fits."""

import pytest
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.csi.capacity_range import CapacityRange

GI = 1 << 30


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        ({}, 5 * GI, 0),
        ({"capacity_range": None}, 5 * GI, 0),
        ({"capacity_range": {"limit_bytes": 9 * GI}}, 5 * GI, 9 * GI),
        ({"capacity_range": {"required_bytes": str(GI), "limit_bytes": "0"}}, GI, 0),
    ],
)
def test_a_request_says_how_large(told, least, most):
    assert CapacityRange.of(told, 5 * GI) == CapacityRange(least, most)


@pytest.mark.parametrize("size", [GI, 2 * GI, 3 * GI])
def test_a_volume_that_fits_is_taken(size):
    CapacityRange(GI, 3 * GI).check("pvc-1", size)


@pytest.mark.parametrize("size", [GI - 1, 3 * GI + 1])
def test_a_volume_that_does_not_fit_is_another(size):
    with pytest.raises(CsiFailed, match=f"volume pvc-1 exists and has {size} bytes") as raised:
        CapacityRange(GI, 3 * GI).check("pvc-1", size)
    assert "ALREADY_EXISTS" in str(raised.value.code)


def test_without_a_limit_any_larger_one_fits():
    CapacityRange(GI).check("pvc-1", 1 << 50)
