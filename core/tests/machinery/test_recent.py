import threading

from hyperkube.machinery.recent import Recent, Recurring


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


def test_what_comes_again_is_told_from_what_came_once():
    recurring = Recurring(2)

    assert [recurring.recurs("a"), recurring.recurs("b"), recurring.recurs("a")] == [False, False, True]
    assert recurring.get("a") is None
