import pytest
from hyperkube_authn.anonymous import Anonymous

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract


def test_who_shows_nothing_is_anonymous():
    answer = Anonymous(PluginContext(name="Anonymous")).authn_authenticate(Credentials())

    assert answer.user.name == "system:anonymous"
    assert answer.user.groups == ("system:unauthenticated",)


def test_a_wrong_token_is_not_taken_for_none():
    assert Anonymous(PluginContext(name="Anonymous")).authn_authenticate(Credentials(token="x")) is None


def test_it_can_be_turned_off():
    plugin = Anonymous(PluginContext(name="Anonymous", settings={"anonymous_auth": False}))

    assert plugin.authn_authenticate(Credentials()) is None


class TestContract(AuthnContract):
    names_the_nameless = True

    @pytest.fixture
    def built(self):
        return Anonymous(PluginContext(name="Anonymous"))

    def good(self, built):
        return [Credentials()]


class TestPromises(AuthnContract):
    names_the_nameless = True

    @pytest.fixture
    def built(self):
        return Anonymous(PluginContext(name="Anonymous"))

    def good(self, built):
        return [Credentials()]


@pytest.fixture
def configured(tmp_path):
    def build(text, **options):
        path = tmp_path / "authentication.yaml"
        path.write_text(f"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n{text}\n")
        return Anonymous(PluginContext(name="Anonymous", settings={"authentication_config": str(path), **options}))

    return build


def test_a_file_may_allow_some_paths_only(configured):
    built = configured("anonymous: {enabled: true, conditions: [{path: /livez}]}")

    assert built.authn_authenticate(Credentials(path="/livez")).user.name == "system:anonymous"
    assert built.authn_authenticate(Credentials(path="/livez")).cache_seconds == 0
    assert built.authn_authenticate(Credentials(path="/api")) is None


@pytest.mark.parametrize(("text", "known"), [("jwt: []", True), ("anonymous: {enabled: false}", False)])
def test_a_file_may_turn_it_off(configured, text, known):
    assert (configured(text).authn_authenticate(Credentials(path="/api")) is not None) is known


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("anonymous: {enabled: true}", {"anonymous_auth": False}, "both by"),
        ("anonymous: {conditions: [{path: /livez}]}", {}, "enabled should be set"),
        ("anonymous: {allow: true}", {}, "unknown field 'allow'"),
    ],
)
def test_a_wrong_file_is_refused_at_start(configured, text, options, message):
    with pytest.raises(UsageError, match=message):
        configured(text, **options)


def test_a_changed_file_is_taken_up_and_a_wrong_one_is_not(tmp_path, configured):
    built = configured("anonymous: {enabled: true}")
    file = tmp_path / "authentication.yaml"
    head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"

    def known(text):
        fresh = tmp_path / "fresh"
        fresh.write_text(head + text)
        fresh.replace(file)
        return built.authn_authenticate(Credentials(path="/api")) is not None

    assert built.authn_authenticate(Credentials(path="/api")) is not None
    assert not known("anonymous: {enabled: false}")
    assert not known("anonymous: {enabled: maybe, nonsense: 1}")
    assert not known("anonymous: {enabled: true, conditions: [{path: /livez}]}")
    assert known("jwt: []")
    file.unlink()
    assert built.authn_authenticate(Credentials(path="/api")) is not None
