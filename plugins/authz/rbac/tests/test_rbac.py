import pytest
from hyperkube_authz.rbac import RBAC
from hyperkube_authz.rbac.authorizer import AGAIN_SECONDS
from hyperkube_authz.rbac.policy import bootstrap_objects

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs import authz as specs
from hyperkube.hookspecs.authz import Attributes
from hyperkube.kinds.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from hyperkube.machinery.users import UserInfo, component, service_account
from hyperkube.plugin import PluginContext, PluginHost
from hyperkube.testing.contracts.authz import AuthzContract

BOB = UserInfo("bob", groups=("dev", "system:authenticated"))
READ = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}


def role(name, rules, namespace=""):
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"metadata": meta, "rules": rules}


def binding(name, kind, role_name, subjects, namespace=""):
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"metadata": meta, "roleRef": {"kind": kind, "name": role_name}, "subjects": subjects}


def user(name):
    return {"kind": "User", "name": name}


class World:
    def __init__(self):
        self.client = FakeClient()
        self.informers = InformerFactory(self.client, self.client.clock, detect_mutations=True)
        context = PluginContext(name="RBAC", client=self.client, informers=self.informers, clock=self.client.clock)
        self.plugin = RBAC(context)
        self.plugin.start()

    def seed(self, resource, *objects):
        self.client.seed(resource, *objects)
        self.informers.refresh()

    def ask(self, who, verb, resource="configmaps", namespace="ns", **more):
        return self.plugin.authz_authorize(Attributes(who, verb, resource=resource, namespace=namespace, **more))


@pytest.fixture
def world():
    return World()


def test_a_role_binding_allows_in_its_namespace_and_says_so(world):
    world.seed(ROLES, role("r", [READ], "ns"))
    world.seed(ROLE_BINDINGS, binding("b", "Role", "r", [user("bob")], "ns"))

    decision = world.ask(BOB, "get")

    assert decision.allowed
    assert decision.reason == 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "bob"'
    assert not world.ask(BOB, "get", namespace="other").allowed
    assert not world.ask(BOB, "get", namespace="").allowed
    assert not world.ask(BOB, "delete").allowed
    assert not world.ask(UserInfo("eve"), "get").allowed


def test_a_cluster_role_binding_allows_everywhere(world):
    world.seed(CLUSTER_ROLES, role("cr", [READ, {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}]))
    world.seed(CLUSTER_ROLE_BINDINGS, binding("b", "ClusterRole", "cr", [{"kind": "Group", "name": "dev"}]))

    assert world.ask(BOB, "list", namespace="").reason == (
        'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "cr" to Group "dev"'
    )
    assert world.plugin.authz_authorize(Attributes(BOB, "get", path="/metrics")).allowed
    assert not world.plugin.authz_authorize(Attributes(BOB, "post", path="/metrics")).allowed


def test_a_cluster_role_may_be_bound_in_a_namespace_to_a_service_account(world):
    world.seed(CLUSTER_ROLES, role("cr", [READ]))
    world.seed(ROLE_BINDINGS, binding("b", "ClusterRole", "cr", [{"kind": "ServiceAccount", "name": "sa"}], "ns"))

    decision = world.ask(service_account("ns", "sa"), "get")

    assert decision.reason == 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "cr" to ServiceAccount "sa/ns"'
    assert not world.ask(service_account("other", "sa"), "get").allowed


def test_decisions_follow_every_change(world):
    world.seed(ROLES, role("r", [READ], "ns"))
    assert not world.ask(BOB, "get").allowed
    before = world.plugin.authz_epoch()

    world.seed(ROLE_BINDINGS, binding("b", "Role", "r", [user("bob")], "ns"))
    assert world.plugin.authz_epoch() > before
    assert world.ask(BOB, "get").allowed

    world.client.update(ROLES, role("r", [], "ns"), "ns")
    world.informers.refresh()
    assert not world.ask(BOB, "get").allowed

    world.client.update(ROLES, role("r", [READ], "ns"), "ns")
    world.informers.refresh()
    assert world.ask(BOB, "get").allowed

    world.client.delete(ROLE_BINDINGS, "b", "ns")
    world.informers.refresh()
    assert not world.ask(BOB, "get").allowed


def test_a_binding_to_a_missing_role_is_named_in_the_reason(world):
    world.seed(ROLE_BINDINGS, binding("b", "Role", "gone", [user("bob")], "ns"))

    decision = world.ask(BOB, "get")

    assert not decision.allowed
    assert decision.reason == 'RBAC: role.rbac.authorization.k8s.io "gone" not found'


def test_the_super_user_is_allowed_everything(world):
    settings = {"authorization_rbac_super_user": "root"}
    plugin = RBAC(PluginContext(name="RBAC", client=world.client, informers=world.informers, settings=settings))

    root, bob = (
        plugin.authz_authorize(Attributes(UserInfo(name), "delete", resource="nodes")) for name in ("root", "bob")
    )

    assert root.allowed
    assert not bob.allowed


def test_rules_are_listed(world):
    world.seed(CLUSTER_ROLES, role("cr", [READ, {"verbs": ["get"], "nonResourceURLs": ["/x"]}]))
    world.seed(CLUSTER_ROLE_BINDINGS, binding("b", "ClusterRole", "cr", [user("bob")]))

    rules = world.plugin.authz_rules(BOB, "ns")

    assert rules.resource_rules == [READ]
    assert rules.non_resource_rules == [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]
    assert not rules.incomplete


def test_the_bootstrap_policy_lets_components_work(world):
    resources = {
        "ClusterRole": CLUSTER_ROLES,
        "ClusterRoleBinding": CLUSTER_ROLE_BINDINGS,
        "Role": ROLES,
        "RoleBinding": ROLE_BINDINGS,
    }
    objects = world.plugin.authz_bootstrap_objects()
    for obj in objects:
        world.client.seed(resources[obj["kind"]], obj)
    world.informers.refresh()

    assert len(objects) > 100
    assert world.ask(component("system:kube-scheduler"), "list", "pods", namespace="").allowed
    assert world.plugin.authz_authorize(Attributes(BOB, "get", path="/version")).allowed
    assert not world.ask(BOB, "list", "secrets").allowed
    assert objects == world.plugin.authz_bootstrap_objects()


def test_its_host_is_ready_when_all_caches_are(world):
    host = PluginHost("authz", specs, [("RBAC", world.plugin)])

    assert not host.ready()
    world.informers.refresh()
    assert host.ready()


class TestContract(AuthzContract):
    def build(self):
        world = World()
        world.seed(ROLES, role("r", [READ], "ns"))
        world.seed(ROLE_BINDINGS, binding("b", "Role", "r", [user("bob")], "ns"))
        world.plugin.world = world
        return world.plugin

    def questions(self):
        who = {"user": BOB, "resource": "configmaps", "namespace": "ns"}
        return [Attributes(verb=verb, **who) for verb in ("get", "list", "delete")]

    def change(self, built):
        built.world.seed(ROLES, role("more", [{**READ, "verbs": ["delete"]}], "ns"))
        built.world.seed(ROLE_BINDINGS, binding("c", "Role", "more", [user("bob")], "ns"))
        return True


class TestPromises(AuthzContract):
    def build(self):
        self.world = World()
        self.world.seed(CLUSTER_ROLES, role("cr", [READ]))
        self.world.seed(CLUSTER_ROLE_BINDINGS, binding("b", "ClusterRole", "cr", [user("bob")]))
        self.world.informers.refresh()
        return self.world.plugin

    def questions(self):
        return [Attributes(BOB, verb, resource="configmaps", namespace="ns") for verb in ("get", "delete")]

    def change(self, built):
        self.world.client.delete(CLUSTER_ROLE_BINDINGS, "b")
        self.world.informers.refresh()
        return True


@pytest.mark.parametrize("on", [True, False])
def test_a_controller_behind_a_gate_has_its_role_with_the_gate(on):
    objects = bootstrap_objects({"GenericWorkload": on})

    found = [one for one in objects if one["metadata"]["name"] == "system:controller:podgroup-protection-controller"]
    assert [one["kind"] for one in found] == (["ClusterRole", "ClusterRoleBinding"] if on else [])


def test_the_scheduler_tells_what_came_of_a_pod_group():
    objects = bootstrap_objects({"GenericWorkload": True})

    (role,) = [
        one for one in objects if (one["kind"], one["metadata"]["name"]) == ("ClusterRole", "system:kube-scheduler")
    ]
    assert role["rules"][-1] == {
        "apiGroups": ["scheduling.k8s.io"],
        "resources": ["podgroups/status"],
        "verbs": ["patch", "update"],
    }


def test_what_was_decided_is_decided_again_after_it_was_forgotten(world):
    world.seed(ROLES, role("r", [READ], "ns"))
    world.seed(ROLE_BINDINGS, binding("b", "Role", "r", [user("bob")], "ns"))
    before = world.ask(BOB, "get")
    assert world.ask(BOB, "get") is before
    assert world.plugin._decisions

    world.plugin.forget()

    assert not world.plugin._decisions
    assert world.ask(BOB, "get") == before


def test_of_what_is_asked_about_an_object_only_that_is_remembered_which_comes_again(world):
    world.seed(ROLES, role("r", [READ], "ns"))
    world.seed(ROLE_BINDINGS, binding("b", "Role", "r", [user("bob")], "ns"))
    for number in range(100):
        assert world.ask(BOB, "get", name=f"once-{number}").allowed
    once = len(world.plugin._decisions)
    for _ in range(2):
        assert world.ask(BOB, "get", name="twice").allowed

    assert (once, len(world.plugin._decisions)) == (0, 1)


def test_what_is_asked_about_an_object_once_in_a_while_is_not_remembered(world):
    world.seed(ROLES, role("r", [READ], "ns"))
    world.seed(ROLE_BINDINGS, binding("b", "Role", "r", [user("bob")], "ns"))

    for _ in range(5):
        assert world.ask(BOB, "get", name="seldom").allowed
        world.client.clock.advance(AGAIN_SECONDS)

    assert not world.plugin._decisions


def test_decisions_for_one_reason_are_one_object(world):
    world.seed(ROLES, role("r", [READ], "ns"))
    world.seed(ROLE_BINDINGS, binding("b", "Role", "r", [user("bob")], "ns"))

    assert world.ask(BOB, "get", name="one") is world.ask(BOB, "list")
