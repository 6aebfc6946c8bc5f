import pytest
from hyperkube_admission.validating_admission_webhook import CONFIGURATIONS, ValidatingAdmissionWebhook
from hyperkube_testing.peers.webhook_server import WebhookServer

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import ApiError, Forbidden, InternalError
from hyperkube.testing.admission_rig import AdmissionRig

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}}


def webhook(server, name="w.example.com", **more):
    return {
        "name": name,
        "clientConfig": {"url": server.url, "caBundle": server.ca_bundle},
        "rules": [RULE],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 5,
        **more,
    }


@pytest.fixture
def rig():
    rig = AdmissionRig(ValidatingAdmissionWebhook)
    rig.seed(NAMESPACES, {"metadata": {"name": "ns"}})
    return rig


def configure(rig, *webhooks, name="conf"):
    rig.seed(CONFIGURATIONS, {"metadata": {"name": name}, "webhooks": list(webhooks)})


def test_what_all_allow_passes(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server:
        configure(rig, webhook(server), webhook(server, "x.example.com"))

        assert rig.create(CONFIG_MAPS, OBJECT) == OBJECT

    assert len(server.reviews) == 2


def test_the_first_refusal_by_order_is_the_answer(rig):
    with WebhookServer(lambda _: {"allowed": False, "status": {"message": "no"}}) as server:
        configure(rig, webhook(server, "a.example.com"), webhook(server, "b.example.com"))

        with pytest.raises(ApiError) as caught:
            rig.create(CONFIG_MAPS, OBJECT)

    assert caught.value.message == 'admission webhook "a.example.com" denied the request: no'


def test_a_deletion_shows_the_old_object_only(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server:
        configure(rig, webhook(server))

        rig.delete(CONFIG_MAPS, OBJECT)

    asked = server.reviews[0]["request"]
    assert (asked["operation"], asked["object"], asked["oldObject"]) == ("DELETE", None, OBJECT)


def test_an_error_of_the_server_is_a_failure_that_may_be_passed_over(rig):
    with WebhookServer(lambda _: b"broken") as server:
        server.status = 500
        configure(rig, webhook(server, failurePolicy="Ignore"))
        request = rig.request("CREATE", CONFIG_MAPS, OBJECT)
        rig.admit(request)
        configure(rig, webhook(server), name="other")

        with pytest.raises(InternalError) as caught:
            rig.create(CONFIG_MAPS, OBJECT)

    assert request.annotations == {"failed-open.validating.webhook.admission.k8s.io/round_0_index_0": "w.example.com"}
    assert 'an error on the server ("broken") has prevented the request from succeeding' in caught.value.message


def test_a_condition_that_fails_closes_or_opens_with_the_policy(rig):
    broken = [{"name": "c", "expression": "object.nothing == 1"}]
    with WebhookServer(lambda _: {"allowed": True}) as server:
        configure(rig, webhook(server, matchConditions=broken, failurePolicy="Ignore"))
        rig.create(CONFIG_MAPS, OBJECT)
        configure(rig, webhook(server, matchConditions=broken), name="other")

        with pytest.raises(Forbidden, match="resulted in error: no such key: nothing"):
            rig.create(CONFIG_MAPS, OBJECT)

    assert not server.reviews


@pytest.mark.slow
def test_a_server_that_hangs_is_given_up(rig):
    import threading

    released = threading.Event()

    def hang(_review):
        released.wait(10)
        return {"allowed": True}

    with WebhookServer(hang) as server:
        configure(rig, webhook(server, timeoutSeconds=1))

        with pytest.raises(InternalError, match="context deadline exceeded"):
            rig.create(CONFIG_MAPS, OBJECT)
        released.set()
