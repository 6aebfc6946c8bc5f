"""The bundle's file is consistent and the loader reads it."""

from hyperkube.plugin import PluginContext, defaults
from hyperkube.plugin.loader import installed


def test_every_enabled_admission_plugin_has_a_place_in_the_order():
    enabled = defaults.enabled_by_default("admission")

    assert enabled
    assert set(enabled) <= set(defaults.order("admission"))


def test_a_plugin_the_bundle_does_not_know_runs_before_the_policies():
    names = {"ResourceQuota", "RequireTeamLabel", "NamespaceLifecycle", "MutatingAdmissionPolicy"}

    arranged = defaults.arranged("admission", names)

    assert arranged == ["NamespaceLifecycle", "RequireTeamLabel", "MutatingAdmissionPolicy", "ResourceQuota"]


def offers_versions(plugin):
    return hasattr(plugin, "api_group_versions")


def test_api_groups_that_a_plain_server_leaves_out_are_those_of_removed_versions_alone():
    plugins = [entry.load()(PluginContext(name=name)) for name, entry in installed("api").items()]

    served = {plugin.context.name: [*plugin.api_group_versions()] for plugin in plugins if offers_versions(plugin)}
    removed = {name for name, versions in served.items() if versions and all(version.legacy for version in versions)}

    assert set(defaults.enabled_by_default("api", "legacy")) == removed
