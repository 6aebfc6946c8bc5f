from base64 import b64encode

import orjson
import pytest
from hyperkube_admission.mutating_admission_webhook import CONFIGURATIONS, MutatingAdmissionWebhook
from hyperkube_testing.peers.webhook_server import WebhookServer

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import ApiError, BadRequest, InternalError
from hyperkube.testing.admission_rig import AdmissionRig

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}}


def patching(*operations):
    patch = b64encode(orjson.dumps(list(operations))).decode()
    return {"allowed": True, "patch": patch, "patchType": "JSONPatch"}


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
    rig = AdmissionRig(MutatingAdmissionWebhook)
    rig.seed(NAMESPACES, {"metadata": {"name": "ns", "labels": {"team": "a"}}})
    return rig


def configure(rig, *webhooks, name="conf"):
    rig.seed(CONFIGURATIONS, {"metadata": {"name": name}, "webhooks": list(webhooks)})


def test_a_patch_changes_the_object_and_is_noted(rig):
    with WebhookServer(lambda _: patching({"op": "add", "path": "/data", "value": {"x": "1"}})) as server:
        configure(rig, webhook(server))
        request = rig.request("CREATE", CONFIG_MAPS, OBJECT, options={"kind": "CreateOptions"})

        rig.admit(request)

    assert request.object["data"] == {"x": "1"}
    assert request.wants_reinvocation
    note = request.annotations["mutation.webhook.admission.k8s.io/round_0_index_0"]
    assert orjson.loads(note) == {"configuration": "conf", "webhook": "w.example.com", "mutated": True}


def test_the_review_says_what_is_asked(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server:
        configure(rig, webhook(server))

        rig.create(CONFIG_MAPS, OBJECT)

    asked = server.reviews[0]["request"]
    assert server.reviews[0]["apiVersion"] == "admission.k8s.io/v1"
    assert asked["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert asked["userInfo"]["username"] == "alice"
    assert (asked["name"], asked["namespace"], asked["operation"], asked["dryRun"]) == ("c", "ns", "CREATE", False)
    assert asked["object"] == OBJECT
    assert asked["oldObject"] is None


def test_an_older_version_is_spoken_where_that_is_all_that_is_known(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server:
        configure(rig, webhook(server, admissionReviewVersions=["v2", "v1beta1"]))

        rig.create(CONFIG_MAPS, OBJECT)

    assert server.reviews[0]["apiVersion"] == "admission.k8s.io/v1beta1"


@pytest.mark.parametrize(
    ("response", "text", "code", "reason"),
    [
        ({"allowed": False}, " without explanation", 400, ""),
        ({"allowed": False, "status": {"message": "no", "code": 403, "reason": "Forbidden"}}, ": no", 403, "Forbidden"),
        ({"allowed": False, "status": {"reason": "because", "code": 200}}, ": because", 400, "because"),
    ],
    ids=["nothing", "status", "reason"],
)
def test_a_refusal_carries_the_webhooks_words(rig, response, text, code, reason):
    with WebhookServer(lambda _: response) as server:
        configure(rig, webhook(server))

        with pytest.raises(ApiError) as caught:
            rig.create(CONFIG_MAPS, OBJECT)

    status = caught.value.status()
    assert status["message"] == f'admission webhook "w.example.com" denied the request{text}'
    assert (status["code"], status.get("reason", "")) == (code, reason)


def test_warnings_and_annotations_are_taken_over(rig):
    with WebhookServer(lambda _: {"allowed": True, "warnings": ["mind"], "auditAnnotations": {"k": "v"}}) as server:
        configure(rig, webhook(server))
        request = rig.request("CREATE", CONFIG_MAPS, OBJECT)

        rig.admit(request)

    assert request.warnings == ["mind"]
    assert request.annotations["w.example.com/k"] == "v"


def test_a_webhook_that_is_down_refuses_or_is_passed_over(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server:
        closed, opened = webhook(server), webhook(server, "o.example.com", failurePolicy="Ignore")
    configure(rig, opened)

    assert rig.create(CONFIG_MAPS, OBJECT) == OBJECT

    configure(rig, closed, name="other")
    with pytest.raises(InternalError) as caught:
        rig.create(CONFIG_MAPS, OBJECT)
    port = server.url.split(":")[2].split("/")[0]
    assert caught.value.message == (
        'Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: '
        f'Post "https://127.0.0.1:{port}/review?timeout=5s": dial tcp 127.0.0.1:{port}: connect: connection refused'
    )


def test_a_server_with_a_foreign_certificate_is_not_asked(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server, WebhookServer(lambda _: {"allowed": True}) as other:
        configure(rig, webhook(server, clientConfig={"url": server.url, "caBundle": other.ca_bundle}))

        with pytest.raises(InternalError, match="x509: certificate signed by unknown authority"):
            rig.create(CONFIG_MAPS, OBJECT)

    assert not server.reviews


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{}", "received invalid webhook response: webhook response was absent"),
        (b"nonsense", "received invalid webhook response: couldn't get version/kind"),
        (
            b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"x","allowed":true}}',
            "received invalid webhook response: expected response.uid=",
        ),
    ],
    ids=["absent", "no json", "other uid"],
)
def test_an_answer_that_breaks_the_protocol_is_a_failure(rig, body, text):
    with WebhookServer(lambda _: body) as server:
        configure(rig, webhook(server))

        with pytest.raises(InternalError, match=text):
            rig.create(CONFIG_MAPS, OBJECT)


def test_a_patch_needs_its_type(rig):
    with WebhookServer(lambda _: {"allowed": True, "patch": "W10="}) as server:
        configure(rig, webhook(server))

        with pytest.raises(InternalError, match=r"webhook returned response\.patch but not response\.patchType"):
            rig.create(CONFIG_MAPS, OBJECT)


def test_a_webhook_with_side_effects_is_not_asked_in_a_dry_run(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server:
        configure(rig, webhook(server, sideEffects="Some"))

        with pytest.raises(BadRequest, match=r'admission webhook "w\.example\.com" does not support dry run'):
            rig.create(CONFIG_MAPS, OBJECT, dry_run=True)

    assert not server.reviews


@pytest.mark.parametrize(
    "more",
    [
        {"rules": [{**RULE, "operations": ["UPDATE"]}]},
        {"rules": [{**RULE, "resources": ["configmaps/status"]}]},
        {"rules": [{**RULE, "scope": "Cluster"}]},
        {"namespaceSelector": {"matchLabels": {"team": "b"}}},
        {"objectSelector": {"matchLabels": {"a": "b"}}},
        {"matchConditions": [{"name": "c", "expression": "object.metadata.name == 'other'"}]},
    ],
    ids=["operation", "subresource", "scope", "namespace", "object", "condition"],
)
def test_a_webhook_that_is_not_meant_is_not_asked(rig, more):
    with WebhookServer(lambda _: {"allowed": False}) as server:
        configure(rig, webhook(server, **more))

        rig.create(CONFIG_MAPS, OBJECT)

    assert not server.reviews


def test_its_own_configuration_is_out_of_reach(rig):
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    with WebhookServer(lambda _: {"allowed": False}) as server:
        configure(rig, webhook(server, rules=[rule]))

        rig.create(CONFIGURATIONS, {"kind": "MutatingWebhookConfiguration", "metadata": {"name": "x"}})

    assert not server.reviews


def test_an_earlier_webhook_that_wishes_it_sees_what_a_later_one_did(rig):
    def count(review):
        return patching({"op": "add", "path": "/metadata/annotations", "value": {"seen": str(len(early.reviews))}})

    late = WebhookServer(lambda _: patching({"op": "add", "path": "/data", "value": {"late": "1"}}))
    with WebhookServer(count) as early, late:
        configure(rig, webhook(early, "a.example.com", reinvocationPolicy="IfNeeded"), webhook(late, "b.example.com"))
        request = rig.request("CREATE", CONFIG_MAPS, OBJECT)
        rig.plugin.admission_mutate(request=request)
        assert request.wants_reinvocation
        request.is_reinvocation = True

        rig.plugin.admission_mutate(request=request)

    assert len(early.reviews) == 2
    assert len(late.reviews) == 1
    assert early.reviews[1]["request"]["object"]["data"] == {"late": "1"}


def test_a_service_is_reached_through_its_endpoints(rig):
    from hyperkube.kinds.resources import ENDPOINTS, SERVICES

    with WebhookServer(lambda _: patching({"op": "add", "path": "/data", "value": {}}), dns=("hook.ns.svc",)) as server:
        meta = {"name": "hook", "namespace": "ns"}
        ports = [{"name": "https", "port": 443}]
        rig.seed(
            SERVICES, {"metadata": meta, "spec": {"ports": ports, "clusterIP": "10.0.0.1", "selector": {"a": "b"}}}
        )
        subset = {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"name": "https", "port": server.port}]}
        rig.seed(ENDPOINTS, {"metadata": meta, "subsets": [subset]})
        service = {"name": "hook", "namespace": "ns", "path": "/review"}
        configure(rig, webhook(server, clientConfig={"service": service, "caBundle": server.ca_bundle}))

        assert rig.create(CONFIG_MAPS, OBJECT)["data"] == {}


def test_a_service_that_is_missing_is_named(rig):
    with WebhookServer(lambda _: {"allowed": True}) as server:
        service = {"name": "gone", "namespace": "ns"}
        configure(rig, webhook(server, clientConfig={"service": service}))

        with pytest.raises(InternalError) as caught:
            rig.create(CONFIG_MAPS, OBJECT)

    assert caught.value.message.endswith('Post "https://gone.ns.svc:443/?timeout=5s": service "gone" not found')
