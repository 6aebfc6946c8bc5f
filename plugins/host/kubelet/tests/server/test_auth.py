"""Who may use the kubelet's API."""

import pytest
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.server.auth import KubeletAuth
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.kubelet_tokens import KubeletTokens

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Forbidden, InternalError, Unauthorized
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin.flags import FlagValues

GETS_STATS = ("jane", "get", "stats")


class Api:
    """Reviews tokens and access as an API server does, and notes what it was asked."""

    def __init__(self, *allowed):
        self.allowed = allowed
        self.asked = []
        self.down = False

    def create(self, resource, review):
        if self.down:
            raise ConnectionError("down")
        spec = review["spec"]
        if resource.resource == "tokenreviews":
            return {"status": {"authenticated": spec["token"] == "good", "user": {"username": "jane"}}}
        wanted = spec["resourceAttributes"]
        self.asked.append(wanted["subresource"])
        return {"status": {"allowed": (spec["user"], wanted["verb"], wanted["subresource"]) in self.allowed}}


def access(api, clock=None, **options):
    wanted = {"hostname-override": "n1", "container-runtime": "hollow", "authorization-mode": "Webhook", **options}
    return KubeletAuth(KubeletOptions.of(FlagValues.of(FLAGS, wanted)), api, clock or FakeClock())


def ask(access, path="/stats/summary", *, token="good", method="GET", user=None):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return access.check(HttpRequest(method=method, path=path, headers=headers, user=user)).name


def test_a_user_with_the_permission_is_let_in():
    assert ask(access(Api(GETS_STATS))) == "jane"


@pytest.mark.parametrize(("permission", "asked"), [("pods", ["pods"]), ("proxy", ["pods", "proxy"])])
def test_the_narrow_permission_is_enough_and_so_is_the_wide_one(permission, asked):
    api = Api(("jane", "get", permission))

    assert ask(access(api), "/pods") == "jane"
    assert api.asked == asked


def test_without_permission_all_that_would_do_are_named():
    with pytest.raises(Forbidden) as error:
        ask(access(Api(GETS_STATS)), "/pods")

    assert str(error.value) == "Forbidden (user=jane, verb=get, resource=nodes, subresource(s)=[pods proxy])"


def test_the_verb_counts():
    with pytest.raises(Forbidden):
        ask(access(Api(GETS_STATS)), method="POST")


def test_system_masters_are_asked_about_like_all_others():
    root = UserInfo("root", "", ("system:masters",))

    with pytest.raises(Forbidden):
        ask(access(Api(GETS_STATS)), user=root)


@pytest.mark.parametrize("token", ["", "bad"])
def test_without_a_proof_no_one_is_let_in(token):
    with pytest.raises(Unauthorized):
        ask(access(Api(GETS_STATS)), token=token)


def test_the_anonymous_need_a_permission_too():
    anonymous = access(Api(("system:anonymous", "get", "stats")), **{"anonymous-auth": True})

    assert ask(anonymous, token="") == "system:anonymous"
    with pytest.raises(Forbidden):
        ask(anonymous, "/pods", token="")


def test_tokens_are_not_looked_at_when_they_are_not_to_be():
    with pytest.raises(Unauthorized):
        ask(access(Api(GETS_STATS), **{"authentication-token-webhook": False}))


def test_always_allow_still_asks_who_it_is():
    lax = access(Api(), **{"authorization-mode": "AlwaysAllow"})

    assert ask(lax) == "jane"
    with pytest.raises(Unauthorized):
        ask(lax, token="bad")


def test_an_api_server_that_does_not_answer_lets_no_one_in():
    api = Api(GETS_STATS)
    guarded = access(api)
    api.down = True

    with pytest.raises(Unauthorized):
        ask(guarded)
    with pytest.raises(InternalError) as error:
        ask(guarded, user=UserInfo("jane"))
    assert str(error.value) == "Authorization error (user=jane, verb=get, resource=nodes, subresource=stats)"


def test_a_kubelet_that_stands_alone_allows_nothing():
    alone = access(None, **{"anonymous-auth": True})

    with pytest.raises(Forbidden):
        ask(alone, token="")


@pytest.mark.parametrize(("node", "is_known"), [("n1", True), ("n2", False)])
def test_a_token_of_the_api_server_is_reviewed_for_this_kubelet_alone(node, is_known):
    tokens = KubeletTokens(FakeClock())

    class Reviewer(Api):
        def create(self, resource, review):
            if resource.resource != "tokenreviews":
                return {"status": {"allowed": True}}
            spec = review["spec"]
            user = tokens.user(spec["token"], spec["audiences"])
            return {"status": {"authenticated": user is not None, "user": {"username": "api"}, **spec}}

    api = access(Reviewer())

    if is_known:
        assert ask(api, token=tokens.token(node)) == "api"
    else:
        with pytest.raises(Unauthorized):
            ask(api, token=tokens.token(node))


def test_answers_are_kept_as_long_as_the_flags_say():
    api, clock = Api(GETS_STATS), FakeClock()
    checks = access(api, clock, **{"authorization-webhook-cache-authorized-ttl": "10s"})
    for _ in range(2):
        ask(checks)
    assert api.asked == ["stats"]

    clock.advance(11)
    ask(checks)

    assert api.asked == ["stats", "stats"]
