"""PodPreset: what is added, to whom, and that a contradiction adds nothing."""

import logging

import pytest
from hyperkube_admission.pod_preset import POD_PRESETS, PodPreset

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

SERVED = {"runtime_config": {"settings.k8s.io/v1alpha1": "true"}}
DB = {"name": "DB", "value": "db:5432"}


def preset(name, namespace="ns", selector=None, **spec):
    labels = {"matchLabels": {"app": "web"}} if selector is None else selector
    return {
        "metadata": {"name": name, "namespace": namespace, "resourceVersion": "7"},
        "spec": {"selector": labels, **spec},
    }


def pod(annotations=None, labels=None, **container):
    return {
        "metadata": {
            "name": "p",
            "namespace": "ns",
            "labels": labels or {"app": "web"},
            "annotations": annotations or {},
        },
        "spec": {"containers": [{"name": "c", **container}], "initContainers": [{"name": "i"}]},
    }


def rig(*presets):
    made = AdmissionRig(PodPreset, settings=SERVED)
    made.seed(POD_PRESETS, *presets)
    return made


class TestPromises(AdmissionContract):
    plugin = PodPreset
    settings = SERVED

    def populate(self, rig):
        rig.client.seed(
            POD_PRESETS,
            preset("a", env=[DB], envFrom=[{"configMapRef": {"name": "m"}}], volumes=[{"name": "v", "emptyDir": {}}],
                   volumeMounts=[{"name": "v", "mountPath": "/v"}]),
        )  # fmt: skip

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


def test_all_containers_get_what_a_fitting_preset_adds():
    added = {"env": [DB], "envFrom": [{"secretRef": {"name": "s"}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    world = rig(preset("a", volumes=[{"name": "v", "emptyDir": {}}], **added))

    made = world.create(PODS, pod())

    assert made["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert made["spec"]["containers"] == [{"name": "c", **added}]
    assert made["spec"]["initContainers"] == [{"name": "i", **added}]
    (annotation,) = made["metadata"]["annotations"].items()
    assert annotation[0] == "podpreset.admission.kubernetes.io/podpreset-a"
    assert annotation[1]


def test_presets_add_up_by_name():
    world = rig(preset("b", env=[{"name": "B", "value": "2"}]), preset("a", env=[{"name": "A", "value": "1"}, DB]))

    made = world.create(PODS, pod(env=[DB]))

    assert [variable["name"] for variable in made["spec"]["containers"][0]["env"]] == ["DB", "A", "B"]


@pytest.mark.parametrize(
    "written",
    [
        pod(labels={"app": "db"}),
        pod({"podpreset.admission.kubernetes.io/exclude": "true"}),
        pod({"kubernetes.io/config.mirror": "x"}),
        {**pod(), "metadata": {"name": "p", "namespace": "other", "labels": {"app": "web"}}},
    ],
    ids=["other labels", "excluded", "mirror", "other namespace"],
)
def test_these_pods_are_left_as_they_are(written):
    assert rig(preset("a", env=[DB])).create(PODS, written)["spec"] == written["spec"]


@pytest.mark.parametrize(
    ("container", "spec", "text"),
    [
        ({"env": [{"name": "DB", "value": "mine"}]}, {"env": [DB]}, "merging env for a has a conflict on DB"),
        (
            {"volumeMounts": [{"name": "v", "mountPath": "/mine"}]},
            {"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            "merging volume mounts for a has a conflict on v",
        ),
        (
            {"volumeMounts": [{"name": "mine", "mountPath": "/v"}]},
            {"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            "merging volume mounts for a has a conflict on /v",
        ),
    ],
    ids=["variable", "mount by name", "mount by path"],
)
def test_a_contradiction_adds_nothing_at_all(container, spec, text, caplog):
    written = pod(**container)

    with caplog.at_level(logging.WARNING, "hyperkube.plugin"):
        made = rig(preset("a", **spec), preset("b", env=[{"name": "B"}])).create(PODS, written)

    assert made == written
    assert text in caplog.text


def test_an_update_adds_nothing():
    world = rig(preset("a", env=[DB]))

    assert world.update(PODS, pod(), pod())["spec"] == pod()["spec"]


def test_it_says_that_its_api_must_be_served():
    with pytest.raises(UsageError, match="needs its API: --runtime-config"):
        AdmissionRig(PodPreset)
