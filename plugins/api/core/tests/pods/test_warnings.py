"""Warnings for pods alone, not for templates."""

import pytest
from hyperkube_api.core.pod_specs.warnings import template_warnings
from hyperkube_api.core.pod_specs.warnings.names import workload_name_warnings
from hyperkube_api.core.pods.app_armor import apply_app_armor_annotations
from hyperkube_api.core.pods.warnings import pod_warnings

APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
PROFILE = {"seccompProfile": {"type": "RuntimeDefault"}, "appArmorProfile": {"type": "Unconfined"}}


@pytest.mark.parametrize(
    ("text", "spec", "noted"),
    [
        ("unconfined", {}, ["foo"]),
        ("odd", {}, ["foo"]),
        ("unconfined", {"securityContext": PROFILE}, []),
        ("runtime/default", {"securityContext": PROFILE}, ["foo"]),
        ("unconfined", {"containers": [{"name": "foo", "securityContext": PROFILE}]}, []),
        ("unconfined", {"containers": [{"name": "bar"}]}, []),
        ("unconfined", {"os": {"name": "windows"}}, []),
    ],
    ids=["copied", "not-understood", "as-the-pod", "unlike-the-pod", "own-field", "other", "windows"],
)
def test_a_pods_app_armor_annotation_is_noted_where_it_counts(text, spec, noted):
    pod = {"metadata": {"annotations": {APP_ARMOR + "foo": text}}, "spec": {"containers": [{"name": "foo"}], **spec}}

    assert apply_app_armor_annotations(pod) == noted


def test_names_are_used_in_host_names():
    advice = "which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"

    assert pod_warnings({"metadata": {"name": "a.b"}}, None) == [
        f"metadata.name: this is used in the Pod's hostname, {advice}"
    ]
    assert workload_name_warnings({"metadata": {"name": "a.b"}}) == [
        f"metadata.name: this is used in Pod names and hostnames, {advice}"
    ]
    assert workload_name_warnings({"metadata": {"name": "ab"}}) == []


def test_updates_of_pods_are_not_warned_of_and_no_template_is_fine():
    assert pod_warnings({"spec": {"hostAliases": [{"ip": "1.1.1.1"}] * 2}}, {}) == []
    assert template_warnings(None, "spec.template", None) == []
