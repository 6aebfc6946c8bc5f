import random
from bisect import bisect_left

import pytest

from hyperkube.storage import sorted_keys
from hyperkube.storage.sorted_keys import SortedKeys, keys_before


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(sorted_keys, "BLOCK", 3)


def slice_of(keys, low, high):
    ordered = sorted(keys)
    return ordered[bisect_left(ordered, low) : bisect_left(ordered, high)]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_sorted_list_whatever_comes_and_goes(seed):
    dice, model = random.Random(seed), set()
    keys = SortedKeys()
    for _ in range(600):
        key = f"{dice.randrange(120):03}"
        if key in model:
            model.remove(key)
            keys.remove(key)
        else:
            model.add(key)
            keys.add(key)
        low, high = (f"{dice.randrange(130):03}" for _ in range(2))
        assert keys.between(low, high) == slice_of(model, low, high)
        limit = dice.randrange(1, 9)
        assert keys.between(low, high, limit) == slice_of(model, low, high)[:limit]
        assert keys.count(low, high) == len(slice_of(model, low, high))
        assert len(keys) == len(model)


def test_it_begins_with_what_it_is_given():
    given = [f"{number:02}" for number in range(50)]

    keys = SortedKeys(reversed(given))

    assert keys.between("", "~") == given
    assert keys.between("07", "11") == ["07", "08", "09", "10"]


def test_an_empty_one_has_nothing():
    keys = SortedKeys()

    assert (keys.between("", "~"), keys.count("", "~"), len(keys)) == ([], 0, 0)


def test_the_last_key_may_go():
    keys = SortedKeys(["a"])
    keys.remove("a")
    keys.add("b")

    assert keys.between("", "~") == ["b"]


def test_a_copy_shares_nothing_that_changes():
    keys = SortedKeys("abcdefgh")
    other = keys.copy()

    keys.remove("a")
    other.add("z")

    assert keys.between("", "~") == list("bcdefgh")
    assert other.between("", "~") == list("abcdefghz")


@pytest.mark.parametrize("seed", range(20))
def test_the_first_keys_of_the_past_follow_from_those_of_now_and_the_changes(seed):
    dice = random.Random(seed)
    names = [f"{number:02}" for number in range(30)]
    then, now = ({name for name in names if dice.random() < 0.6} for _ in range(2))
    changed = {name: name in then for name in names if (name in then) != (name in now) or dice.random() < 0.1}

    for limit in (0, 1, 5, 40):
        known = sorted(now)[: limit + len(changed)] if limit else sorted(now)
        found = keys_before(changed, known, limit, cut=len(known) < len(now))
        assert found == (sorted(then)[:limit] if limit else sorted(then))
