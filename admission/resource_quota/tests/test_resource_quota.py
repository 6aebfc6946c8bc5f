import pytest
from hyperkube_admission.resource_quota import ResourceQuota

from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, PODS, RESOURCE_QUOTAS, SERVICES
from hyperkube.machinery.errors import Conflict, Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def quota(hard, used=None, name="q", **spec):
    used = dict.fromkeys(hard, "0") | (used or {})
    return {
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"hard": hard, **spec},
        "status": {"hard": hard, "used": used},
    }


def pod(cpu=None, name="p"):
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    return {
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"containers": [{"name": "c", "resources": resources}]},
    }


def service(kind="ClusterIP", version="1"):
    spec = {"type": kind, "ports": [{"port": 80}, {"port": 81}]}
    return {"metadata": {"name": "s", "namespace": "ns", "resourceVersion": version}, "spec": spec}


CONFIG_MAP = {"metadata": {"name": "c", "namespace": "ns"}}


def rig_with(*quotas):
    rig = AdmissionRig(ResourceQuota)
    rig.seed(RESOURCE_QUOTAS, *quotas)
    return rig


def used(rig, name="q"):
    return rig.client.get(RESOURCE_QUOTAS, name, "ns")["status"]["used"]


class TestPromises(AdmissionContract):
    plugin = ResourceQuota

    def populate(self, rig):
        rig.client.seed(RESOURCE_QUOTAS, quota({"pods": "5", "requests.cpu": "4"}))

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod("1"))]


def test_what_is_created_is_charged():
    rig = rig_with(quota({"pods": "2", "requests.cpu": "1"}), quota({"count/pods": "9"}, name="r"))

    rig.create(PODS, pod("600m"))

    assert used(rig) == {"pods": "1", "requests.cpu": "600m"}
    assert used(rig, "r") == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("resource", "obj", "hard", "before", "message"),
    [
        (
            PODS,
            pod("900m"),
            {"pods": "2", "requests.cpu": "1"},
            {"pods": "2", "requests.cpu": "700m"},
            (
                "exceeded quota: q, requested: pods=1,requests.cpu=900m, used: pods=2,requests.cpu=700m, "
                "limited: pods=2,requests.cpu=1"
            ),
        ),
        (
            CONFIG_MAPS,
            CONFIG_MAP,
            {"configmaps": "1"},
            {"configmaps": "1"},
            "exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1",
        ),
        (
            DEPLOYMENTS,
            CONFIG_MAP,
            {"count/deployments.apps": "0"},
            {},
            (
                "exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, "
                "limited: count/deployments.apps=0"
            ),
        ),
        (PODS, pod(), {"requests.cpu": "1"}, {}, "failed quota: q: must specify requests.cpu for: c"),
    ],
)
def test_more_than_the_quota_allows_is_refused(resource, obj, hard, before, message):
    rig = rig_with(quota(hard, before))

    with pytest.raises(Forbidden) as caught:
        rig.create(resource, obj)

    assert caught.value.message == message
    assert used(rig) == dict.fromkeys(hard, "0") | before


def test_a_quota_that_was_not_counted_yet_is_waited_for():
    fresh = quota({"pods": "1"})
    fresh["status"]["used"] = {}

    with pytest.raises(Forbidden, match="status unknown for quota: q, resources: pods"):
        rig_with(fresh).create(PODS, pod())


def test_an_update_is_charged_the_difference():
    rig = rig_with(quota({"services.nodeports": "2", "services": "1"}, {"services": "1"}))

    rig.update(SERVICES, service(), service("NodePort"))

    assert used(rig) == {"services": "1", "services.nodeports": "2"}


def test_a_charge_is_given_back_when_the_write_fails():
    rig = rig_with(quota({"pods": "2"}))
    request = rig.admit(rig.request("CREATE", PODS, pod()))
    assert used(rig) == {"pods": "1"}

    for give_back in reversed(request.on_failure):
        give_back()

    assert used(rig) == {"pods": "0"}


def test_a_faster_writer_is_met_by_counting_again():
    rig = rig_with(quota({"pods": "2"}))
    rig.client.fail_next("update", "resourcequotas", Conflict("the object has been modified"))

    rig.create(PODS, pod())

    assert used(rig) == {"pods": "1"}


def test_a_dry_run_is_checked_but_not_charged():
    rig = rig_with(quota({"pods": "0"}))

    with pytest.raises(Forbidden):
        rig.create(PODS, pod(), dry_run=True)


def test_other_namespaces_and_scopes_are_not_charged():
    rig = rig_with(quota({"pods": "0"}, scopes=["Terminating"]))

    rig.create(PODS, pod())
    rig.create(PODS, pod(), namespace="other")
