"""Removed versions of workloads and networking: their promises, and the defaults they had."""

import pytest
from hyperkube_api.legacy_workloads.apps import LegacyAppsApi
from hyperkube_api.legacy_workloads.autoscaling import LegacyAutoscalingApi
from hyperkube_api.legacy_workloads.batch import LegacyBatchApi
from hyperkube_api.legacy_workloads.extensions import ExtensionsApi
from hyperkube_api.legacy_workloads.networking import LegacyNetworkingApi
from hyperkube_api.legacy_workloads.policy import LegacyPolicyApi
from hyperkube_testing.legacy_api import LegacyApiContract, canonical, spec_named

from hyperkube.machinery.objects import copy_object

PLUGINS = (LegacyAppsApi, LegacyAutoscalingApi, LegacyBatchApi, ExtensionsApi, LegacyNetworkingApi, LegacyPolicyApi)


def spec_of(name):
    return spec_named(name, *PLUGINS)


def test_each_says_what_to_use_instead():
    messages = [spec_of(name).deprecated for name in ("ingresses.v1beta1.extensions", "deployments.v1beta2.apps")]

    assert messages == [
        "extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress",
        "apps/v1beta2 Deployment is deprecated in v1.9+, unavailable in v1.16+; use apps/v1 Deployment",
    ]


def defaulted(name, **spec):
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    declared = spec_of(name)
    obj = {"metadata": {"name": "a"}, "spec": {"template": template, **spec}}
    obj = canonical(declared.schema, declared.kind, obj)
    declared.strategy.default(obj)
    again = copy_object(obj)
    declared.strategy.default(again)
    assert again == obj
    return obj


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "deployments.v1beta1.extensions",
            {
                "revisionHistoryLimit": 2147483647,
                "progressDeadlineSeconds": 2147483647,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}},
            },
        ),
        (
            "deployments.v1beta1.apps",
            {
                "revisionHistoryLimit": 2,
                "progressDeadlineSeconds": 600,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
            },
        ),
        ("daemonsets.v1beta1.extensions", {"updateStrategy": {"type": "OnDelete"}, "revisionHistoryLimit": 10}),
        ("statefulsets.v1beta1.apps", {"updateStrategy": {"type": "OnDelete"}, "replicas": 1}),
        ("replicasets.v1beta1.extensions", {"replicas": 1}),
    ],
)
def test_workloads_keep_the_defaults_they_had(name, expected):
    obj = defaulted(name)

    assert obj["metadata"]["labels"] == {"app": "a"}
    assert obj["spec"]["selector"] == {"matchLabels": {"app": "a"}}
    assert {member: obj["spec"][member] for member in expected} == expected


def test_the_last_version_before_todays_has_no_selector_to_give():
    obj = defaulted("deployments.v1beta2.apps")

    assert obj["spec"].get("selector") is None
    assert obj["spec"]["revisionHistoryLimit"] == 10


def test_a_rollback_and_a_templates_generation_are_annotations_in_the_store():
    deployment, daemon_set = spec_of("deployments.v1beta1.extensions"), spec_of("daemonsets.v1beta1.extensions")

    stored = deployment.to_storage({"metadata": {"annotations": {"a": "b"}}, "spec": {"rollbackTo": {"revision": 3}}})
    counted = daemon_set.to_storage({"metadata": {}, "spec": {"templateGeneration": 4}})

    assert stored["metadata"]["annotations"] == {"a": "b", "deprecated.deployment.rollback.to": "3"}
    assert deployment.from_storage(stored)["spec"] == {"rollbackTo": {"revision": 3}}
    assert counted["metadata"]["annotations"] == {"deprecated.daemonset.template.generation": "4"}
    assert daemon_set.from_storage(counted)["spec"] == {"templateGeneration": 4}


def test_an_empty_selector_of_a_budget_meant_no_pods():
    spec = spec_of("poddisruptionbudgets.v1beta1.policy")
    key = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

    stored = spec.to_storage({"spec": {"selector": {}}})
    shown = spec.from_storage({"spec": {"selector": {}}})

    assert stored["spec"]["selector"] == {"matchExpressions": [{"key": key, "operator": "Exists"}]}
    assert shown["spec"]["selector"] == {"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]}


def test_a_metric_was_flat_and_behaviour_an_annotation():
    spec = spec_of("horizontalpodautoscalers.v2beta1.autoscaling")
    flat = {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 50}}
    annotations = {"autoscaling.alpha.kubernetes.io/behavior": '{"scaleUp":{"selectPolicy":"Max"}}'}

    stored = spec.to_storage({"metadata": {"annotations": annotations}, "spec": {"metrics": [flat]}})

    target = {"type": "Utilization", "averageUtilization": 50}
    assert stored["spec"] == {
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        "behavior": {"scaleUp": {"selectPolicy": "Max"}},
    }
    back = spec.from_storage(stored)
    assert (back["metadata"]["annotations"], back["spec"]) == (annotations, {"metrics": [flat]})


def test_a_backend_is_a_service_and_its_port():
    spec = spec_of("ingresses.v1beta1.extensions")

    stored = spec.to_storage({"spec": {"backend": {"serviceName": "web", "servicePort": "http"}}})

    assert stored["spec"] == {"defaultBackend": {"service": {"name": "web", "port": {"name": "http"}}}}
    assert spec.from_storage(stored)["spec"] == {"backend": {"serviceName": "web", "servicePort": "http"}}


def test_a_jobs_selector_was_its_authors_unless_it_said_otherwise():
    spec = spec_of("jobs.v1beta1.extensions")

    assert spec.to_storage({"spec": {"parallelism": 1}})["spec"] == {"parallelism": 1, "manualSelector": True}
    assert spec.to_storage({"spec": {"autoSelector": True}})["spec"] == {}
    assert spec.from_storage({"spec": {}})["spec"] == {"autoSelector": True}
    assert spec.from_storage({"spec": {"manualSelector": True}})["spec"] == {}


def test_a_job_without_a_selector_has_the_labels_of_its_template():
    obj = defaulted("jobs.v1beta1.extensions")

    assert obj["spec"]["selector"] == {"matchLabels": {"app": "a"}}
    assert obj["metadata"]["labels"] == {"app": "a"}
    assert (obj["spec"]["completions"], obj["spec"]["parallelism"]) == (1, 1)


def test_an_autoscaler_had_one_percentage_and_a_reference_with_a_subresource():
    spec = spec_of("horizontalpodautoscalers.v1beta1.extensions")
    reference = {"kind": "Deployment", "name": "web", "apiVersion": "extensions/v1beta1"}
    old = {"scaleRef": {**reference, "subresource": "scale"}, "maxReplicas": 5, "minReplicas": 1}

    stored = spec.to_storage({"metadata": {}, "spec": {**old, "cpuUtilization": {"targetPercentage": 70}}})

    assert stored["spec"]["scaleTargetRef"] == reference
    target = {"type": "Utilization", "averageUtilization": 70}
    assert stored["spec"]["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert spec.from_storage(stored)["spec"] == {**old, "cpuUtilization": {"targetPercentage": 70}}


class TestLegacyAppsApi(LegacyApiContract):
    plugin = LegacyAppsApi
    module = "hyperkube_api.apps.v1"


class TestLegacyAutoscalingApi(LegacyApiContract):
    plugin = LegacyAutoscalingApi
    module = "hyperkube_api.autoscaling.v2"
    tidied = frozenset({"HorizontalPodAutoscaler"})


class TestLegacyBatchApi(LegacyApiContract):
    plugin = LegacyBatchApi
    module = "hyperkube_api.batch.v1"


class TestExtensionsApi(LegacyApiContract):
    plugin = ExtensionsApi
    module = "hyperkube_api.apps.v1"
    modules = {  # noqa: RUF012 -- as the contract declares it
        **dict.fromkeys(("Ingress", "NetworkPolicy"), "hyperkube_api.networking.v1"),
        "HorizontalPodAutoscaler": "hyperkube_api.autoscaling.v2",
        "Job": "hyperkube_api.batch.v1",
    }
    tidied = frozenset({"DaemonSet", "HorizontalPodAutoscaler", "Ingress"})


class TestLegacyNetworkingApi(LegacyApiContract):
    plugin = LegacyNetworkingApi
    module = "hyperkube_api.networking.v1"
    tidied = frozenset({"Ingress"})


class TestLegacyPolicyApi(LegacyApiContract):
    plugin = LegacyPolicyApi
    module = "hyperkube_api.policy.v1"
