from hyperkube_authz.always_allow import AlwaysAllow

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authz import AuthzContract


def test_everything_is_allowed_and_listed():
    plugin = AlwaysAllow(PluginContext(name="AlwaysAllow"))

    assert plugin.authz_authorize(Attributes(UserInfo("x"), "delete", resource="nodes")).allowed
    assert plugin.authz_rules(UserInfo("x"), "ns").resource_rules[0]["verbs"] == ["*"]
    assert plugin.authz_epoch() == 0


class TestContract(AuthzContract):
    def build(self):
        return AlwaysAllow(PluginContext(name="AlwaysAllow"))

    def questions(self):
        return [Attributes(UserInfo("x"), "get", resource="pods"), Attributes(UserInfo("x"), "get", path="/healthz")]


class TestPromises(AuthzContract):
    def build(self):
        return AlwaysAllow(PluginContext(name="AlwaysAllow"))

    def questions(self):
        return [Attributes(UserInfo("x"), "get", resource="pods"), Attributes(UserInfo("x"), "get", path="/x")]
