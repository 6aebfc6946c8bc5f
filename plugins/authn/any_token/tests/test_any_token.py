import pytest
from hyperkube_authn.any_token import AnyToken

from hyperkube.hookspecs.authn import Credentials
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract


def build(*, on=True):
    return AnyToken(PluginContext(name="AnyToken", settings={"insecure_allow_any_token": on}))


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self):
        return build()

    def good(self, built):
        return [Credentials(token="alice/dev"), Credentials(token="bob")]

    def foreign(self, built):
        return [Credentials(basic=("alice", "secret")), Credentials(token="/dev")]


@pytest.mark.parametrize(
    ("token", "name", "groups"),
    [
        ("alice", "alice", ()),
        ("alice/", "alice", ()),
        ("alice/dev,ops", "alice", ("dev", "ops")),
        ("a/b/dev", "a/b", ("dev",)),
    ],
)
def test_the_token_is_the_user_and_after_the_last_slash_the_groups(token, name, groups):
    user = build().authn_authenticate(Credentials(token=token)).user

    assert (user.name, user.groups) == (name, groups)


def test_nobody_is_believed_without_the_flag():
    assert build(on=False).authn_authenticate(Credentials(token="alice")) is None
