"""Memory that goes back to the system."""

import sys
from functools import lru_cache
from types import ModuleType

from hyperkube_lib.component_base.process_memory import (
    FIRST_QUIET,
    FIRST_SECONDS,
    LAST_QUIET,
    LIBRARY_PERIODS,
    PERIOD_SECONDS,
    Rest,
    forget,
    give_back,
    map_large_blocks,
    spare_arenas,
    wait_until_stopped,
)


class StopAfter:
    """Stops in the wait after so many."""

    def __init__(self, waits):
        self.left, self.waited = waits, []

    def wait(self, timeout=None):
        self.waited.append(timeout)
        self.left -= 1
        return self.left < 0


def test_memory_is_given_back_after_the_start_and_then_regularly_until_the_end():
    stopped, given = StopAfter(2), []

    wait_until_stopped(stopped, lambda: given.append(len(stopped.waited)))

    assert stopped.waited == [FIRST_SECONDS, PERIOD_SECONDS, PERIOD_SECONDS]
    assert given == [1, 2]


def test_a_server_does_what_is_to_be_done_after_each_wait():
    stopped, done = StopAfter(3), []

    wait_until_stopped(stopped, lambda: None, each_period=lambda: done.append(len(stopped.waited)))

    assert done == [1, 2, 3]


class Spent:
    """Processor seconds, by the shares of a core that each period took."""

    def __init__(self, *shares):
        self.shares, self.seconds = list(shares), 0.0

    def __call__(self):
        return self.seconds

    def forgotten(self):
        """Return after which periods all was forgotten, the first one being 0."""
        rest, after = Rest(self), []
        for period, share in enumerate(self.shares):
            self.seconds += share * PERIOD_SECONDS
            if rest.is_new(PERIOD_SECONDS):
                after.append(period)
        return after


def test_a_server_forgets_when_it_has_come_to_rest_and_once_more_minutes_later():
    quiet = [0.01] * 30

    assert Spent(0.4, *quiet).forgotten() == [FIRST_QUIET, LAST_QUIET]


def test_work_that_goes_on_forgets_nothing_nor_does_a_server_that_never_worked():
    assert Spent(*[0.4, 0.2, 0.11] * 20).forgotten() == []
    assert Spent(*[0.04, 0.002] * 20).forgotten() == []


def test_after_the_next_load_all_is_forgotten_again():
    assert Spent(0.4, 0.0, 0.0, 0.3, 0.01, 0.01).forgotten() == [2, 5]


def test_a_rest_is_fresh_for_two_periods_each_time_and_settles_until_the_second_time_is_over():
    spent = Spent()
    rest, fresh, settling = Rest(spent), [], []

    for period, share in enumerate([0.4, *[0.01] * 20]):
        spent.seconds += share * PERIOD_SECONDS
        rest.is_new(PERIOD_SECONDS)
        fresh += [period] * rest.is_fresh
        settling += [period] * rest.is_settling

    assert fresh == [FIRST_QUIET, FIRST_QUIET + 1, LAST_QUIET, LAST_QUIET + 1]
    assert settling == list(range(FIRST_QUIET, LAST_QUIET + 2))


def test_a_server_waits_with_the_memory_of_its_rest():
    told = []
    spent = Spent()
    waits = StopAfter(4)
    rest = Rest(spent)
    spent.seconds = 5.0

    wait_until_stopped(waits, lambda: None, rest=rest, forgets=lambda: told.append(len(waits.waited)))

    assert told == [1 + FIRST_QUIET]


def test_functions_forget_results_beyond_a_few(monkeypatch):
    many, few = lru_cache(1000)(str), lru_cache(1000)(str)
    for number in range(100):
        many(number)
    few(1)
    module = ModuleType("hyperkube_test_memory")
    module.many, module.few = many, few
    monkeypatch.setitem(sys.modules, module.__name__, module)

    forget()

    assert (many.cache_info().currsize, few.cache_info().currsize) == (0, 1)


def test_the_names_of_files_in_folders_of_packages_are_forgotten(monkeypatch):
    folders = {"/of/packages": None}
    monkeypatch.setattr(sys, "path_importer_cache", folders)

    forget()

    assert folders == {}


def test_names_of_files_that_an_import_needed_are_forgotten_in_the_next_period(monkeypatch):
    folders, seen, stopped = {"/of/packages": None}, [], StopAfter(3)
    monkeypatch.setattr(sys, "path_importer_cache", folders)

    def imports():
        seen.append(len(folders))
        folders["/of/others"] = None

    wait_until_stopped(stopped, lambda: None, rest=Rest(lambda: 0.0), let_go=lambda: None, each_period=imports)

    assert seen == [0, 0, 0]


def test_library_pages_are_looked_at_after_the_start_let_go_a_period_later_and_seldom_from_then_on():
    stopped, let_go, rest = StopAfter(2 * LIBRARY_PERIODS + 1), [], Rest(lambda: 0.0)

    wait_until_stopped(stopped, lambda: None, rest=rest, let_go=lambda: let_go.append(len(stopped.waited)))

    assert let_go == [1, 2, LIBRARY_PERIODS + 1, 2 * LIBRARY_PERIODS + 1]


def test_library_pages_are_let_go_when_a_server_has_come_to_rest_and_a_period_later():
    stopped, let_go, spent = StopAfter(6), [], Spent()
    rest = Rest(spent)
    spent.seconds = 5.0

    wait_until_stopped(
        stopped, lambda: None, rest=rest, forgets=lambda: None, let_go=lambda: let_go.append(len(stopped.waited))
    )

    assert let_go == [1, 2, 1 + FIRST_QUIET, 2 + FIRST_QUIET]


class Pools:
    """Notes what it is told, and after how many waits."""

    def __init__(self, stopped, *, had_work=False):
        self.told, self._stopped, self.had_work = [], stopped, had_work

    def note(self, what):
        self.told.append((what, len(self._stopped.waited)))

    def take_back(self):
        self.note("take back")

    def let_go(self):
        self.note("let go")

    def close(self):
        self.note("close")


def test_empty_pools_go_in_the_first_minutes_of_a_rest_and_come_back_before_all_is_forgotten():
    stopped, spent = StopAfter(LAST_QUIET + 2), Spent()
    rest, pools = Rest(spent), Pools(stopped)
    spent.seconds = 5.0

    wait_until_stopped(
        stopped,
        lambda: None,
        rest=rest,
        forgets=lambda: pools.note("forget"),
        let_go=lambda: None,
        pools=pools,
    )

    first, last = 1 + FIRST_QUIET, 1 + LAST_QUIET
    assert pools.told == [
        ("take back", first), ("forget", first),
        *(("let go", count) for count in range(first, last)),
        ("take back", last), ("forget", last), ("let go", last), ("let go", last + 1),
        ("close", last + 2),
    ]  # fmt: skip


def test_empty_pools_are_looked_at_seldom_while_there_is_no_work():
    stopped = StopAfter(2 * LIBRARY_PERIODS + 1)
    pools = Pools(stopped)

    wait_until_stopped(stopped, lambda: None, rest=Rest(lambda: 0.0), let_go=lambda: None, pools=pools)

    after = [count for what, count in pools.told if what == "let go"]
    assert after == [1, LIBRARY_PERIODS + 1, 2 * LIBRARY_PERIODS + 1]


def test_empty_pools_that_came_back_for_a_little_work_go_again():
    stopped = StopAfter(4)
    pools = Pools(stopped, had_work=True)

    wait_until_stopped(stopped, lambda: None, rest=Rest(lambda: 0.0), let_go=lambda: None, pools=pools)

    assert [count for what, count in pools.told if what == "let go"] == [1, 2, 3, 4]


def test_whatever_the_c_library_is_nothing_breaks():
    spare_arenas()
    map_large_blocks()
    give_back()
