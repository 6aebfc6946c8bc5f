"""Python's pools that are given back while nothing is in them."""

import gc
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hyperkube_lib.component_base.empty_pools import SPARE_POOLS, WORK, EmptyPools, Mapped

from hyperkube.testing.waiting import eventually

pytestmark = pytest.mark.skipif(mmap.PAGESIZE != 4096 or sys.platform != "linux", reason="as Linux on most machines")

POOL_PAGES = 4
"""Of a pool: all of them are given back."""


def test_only_what_may_be_written_is_where_objects_lie():
    mapped = Mapped(
        b"1000-3000 rw-p 00000000 00:00 0\n3000-4000 r--p 00000000 08:01 11  /lib/a.so\n5000-6000 rw-p 0 00:00 0"
    )

    places = [address in mapped for address in (0x0FFF, 0x1000, 0x2FFF, 0x3000, 0x4800, 0x5FFF, 0x6000)]

    assert places == [False, True, True, False, False, True, False]


def resident():
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.fixture
def few_of_many():
    """Texts, each a two-thousandth of those that were made, so that hardly an arena is empty, but most pools are."""
    many = [f"{number:060}" for number in range(80_000)]
    return many[::2000]


@pytest.fixture
def pools():
    pools = EmptyPools()
    yield pools
    pools.close()


def test_pools_between_the_objects_that_stay_go_back_to_the_system(few_of_many, pools):
    before = resident()

    pools.let_go()

    assert len(pools) > 200
    assert resident() < before - 200 * POOL_PAGES * mmap.PAGESIZE
    assert few_of_many == [f"{number:060}" for number in range(0, 80_000, 2000)]


def test_what_is_made_meanwhile_and_afterwards_is_as_it_should_be(few_of_many, pools):
    pools.let_go()
    meanwhile = [f"{number:061}" for number in range(10_000)]
    pools.let_go()
    pools.take_back()
    afterwards = [f"{number:0{number % 450 + 5}}" for number in range(10_000)]

    assert few_of_many[-1] == f"{78_000:060}"
    assert meanwhile == [f"{number:061}" for number in range(10_000)]
    assert [*map(int, afterwards)] == [*range(10_000)]


def test_pools_that_are_taken_back_are_used_before_new_ones(few_of_many, pools):
    pools.let_go()
    count = len(pools)

    pools.take_back()
    before = resident()
    many = [f"{number:060}" for number in range(count * 100)]

    assert len(pools) == 0
    assert resident() < before + count * POOL_PAGES * mmap.PAGESIZE + sys.getsizeof(many)
    assert len(few_of_many) == 40


def test_a_few_pools_stay_for_what_is_done_at_rest(few_of_many, pools):
    pools.let_go()
    before = resident()

    few = [f"{number:060}" for number in range(SPARE_POOLS * 100)]

    assert resident() < before + SPARE_POOLS * mmap.PAGESIZE + sys.getsizeof(few)
    assert len(pools) > 200
    assert few_of_many[-1] == f"{78_000:060}"


@pytest.fixture
def rare_collections():
    before = gc.get_threshold()
    gc.set_threshold(10 * WORK)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("few_of_many", "rare_collections")
def test_with_work_pools_are_used_again(pools):
    pools.let_go()
    held = len(pools)
    few = [[number] for number in range(WORK // 2)]
    quiet = len(pools)

    many = [[number] for number in range(2 * WORK)]

    eventually(lambda: len(pools) == 0)
    assert gc.get_threshold()[0] == 10 * WORK
    assert pools.had_work
    assert 200 < held == quiet
    assert len(few) + len(many) == 2.5 * WORK


@pytest.mark.usefixtures("rare_collections")
def test_loads_that_follow_one_another_take_hardly_more_than_the_first(pools):
    kept, most, least = [], [], []
    for _ in range(5):
        many = [[f"{number:060}"] for number in range(60_000)]
        most.append(resident())
        kept = kept[-30:] + many[::2000]
        del many
        pools.let_go()
        least.append(resident())

    assert max(most[1:]) < most[0] + (2 << 20)
    assert max(least) < most[0] - (3 << 20)


@pytest.mark.parametrize("allocator", ["malloc", "malloc_debug", "pymalloc_debug"])
def test_another_allocator_is_left_alone(allocator):
    program = (
        "from hyperkube_lib.component_base.empty_pools import EmptyPools\n"
        "few = [str(number) for number in range(100_000)][::1000]\n"
        "pools = EmptyPools()\n"
        "pools.let_go()\n"
        "print(len(pools), few[-1])"
    )

    environment = os.environ | {"PYTHONMALLOC": allocator}
    assert subprocess.check_output([sys.executable, "-c", program], text=True, env=environment) == "0 99000\n"


def test_where_nothing_tells_what_is_mapped_nothing_happens(monkeypatch, tmp_path, few_of_many, pools):
    monkeypatch.setattr("hyperkube_lib.component_base.empty_pools._MAPS", tmp_path / "none")

    pools.let_go()

    assert len(pools) == 0
    assert few_of_many


def test_looking_again_and_again_takes_no_new_arenas(few_of_many, pools):
    pools.let_go()
    before, blocks = len(pools), resident()

    for _ in range(10):
        pools.let_go()

    assert len(pools) < before + 16
    assert resident() < blocks + (256 << 10)
    assert few_of_many[-1] == f"{78_000:060}"
