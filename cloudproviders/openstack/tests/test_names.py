"""Of two things of one name one is left."""

import pytest
from hyperkube_cloud.openstack.names import NamedThings

OLD, NEW = "2026-01-01T00:00:00.000000", "2026-01-01T00:00:01.000000"


class Cinder:
    """Things by id; ``during_sleep`` is what others do while one waits."""

    def __init__(self, **ages):
        self.rows = {ident: {"id": ident, "created_at": age} for ident, age in ages.items()}
        self.during_sleep = lambda: None

    def listed(self, service, path, member, name):
        assert (service, path, member) == ("volumev3", "volumes/detail", "volumes")
        return [*self.rows.values()]

    def delete(self, service, path):
        del self.rows[path.removeprefix("volumes/")]

    def sleep(self, seconds):
        self.during_sleep()


def named(cinder, free=True):
    settled = []
    things = NamedThings(cinder, "volumes", counts=lambda row: True, is_free=lambda row: free, settled=settled.append)
    return things, settled


def test_what_was_made_alone_is_kept():
    cinder = Cinder(a=OLD)

    assert named(cinder)[0].kept("n", {"id": "a"})["id"] == "a"
    assert [*cinder.rows] == ["a"]


def test_a_younger_one_is_deleted_by_its_maker_once_it_can_be():
    cinder = Cinder(a=NEW, b=OLD)
    things, settled = named(cinder)

    assert things.kept("n", {"id": "a"})["id"] == "b"
    assert ([*cinder.rows], settled) == (["b"], ["a"])


def test_an_older_one_is_kept_as_the_younger_ones_maker_deletes_that():
    cinder = Cinder(a=NEW, b=OLD)

    assert named(cinder)[0].kept("n", {"id": "b"})["id"] == "b"
    assert sorted(cinder.rows) == ["a", "b"]


@pytest.mark.parametrize(("leaves", "kept"), [(True, "a"), (False, "b")])
def test_of_two_of_one_second_one_is_left(leaves, kept):
    cinder = Cinder(a=OLD, b=OLD)
    if leaves:
        cinder.during_sleep = lambda: cinder.rows.pop("b")

    assert named(cinder)[0].kept("n", {"id": "a"})["id"] == kept
    assert [*cinder.rows] == [kept]


@pytest.mark.parametrize(("free", "left"), [(True, ["a"]), (False, ["a", "b"])])
def test_one_whose_maker_is_gone_goes_when_the_name_is_asked_for_unless_it_is_used(free, left):
    cinder = Cinder(a=OLD, b=NEW)

    assert named(cinder, free)[0].find("n")["id"] == "a"
    assert [*cinder.rows] == left


def test_two_of_one_second_are_left_to_their_makers():
    cinder = Cinder(a=OLD, b=OLD)

    assert named(cinder)[0].find("n")["id"] == "a"
    assert [*cinder.rows] == ["a", "b"]


def test_nothing_of_the_name_is_nothing():
    assert named(Cinder())[0].find("n") is None
