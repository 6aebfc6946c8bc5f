"""Plugins bring the rules of their accounts, in a file beside them."""

import pytest
from hyperkube_authz.rbac.plugin_roles import PluginRole, plugin_roles
from hyperkube_authz.rbac.policy import bootstrap_objects

from hyperkube.machinery.errors import UsageError

ENTRIES = """
[hyperkube.controller]
acme-site = acme_site:Site
acme-quiet = acme_site:Quiet
[hyperkube.scheduler]
AcmeScore = acme_site:Score
[hyperkube.server]
acme-logger = acme_site:LOGGER
"""
RULE = {"apiGroups": ["example.com"], "resources": ["sites"], "verbs": ["get", "update"]}
LINE = 'rules = [{apiGroups = ["example.com"], resources = ["sites"], verbs = ["get", "update"]}]'


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Install a distribution with two controllers, a scheduling plugin and a server; return a writer of its rules."""
    info = tmp_path / "acme_site-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-site\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "acme_site.py").write_text("raise AssertionError('it is not imported')")
    monkeypatch.syspath_prepend(tmp_path)
    return (tmp_path / "acme_site.rbac.toml").write_text


def brought():
    return [role for role in plugin_roles() if "example.com" in str(role.rules)]


def test_a_controllers_rules_are_its_accounts(site):
    site(f"[acme-site]\n{LINE}\n")

    account = {"kind": "ServiceAccount", "name": "acme-site-controller", "namespace": "kube-system"}
    assert brought() == [PluginRole("system:controller:acme-site-controller", account, [RULE])]


def test_the_account_is_the_one_that_the_manager_gives(site, tmp_path):
    site(f"[acme-site]\n{LINE}\n")
    (tmp_path / "acme_site.controller.toml").write_text('[acme-site]\nservice_account = "site-keeper"\n')

    assert [role.subject["name"] for role in brought()] == ["site-keeper"]


def test_a_scheduling_plugins_rules_are_the_schedulers(site):
    site(f"[AcmeScore]\n{LINE}\n")

    (role,) = brought()

    assert role.role == "system:kube-scheduler:AcmeScore"
    assert (role.subject["kind"], role.subject["name"]) == ("User", "system:kube-scheduler")


def test_other_plugins_name_their_account(site):
    site(f'[acme-logger]\ngroup = "loggers"\n{LINE}\n')

    (role,) = brought()

    assert (role.role, role.subject["kind"]) == ("loggers:acme-logger", "Group")


def test_the_default_policy_has_the_role_and_its_binding(site):
    site(f"[acme-site]\n{LINE}\n")

    objects = bootstrap_objects(None, plugin_roles())

    named = {obj["kind"]: obj for obj in objects if obj["metadata"]["name"] == "system:controller:acme-site-controller"}
    assert named["ClusterRole"]["rules"] == [RULE]
    assert named["ClusterRoleBinding"]["roleRef"]["name"] == "system:controller:acme-site-controller"
    assert [subject["name"] for subject in named["ClusterRoleBinding"]["subjects"]] == ["acme-site-controller"]


def test_rules_for_an_account_that_has_a_role_are_added_to_it(site):
    site(f'[acme-site]\nservice_account = "ttl-controller"\n{LINE}\n')

    usual, more = (
        {obj["metadata"]["name"]: obj for obj in bootstrap_objects(None, roles) if obj["kind"] == "ClusterRole"}
        for roles in ((), plugin_roles())
    )

    name = "system:controller:ttl-controller"
    assert more[name]["rules"] == [*usual[name]["rules"], RULE]
    assert not [name for name in more.keys() - usual.keys() if "acme" in name]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("acme-site = 3", "acme-site must be a table"),
        ("[acme-site]", r"acme-site\.rules must be a list"),
        (f"[acme-site]\nrule = 1\n{LINE}", r"acme-site\.rule is unknown \(did you mean 'rules'\?"),
        ('[acme-site]\nrules = [{verb = ["get"]}]', r"rules\[0\]\.verb is unknown \(did you mean 'verbs'\?"),
        ('[acme-site]\nrules = [{verbs = "get"}]', r"rules\[0\]\.verbs must be a list of strings"),
        ('[acme-site]\nrules = [{resources = ["pods"]}]', r"rules\[0\]\.verbs is missing"),
        (f"[acme-logger]\n{LINE}", "acme-logger must name its account: one of service_account, user, group"),
        (f'[acme-site]\nuser = "a"\ngroup = "b"\n{LINE}', "acme-site names more than one account"),
    ],
)
def test_a_mistake_names_the_file(site, text, why):
    site(text)

    with pytest.raises(UsageError, match=rf"acme_site\.rbac\.toml: .*{why}"):
        plugin_roles()
