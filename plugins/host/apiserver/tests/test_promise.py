"""Parts of the server that are given away before they are built."""

import pytest
from hyperkube_host.apiserver.promise import NotBuiltYet, Promise


def test_a_part_is_there_once_it_is_built():
    promise = Promise("the part")

    assert not promise.is_kept
    assert promise.keep("built") == "built"
    assert promise.is_kept
    assert promise.get() == "built"


def test_a_part_that_is_used_too_early_says_which_it_is():
    with pytest.raises(NotBuiltYet, match="the part is used before it is built"):
        Promise("the part").get()


def test_a_part_is_built_once():
    promise = Promise("the part")
    promise.keep("built")

    with pytest.raises(RuntimeError, match="the part is built twice"):
        promise.keep("again")
