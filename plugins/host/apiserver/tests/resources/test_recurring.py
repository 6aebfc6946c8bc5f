from hyperkube_host.apiserver.resources.recurring import Recurring


def test_what_comes_again_is_told_from_what_came_once():
    recurring = Recurring(2)

    assert [recurring.recurs("a"), recurring.recurs("b"), recurring.recurs("a")] == [False, False, True]
    assert recurring.get("a") is None
