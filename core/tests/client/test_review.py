import pytest

from hyperkube.client.review import ReviewClient, WebhookFailed
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.peer import Failure, Peer


@pytest.fixture
def peer(tmp_path):
    with Peer(tmp_path) as peer:
        yield peer


@pytest.fixture
def reviews(peer):
    client = ReviewClient(peer.kubeconfig("/hook"), SystemClock(), attempts=3, first_wait=0.001)
    yield client
    client.close()


def test_what_the_webhook_makes_of_a_review_comes_back(peer, reviews):
    peer.answers["/hook"] = lambda body: {**body, "status": {"allowed": True}}

    assert reviews.post({"spec": {}}) == {"spec": {}, "status": {"allowed": True}}


def test_a_server_in_trouble_is_asked_again(peer, reviews):
    answers = iter([Failure(500), Failure(503), {"status": {}}])
    peer.answers["/hook"] = lambda _body: next(answers)

    assert reviews.post({}) == {"status": {}}


@pytest.mark.parametrize(("answer", "times"), [(Failure(500), 3), (Failure(403), 1), ([], 1)], ids=repr)
def test_what_is_no_answer_fails(peer, reviews, answer, times):
    peer.answers["/hook"] = lambda _body: answer

    with pytest.raises(WebhookFailed):
        reviews.post({})

    assert len(peer.asked) == times


def test_a_server_that_is_away_fails(peer, reviews):
    peer.stop()

    with pytest.raises(WebhookFailed, match="cannot be reached"):
        reviews.post({})
