"""Lists over pages end, whatever the peer says."""

import itertools

import pytest

from hyperkube.machinery.pages import EndlessList, all_pages


class Peer:
    """Answers from a table of pages, and notes where it was asked to begin."""

    def __init__(self, pages):
        self.pages, self.asked = pages, []

    def read(self, place):
        self.asked.append(place)
        return self.pages(place)


def test_all_pages_are_read_in_order_and_an_empty_one_is_no_end():
    table = {"": ([1, 2], "a"), "a": ([], "b"), "b": ([3], "")}
    peer = Peer(table.__getitem__)

    assert list(all_pages(peer.read)) == [1, 2, 3]
    assert peer.asked == ["", "a", "b"]


@pytest.mark.parametrize("way", [{"": "a", "a": "a"}, {"": "a", "a": "b", "b": "c", "c": "a"}], ids=["itself", "ring"])
def test_a_page_that_leads_back_ends_the_list(way):
    peer = Peer(lambda place: ([place], way[place]))

    with pytest.raises(EndlessList, match="names an earlier one"):
        list(all_pages(peer.read))

    assert len(peer.asked) == len(way)


def test_new_places_for_ever_end_at_a_bound():
    numbers = itertools.count(1)
    peer = Peer(lambda _place: ([], str(next(numbers))))

    with pytest.raises(EndlessList, match="more than 50 pages"):
        list(all_pages(peer.read, most_pages=50))

    assert len(peer.asked) == 50


def test_a_page_without_end_ends_at_a_bound():
    with pytest.raises(EndlessList, match="more than 1000 items"):
        list(all_pages(lambda _place: (itertools.count(), ""), most=1000))


def test_what_was_read_before_is_not_lost():
    read = all_pages(lambda place: ([place or "first"], "again"))

    assert next(read) == "first"
    assert next(read) == "again"
    with pytest.raises(EndlessList):
        next(read)
