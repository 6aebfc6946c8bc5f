import ctypes
import threading

import orjson
import pytest

from hyperkube.machinery.recent import Recent, SeenBefore, exact, forget_all


def memory_of(data):
    """Return how many bytes the C library has set aside for an object that is too large for Python's own pools."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_usable_size"):
        pytest.skip("the C library does not tell how much memory it sets aside")
    libc.malloc_usable_size.restype, libc.malloc_usable_size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    return libc.malloc_usable_size(id(data))


def test_what_is_kept_takes_no_more_memory_than_it_needs():
    written = [orjson.dumps({"text": "x" * size}) for size in (1000, 1001, 1002)]
    recent = Recent(9)
    recent.keep(written[0], (True, written[1]))
    ((key, (_, value)),) = recent._entries.items()

    assert [key, value] == written[:2]
    assert max(memory_of(kept) for kept in (key, value, exact(written[2]))) < 1200


@pytest.mark.parametrize("value", [b"", b"ab", (b"a", ("b", 1)), "text", None, 7])
def test_exact_values_are_equal(value):
    assert exact(value) == value


def test_what_was_kept_is_found():
    recent = Recent(2)

    assert recent.get("a") is None
    assert recent.keep("a", 1) == 1
    assert recent.get("a") == 1


def test_the_oldest_is_forgotten():
    recent = Recent(2)
    for number in range(3):
        recent.keep(number, number)

    assert [recent.get(number) for number in range(3)] == [None, 1, 2]


def test_many_may_keep_at_once():
    recent = Recent(10)

    def work(start):
        for number in range(start, start + 500):
            recent.keep(number, number)
            assert recent.get(-number) is None

    threads = [threading.Thread(target=work, args=(place * 1000,)) for place in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert sum(recent.get(number) is not None for number in range(6000)) == 10


def test_all_is_forgotten_when_it_is_asked_for_and_kept_anew_afterwards():
    recent, gone = Recent(2), Recent(2)
    recent.keep("a", 1)
    found = recent.get
    del gone

    forget_all()

    assert found("a") is None
    recent.keep("a", 2)
    assert found("a") == 2


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
