import pytest
from hyperkube_authn.password_file import PasswordFile

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract


@pytest.fixture
def plugin(tmp_path):
    def build(text):
        path = tmp_path / "passwords.csv"
        path.write_text(text)
        return PasswordFile(PluginContext(name="PasswordFile", settings={"basic_auth_file": str(path)}))

    return build


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self, plugin):
        return plugin("sesame,alice,u\n")

    def good(self, built):
        return [Credentials(basic=("alice", "sesame"))]

    def bad(self, built):
        return [Credentials(basic=("alice", "open")), Credentials(basic=("mallory", "sesame"))]


def test_a_password_names_its_user_and_groups(plugin):
    answer = plugin('sesame,alice,uid-a,"dev,ops"\n').authn_authenticate(Credentials(basic=("alice", "sesame")))

    assert (answer.user.name, answer.user.uid) == ("alice", "uid-a")
    assert answer.user.groups == ("dev", "ops", "system:authenticated")


def test_an_empty_password_opens_nothing(plugin):
    with pytest.raises(Unauthorized):
        plugin("sesame,alice,u\n").authn_authenticate(Credentials(basic=("mallory", "")))


@pytest.mark.parametrize(
    ("text", "message"), [("p,alice\n", "must have at least 3 columns"), (",alice,u\n", "without a password")]
)
def test_a_bad_file_is_refused_at_start(plugin, text, message):
    with pytest.raises(UsageError, match=message):
        plugin(text)


def test_a_missing_file_is_refused_at_start():
    with pytest.raises(UsageError, match="cannot read password file"):
        PasswordFile(PluginContext(name="PasswordFile", settings={"basic_auth_file": "/none"}))
