from base64 import b64encode

import pytest
from cryptography import x509
from hyperkube_lib.serving.certificates import issue, make_ca, self_signed
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import Response
from hyperkube_lib.serving.tls import TlsFiles
from hyperkube_lib.webhooks import review
from hyperkube_lib.webhooks.review import ReviewClient, WebhookFailed
from hyperkube_testing.peers.peer import Failure, Peer

from hyperkube.client import kubeconfig
from hyperkube.machinery.clock import SystemClock


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
    answers = iter([Failure(500), Failure(429), {"status": {}}])
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


class Hook:
    """Notes who asks on which connection."""

    def __init__(self):
        self.seen = []

    def handle(self, request):
        self.seen.append((request.certificate[:1], request.peer))
        return Response(status=200, body=request.body)

    def hot(self, _request):
        return None

    def is_long_running(self, _request):
        return False


def test_a_kubeconfigs_certificate_is_shown_and_the_connection_is_kept(tmp_path):
    ca = make_ca("people")
    (tmp_path / "ca.crt").write_bytes(ca.certificate)
    pair, server = issue(ca, "apiserver", client=True), self_signed("hook", dns=["localhost"], ips=["127.0.0.1"])
    server.write(tmp_path / "hook.crt", tmp_path / "hook.key")
    hook = Hook()
    files = TlsFiles(
        cert_file=str(tmp_path / "hook.crt"),
        key_file=str(tmp_path / "hook.key"),
        client_ca_file=str(tmp_path / "ca.crt"),
    )
    edge = Edge(hook, host="127.0.0.1", tls=files)
    edge.start()
    encoded = {"client-certificate-data": pair.certificate, "client-key-data": pair.key}
    user = {key: b64encode(value).decode() for key, value in encoded.items()}
    cluster = {"server": f"https://127.0.0.1:{edge.port}/hook", "certificate-authority": str(tmp_path / "hook.crt")}
    config = kubeconfig.put(kubeconfig.empty(), "clusters", "hook", cluster)
    config = kubeconfig.put(
        kubeconfig.put(config, "users", "me", user), "contexts", "x", {"cluster": "hook", "user": "me"}
    )
    kubeconfig.write(tmp_path / "config", {**config, "current-context": "x"})

    reviews = ReviewClient(tmp_path / "config", SystemClock())
    answers = [reviews.post({"spec": {"n": number}}) for number in range(3)]
    reviews.close()
    edge.close(0)

    assert answers == [{"spec": {"n": number}} for number in range(3)]
    assert {x509.load_der_x509_certificate(leaf).subject.rfc4514_string() for (leaf,), _ in hook.seen} == {
        "CN=apiserver"
    }
    assert len({peer for _, peer in hook.seen}) == 1


def test_an_answer_without_an_end_fails(peer, reviews):
    peer.answers["/hook"] = lambda body: {**body, "status": {"reason": "x" * (review.MOST_BYTES + 1)}}

    with pytest.raises(WebhookFailed, match=f"longer than {review.MOST_BYTES} bytes"):
        reviews.post({})
