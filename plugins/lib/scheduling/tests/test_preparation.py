"""What a post-filter plugin has to write is known before it is written."""

from hyperkube_lib.scheduling.preparation import Preparation

from hyperkube.hookspecs.scheduling import PostFilterResult


def test_it_is_carried_out_when_it_is_called_and_tells_what_has_come_of_it():
    expected, failed = PostFilterResult("n1", victims=2), PostFilterResult(None, "no", noop=True)

    preparation = Preparation(expected=expected, carry_out=lambda: failed)

    assert preparation.expected == expected
    assert preparation() == failed
