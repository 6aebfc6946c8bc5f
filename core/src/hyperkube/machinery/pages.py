"""Lists that a peer tells page by page: each says where the next one begins, and a hostile peer goes on for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

MOST_PAGES = 10_000
MOST_ITEMS = 100_000


class EndlessList(Exception):
    """A list does not come to an end; ask again later, of a peer that was mended."""


def all_pages(
    read: Callable[[str], tuple[Iterable[Item], str]], *, most: int = MOST_ITEMS, most_pages: int = MOST_PAGES
) -> Iterator[Item]:
    """Yield the items of a list over all its pages.

    Args:
        read: takes where a page begins, empty for the first; returns its items and where the next begins, if any.
        most: items that a list may have, for callers who keep them all.
        most_pages: pages that it may have: one may be empty and still name a next one.

    Raises:
        EndlessList: a page begins where an earlier one did, or there are more than that.
    """
    place, met, count = "", {hash("")}, 0
    while True:
        items, place = read(place)
        for item in items:
            count += 1
            if count > most:
                raise EndlessList(f"the list has more than {most} items")
            yield item
        if not place:
            return
        if hash(place) in met:  # places may be long: what is kept of one is a number
            raise EndlessList("a page of the list names an earlier one as the next")
        if len(met) >= most_pages:
            raise EndlessList(f"the list has more than {most_pages} pages")
        met.add(hash(place))
