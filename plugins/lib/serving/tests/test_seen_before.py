"""What came before, and what did not."""

from __future__ import annotations

from hyperkube_lib.serving.seen_before import SeenBefore


def test_the_second_time_it_came_before():
    seen = SeenBefore()

    assert [seen(b"a"), seen(b"a"), seen(b"a"), seen(b"b")] == [False, True, True, False]


def test_what_is_long_ago_is_forgotten():
    seen = SeenBefore()
    seen("first")
    for number in range(200_000):
        seen(f"another {number}")

    assert not seen("first")


def test_hardly_anything_new_counts_as_old():
    seen = SeenBefore()

    assert sum(seen(f"new {number}") for number in range(100_000)) <= 2
