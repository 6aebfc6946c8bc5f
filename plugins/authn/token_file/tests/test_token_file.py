import pytest
from hyperkube_authn.token_file import TokenFile

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract


@pytest.fixture
def plugin(tmp_path):
    def build(text):
        path = tmp_path / "tokens.csv"
        path.write_text(text)
        return TokenFile(PluginContext(name="TokenFile", settings={"token_auth_file": str(path)}))

    return build


def test_a_token_names_its_user_and_groups(plugin):
    answer = plugin('t1,alice,uid-a,"dev,ops"\nt2,bob,uid-b\n').authn_authenticate(Credentials(token="t1"))

    assert (answer.user.name, answer.user.uid) == ("alice", "uid-a")
    assert answer.user.groups == ("dev", "ops", "system:authenticated")


def test_an_empty_fourth_column_is_an_empty_group(plugin):
    assert plugin("t,alice,u,\n").authn_authenticate(Credentials(token="t")).user.groups == ("", "system:authenticated")


@pytest.mark.parametrize("token", ["", "other", "t1 "])
def test_another_token_is_somebody_elses_to_judge(plugin, token):
    assert plugin("t1,alice,u\n").authn_authenticate(Credentials(token=token)) is None


def test_of_equal_tokens_the_first_counts(plugin):
    assert plugin("t,alice,a\nt,bob,b\n").authn_authenticate(Credentials(token="t")).user.name == "alice"


@pytest.mark.parametrize(
    ("text", "message"), [("t,alice\n", "must have at least 3 columns"), (",alice,u\n", "without a token")]
)
def test_a_bad_file_is_refused_at_start(plugin, text, message):
    with pytest.raises(UsageError, match=message):
        plugin(text)


def test_a_missing_file_is_refused_at_start():
    with pytest.raises(UsageError, match="cannot read token file"):
        TokenFile(PluginContext(name="TokenFile", settings={"token_auth_file": "/none"}))


def test_without_a_file_nobody_is_recognised():
    assert TokenFile(PluginContext(name="TokenFile")).authn_authenticate(Credentials(token="t")) is None


class TestContract(AuthnContract):
    @pytest.fixture
    def built(self, tmp_path):
        path = tmp_path / "tokens.csv"
        path.write_text("contract-secret,alice,1\n")
        return TokenFile(PluginContext(name="TokenFile", settings={"token_auth_file": str(path)}))

    def good(self, built):
        return [Credentials(token="contract-secret")]


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self, plugin):
        return plugin("t1,alice,u\n")

    def good(self, built):
        return [Credentials(token="t1")]
