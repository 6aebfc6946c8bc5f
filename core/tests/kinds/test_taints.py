import pytest

from hyperkube.kinds.taints import eviction_seconds, keeps_off, tolerates, untolerated, with_taint, without_taint

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "value": "x"}, False),
        ({"key": "x", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_a_toleration_fits_by_key_value_and_effect(toleration, fits):
    assert tolerates(toleration, TAINT) is fits


@pytest.mark.parametrize(
    ("operator", "value", "fits"), [("Gt", "4", True), ("Gt", "5", False), ("Lt", "6", True), ("Lt", "x", False)]
)
def test_numbers_compare(operator, value, fits):
    assert tolerates({"key": "n", "operator": operator, "value": value}, {"key": "n", "value": "5"}) is fits


def test_the_first_taint_that_counts_and_is_not_tolerated_is_found():
    soft = {"key": "s", "effect": "PreferNoSchedule"}

    assert untolerated([soft, TAINT], [], keeps_off) == TAINT
    assert untolerated([soft], [], keeps_off) is None


def test_a_node_has_one_taint_of_a_key_and_effect():
    changed = with_taint([TAINT], {**TAINT, "value": "w"})

    assert [taint["value"] for taint in changed] == ["w"]
    assert without_taint(changed, TAINT) == []


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([], 0.0),
        ([{"operator": "Exists"}], None),
        ([{"operator": "Exists", "tolerationSeconds": 300}], 300.0),
        ([{"operator": "Exists", "tolerationSeconds": -1}], 0.0),
    ],
)
def test_no_execute_evicts_after_the_shortest_toleration(tolerations, seconds):
    assert eviction_seconds([{"key": "k", "effect": "NoExecute"}], tolerations) == seconds


def test_other_effects_evict_nobody():
    assert eviction_seconds([TAINT], []) is None
