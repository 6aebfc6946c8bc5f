from datetime import UTC, datetime, timedelta

import pytest

from hyperkube.kinds.conditions import condition, is_true, with_condition, without_condition

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
FIRST, THEN = "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z"
READY = {"type": "Ready", "status": "True", "reason": "Ok", "message": ""}
OTHER = {"type": "Other", "status": "False"}


def test_a_new_condition_comes_last_and_is_stamped():
    assert with_condition([OTHER], READY, NOW) == [OTHER, {**READY, "lastTransitionTime": FIRST}]


@pytest.mark.parametrize(
    ("change", "since"),
    [({"status": "False"}, THEN), ({"reason": "Fine"}, FIRST), ({"message": "words"}, FIRST)],
    ids=["status", "reason", "message"],
)
def test_the_time_moves_with_the_status_alone_and_the_place_stays(change, since):
    before = with_condition([READY, OTHER], READY, NOW)
    before[0]["lastTransitionTime"] = FIRST

    after = with_condition(before, {**READY, **change}, LATER)

    assert after == [{**READY, **change, "lastTransitionTime": since}, OTHER]


def test_an_equal_condition_stays_as_it_is():
    before = [{**READY, "lastTransitionTime": FIRST, "lastUpdateTime": FIRST}]

    assert with_condition(before, {**READY, "lastUpdateTime": THEN}, LATER) == before
    assert with_condition(before, {"type": "Ready", "status": "True"}, LATER) == before


def test_conditions_are_found_and_dropped_by_type():
    status = {"conditions": [READY, OTHER]}

    assert condition(status, "Ready") is READY
    assert condition({}, "Ready") is None
    assert [is_true(status, name) for name in ("Ready", "Other", "Missing")] == [True, False, False]
    assert without_condition([READY, OTHER], "Ready") == [OTHER]
