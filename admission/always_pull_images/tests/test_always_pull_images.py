import pytest
from hyperkube_admission.always_pull_images import AlwaysPullImages

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def pod(image="a", **more):
    return {
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {
            "initContainers": [{"name": "i", "image": "i", **more}],
            "containers": [{"name": "c", "image": image, "imagePullPolicy": "Never"}],
            "volumes": [{"name": "v", "image": {"reference": "r"}}],
        },
    }


class TestPromises(AdmissionContract):
    plugin = AlwaysPullImages

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


def test_every_image_is_pulled():
    spec = AdmissionRig(AlwaysPullImages).create(PODS, pod())["spec"]

    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert spec["initContainers"][0]["imagePullPolicy"] == "Always"
    assert spec["volumes"][0]["image"]["pullPolicy"] == "Always"


def test_an_update_without_new_images_is_left_alone():
    rig = AdmissionRig(AlwaysPullImages)

    assert rig.update(PODS, pod(), pod())["spec"]["containers"][0]["imagePullPolicy"] == "Never"
    assert rig.update(PODS, pod(), pod("b"))["spec"]["containers"][0]["imagePullPolicy"] == "Always"


def test_a_later_plugin_cannot_undo_it():
    rig = AdmissionRig(AlwaysPullImages)
    request = rig.request("CREATE", PODS, pod(imagePullPolicy="IfNotPresent"))
    request.object["spec"]["volumes"] = []
    request.object["spec"]["containers"][0]["imagePullPolicy"] = "Always"

    with pytest.raises(Forbidden) as caught:
        rig.plugin.admission_validate(request)

    assert caught.value.message == (
        'spec.initContainers[0].imagePullPolicy: Unsupported value: "IfNotPresent": supported values: "Always"'
    )
