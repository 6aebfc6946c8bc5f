"""When the soak says that memory stays."""

import pytest
from soak import AT_REST, Rest, is_flat, verdicts


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


FRESH = Rest(resident=100.0, threads=20, descriptors=50, tasks=0)


def test_nothing_is_left_over_when_all_is_as_after_a_fresh_start():
    found = verdicts(Rest(resident=130.0, threads=22, descriptors=52, tasks=1), FRESH, size=3000 + AT_REST, live=1000)

    assert all(found.values())


@pytest.mark.parametrize(
    ("loaded", "size", "place"),
    [
        (Rest(131.0, 20, 50, 0), 1000, 0),
        (FRESH, 3001 + AT_REST, 1),
        (Rest(100.0, 25, 50, 0), 1000, 2),
        (Rest(100.0, 20, 55, 0), 1000, 3),
        (Rest(100.0, 20, 50, 5), 1000, 4),
    ],
    ids=["memory", "file", "threads", "descriptors", "tasks"],
)
def test_what_is_left_over_is_told(loaded, size, place):
    found = [*verdicts(loaded, FRESH, size=size, live=1000).values()]

    assert [at for at, holds in enumerate(found) if not holds] == [place]
