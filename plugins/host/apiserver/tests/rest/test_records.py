"""Records that several requests and servers change at once."""

import threading

import orjson
import pytest
from greenlet import getcurrent, greenlet
from hyperkube_host.apiserver.rest.records import Records

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import BadRequest, ServerTimeout
from hyperkube.storage.memory import MemoryStore

PATH = "/registry/ranges/test"


class Elsewhere:
    """A store in another process, which queues nothing; it counts writes, and `others` are faster before each of them."""

    def __init__(self):
        self.store = MemoryStore(FakeClock())
        self.writes = self.failed = 0
        self.others = []

    def get(self, key):
        return self.store.get(key)

    def txn(self, compare, success):
        if self.others:
            self.others.pop()()
        result = self.store.txn(compare, success)
        self.writes += result.succeeded
        self.failed += not result.succeeded
        return result


class ByTurns(MemoryStore):
    """A store whose writes pause until all turns have written, as on the thread where requests take turns."""

    def __init__(self):
        super().__init__(FakeClock())
        self.rounds = 0
        self.hub = getcurrent()

    def txn(self, compare, success):
        self.hub.switch()
        return super().txn(compare, success)

    def run(self, calls):
        turns = [greenlet(call) for call in calls]
        while turns:
            self.rounds += 1
            for turn in turns:
                turn.switch()
            turns = [turn for turn in turns if not turn.dead]


def one_more(record):
    return {"count": (record or {"count": 0})["count"] + 1}


def count_in(store):
    return orjson.loads(store.get(PATH).value)["count"]


def test_requests_of_one_server_share_a_write():
    store, records = Elsewhere(), Records()
    threads = [threading.Thread(target=records.change, args=(store, PATH, one_more)) for _ in range(32)]

    def all_others_come():
        for thread in threads:
            thread.start()
        while len(records._records[PATH].waiting) < len(threads):
            pass

    store.others = [all_others_come]
    records.change(store, PATH, one_more)
    for thread in threads:
        thread.join()

    assert (count_in(store), store.failed, store.writes) == (33, 0, 2)


def test_many_other_servers_may_be_faster_before():
    store = Elsewhere()
    store.others = [lambda: Records().change(store.store, PATH, one_more)] * 200

    Records().change(store, PATH, one_more)

    assert (count_in(store), store.failed) == (201, 200)


def test_a_request_gives_up_when_others_always_are_faster():
    store = Elsewhere()
    store.others = [lambda: Records().change(store.store, PATH, one_more)] * 2000

    with pytest.raises(ServerTimeout, match="could not be changed at this time"):
        Records().change(store, PATH, one_more)


def test_a_change_that_is_refused_hinders_no_other():
    store, records = ByTurns(), Records()
    refused = []

    def refuse(_record):
        raise BadRequest("no")

    def ask_in_vain():
        with pytest.raises(BadRequest) as caught:
            records.change(store, PATH, refuse)
        refused.append(caught.value)

    store.run(
        [lambda: records.change(store, PATH, one_more), ask_in_vain, lambda: records.change(store, PATH, one_more)]
    )

    assert count_in(store) == 2
    assert [str(error) for error in refused] == ["no"]


def test_a_record_that_is_left_alone_is_not_written():
    store = Elsewhere()

    Records().change(store, PATH, lambda _record: None)

    assert (store.get(PATH), store.writes) == (None, 0)


def test_requests_by_turns_on_one_thread_wait_for_each_other_without_a_lock():
    store, records = ByTurns(), Records()

    store.run([lambda: records.change(store, PATH, one_more)] * 50)

    assert count_in(store) == 50
    assert store.rounds <= 4
