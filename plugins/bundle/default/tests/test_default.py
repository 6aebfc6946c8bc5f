"""The bundle's file is consistent and the loader reads it."""

from hyperkube.plugin import defaults


def test_every_enabled_admission_plugin_has_a_place_in_the_order():
    enabled = defaults.enabled_by_default("admission")

    assert enabled
    assert set(enabled) <= set(defaults.order("admission"))


def test_a_plugin_the_bundle_does_not_know_runs_before_the_policies():
    names = {"ResourceQuota", "RequireTeamLabel", "NamespaceLifecycle", "MutatingAdmissionPolicy"}

    arranged = defaults.arranged("admission", names)

    assert arranged == ["NamespaceLifecycle", "RequireTeamLabel", "MutatingAdmissionPolicy", "ResourceQuota"]
