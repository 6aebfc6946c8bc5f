"""What the resourceclaim controller tells of itself at /metrics.

Source of the cases: kubernetes ``pkg/controller/resourceclaim/controller_test.go`` (TestSyncHandler's metrics,
TestResourceClaimEventHandler).
"""

from hyperkube_controller.resourceclaim import Resourceclaim
from hyperkube_controller.resourceclaim.controller import TEMPLATES
from hyperkube_controller.resourceclaim.metrics import ANNOTATION, EXTENDED_ANNOTATION
from prometheus_client import CollectorRegistry

from hyperkube.kinds.resources import PODS, RESOURCE_CLAIMS
from hyperkube.machinery.errors import Conflict
from hyperkube.testing.controller_rig import ControllerRig


def spec(**exactly):
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", **exactly}}]}}


def pod(name="p"):
    entry = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}
    meta = {"name": name, "namespace": "d", "uid": f"u-{name}"}
    return {"kind": "Pod", "metadata": meta, "spec": {"resourceClaims": [entry]}, "status": {}}


def template(**exactly):
    return {"metadata": {"name": "one-gpu", "namespace": "d"}, "spec": {"spec": spec(**exactly)}}


def claim(name, *, allocated=False, annotations=None, **exactly):
    meta = {"name": name, "namespace": "d", "annotations": annotations or {}}
    return {"metadata": meta, "spec": spec(**exactly), "status": {"allocation": {"devices": {}}} if allocated else {}}


def value(rig, name, **labels):
    registry = CollectorRegistry()
    registry.register(rig.plugins[0]._metrics)
    return registry.get_sample_value(f"resourceclaim_controller_{name}", labels)


def claims(rig, *, allocated="false", admin_access="false", source=""):
    return value(rig, "resource_claims", allocated=allocated, admin_access=admin_access, source=source)


def test_creations_are_counted_by_how_they_ended():
    rig = ControllerRig(Resourceclaim)
    rig.client.seed(TEMPLATES, template())
    rig.client.seed(PODS, pod())
    rig.client.fail_next("create", "resourceclaims", Conflict("fake conflict"))

    rig.settle()

    assert value(rig, "creates_total", status="failure", admin_access="false") == 1
    assert value(rig, "creates_total", status="success", admin_access="false") == 1
    assert claims(rig, source="resource_claim_template") == 1


def test_creations_for_administrators_are_counted_apart():
    rig = ControllerRig(Resourceclaim)
    rig.client.seed(TEMPLATES, template(adminAccess=True))
    rig.client.seed(PODS, pod())

    rig.settle()

    assert value(rig, "creates_total", status="success", admin_access="true") == 1
    assert value(rig, "creates_total", status="success", admin_access="false") is None


def test_claims_are_counted_as_they_come_change_and_go():
    rig = ControllerRig(Resourceclaim)
    counted = []

    def count():
        rig.settle()
        counted.append((claims(rig), claims(rig, allocated="true")))

    rig.client.seed(RESOURCE_CLAIMS, claim("a"))
    count()
    rig.client.patch(RESOURCE_CLAIMS, "a", {"metadata": {"labels": {"foo": "bar"}}}, "d")
    count()
    rig.client.patch(RESOURCE_CLAIMS, "a", {"status": {"allocation": {"devices": {}}}}, "d", subresource="status")
    count()
    rig.client.seed(RESOURCE_CLAIMS, claim("b", allocated=True))
    count()
    rig.client.patch(RESOURCE_CLAIMS, "a", {"status": {"allocation": None}}, "d", subresource="status")
    count()
    rig.client.delete(RESOURCE_CLAIMS, "a", "d")
    count()
    rig.client.delete(RESOURCE_CLAIMS, "b", "d")
    count()

    assert counted == [(1, None), (1, None), (None, 1), (None, 2), (1, 1), (None, 1), (None, None)]


def test_claims_are_counted_by_what_they_were_made_for():
    rig = ControllerRig(Resourceclaim)
    rig.client.seed(
        RESOURCE_CLAIMS,
        claim("own"),
        claim("template", annotations={ANNOTATION: "gpu"}),
        claim("extended", annotations={EXTENDED_ANNOTATION: "true"}),
        claim("admin", adminAccess=True, allocated=True),
    )

    rig.settle()

    assert claims(rig) == 1
    assert claims(rig, source="resource_claim_template") == 1
    assert claims(rig, source="extended_resource") == 1
    assert claims(rig, allocated="true", admin_access="true") == 1
