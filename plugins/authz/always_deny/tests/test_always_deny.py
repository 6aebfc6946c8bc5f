from hyperkube_authz.always_deny import AlwaysDeny

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authz import AuthzContract


def test_nothing_is_allowed():
    plugin = AlwaysDeny(PluginContext(name="AlwaysDeny"))

    decision = plugin.authz_authorize(Attributes(UserInfo("x"), "get", path="/healthz"))
    assert not decision.allowed
    assert decision.reason == "Everything is forbidden."
    assert plugin.authz_rules(UserInfo("x"), "ns").resource_rules == []


class TestContract(AuthzContract):
    def build(self):
        return AlwaysDeny(PluginContext(name="AlwaysDeny"))

    def questions(self):
        return [Attributes(UserInfo("x"), "get", resource="pods"), Attributes(UserInfo("x"), "get", path="/healthz")]


class TestPromises(AuthzContract):
    def build(self):
        return AlwaysDeny(PluginContext(name="AlwaysDeny"))

    def questions(self):
        return [Attributes(UserInfo("x"), "get", resource="pods"), Attributes(UserInfo("x"), "get", path="/x")]
