"""Which methods and neighbours a path that is no resource takes: the mux's paths as they are, web services by rule."""

import orjson
import pytest
from hyperkube_lib.protobuf import open_envelope
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.users import LOOPBACK
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apps", reason="needs the API groups")

MUX = ["/", "/apis", "/apis/", "/apis/apps", "/apis/apps/", "/healthz", "/livez/ping", "/openapi/v2", "/openapi/v3"]
WEB_SERVICES = ["/api", "/api/", "/api/v1", "/api/v1/", "/apis/apps/v1", "/version", "/version/", "/openid/v1/jwks"]
PROTOBUF = "application/vnd.kubernetes.protobuf"
PLAIN_404 = "404 page not found\n"


@pytest.fixture(scope="module", autouse=True)
def ready(server):
    eventually(server.ready, why="/healthz fails until the hooks of the start have ended")


def ask(server, path, method="GET", accept="*/*"):
    return server.handler.handle(HttpRequest(method=method, path=path, headers={"accept": accept}, user=LOOPBACK))


def reason(answer):
    return orjson.loads(answer.body).get("reason")


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BOGUS"])
@pytest.mark.parametrize("path", [*MUX, "/openapi/v3/apis/apps/v1", "/metrics"])
def test_a_path_of_the_mux_takes_any_method(server, path, method):
    answer = ask(server, path, method)

    assert answer.status == 200
    assert dict(answer.headers)["Content-Type"] == dict(ask(server, path).headers)["Content-Type"]


@pytest.mark.parametrize("method", ["HEAD", "POST", "DELETE", "OPTIONS", "BOGUS"])
@pytest.mark.parametrize("path", WEB_SERVICES)
def test_a_web_service_takes_get_alone(server, path, method):
    assert ask(server, path, method).status == 405
    assert reason(ask(server, path, method)) == "MethodNotAllowed"


@pytest.mark.parametrize(
    "path",
    [
        "/api/v2",
        "/api/v2/pods",
        "/apis/apps/v2",
        "/apis/apps/V1",
        "/apis/apps/deployments",
        "/apis/apps/v2/deployments",
    ],
)
def test_what_is_missing_below_a_web_service_is_a_status(server, path):
    answer = ask(server, path)

    assert answer.status == 404
    assert orjson.loads(answer.body)["message"] == "the server could not find the requested resource"


@pytest.mark.parametrize(
    "path",
    [
        *("//api/v1", "//api/v1/pods", "/API/v1", "/apis/bogus", "/apis/bogus/v1", "/apis/bogus/v1/pods"),
        *("/apis/v1/pods", "/healthz/", "/metrics/", "/openapi/v2/", "/openapi/v1", "/logs", "/logs/"),
    ],
)
def test_what_is_missing_elsewhere_is_plain_text(server, path):
    answer = ask(server, path)

    assert (answer.status, answer.body.decode()) == (404, PLAIN_404)


@pytest.mark.parametrize("path", ["/openapi/v3/", "/openapi/v3/apis/bogus/v1", "/openapi/v3/apis/apps/v1/"])
def test_an_openapi_document_that_is_missing_has_no_body(server, path):
    answer = ask(server, path)

    assert (answer.status, answer.body) == (404, b"")
    assert "Content-Type" not in dict(answer.headers)


def test_an_openapi_document_names_the_version_that_is_emulated(server):
    document = orjson.loads(ask(server, "/openapi/v3/apis/apps/v1").body)

    assert document["info"]["version"] == "1.36"


def test_profiles_have_a_folder(server):
    answer = ask(server, "/debug/pprof")

    assert (answer.status, dict(answer.headers)["Location"]) == (302, "/debug/pprof/")
    assert ask(server, "/debug/pprof/").status == 200


def test_a_log_level_can_only_be_put(server):
    answer = ask(server, "/debug/flags/v")

    assert (answer.status, answer.body) == (406, b"unsupported http method\n")


def test_a_binding_without_a_target_is_no_answer_of_validation(server):
    body = orjson.dumps({"metadata": {}})
    headers = {"content-type": "application/json"}
    path = "/api/v1/namespaces/default/bindings"

    answer = server.handler.handle(HttpRequest(method="POST", path=path, headers=headers, body=body, user=LOOPBACK))

    assert (answer.status, orjson.loads(answer.body)["message"]) == (500, "target.name: Required value")


@pytest.mark.parametrize("path", ["/api", "/apis", "/apis/apps", "/apis/apps/v1", "/api/v1"])
def test_discovery_is_written_as_protobuf_too(server, path):
    answer = ask(server, path, accept=PROTOBUF)

    assert dict(answer.headers)["Content-Type"] == PROTOBUF
    assert open_envelope(answer.body).kind == orjson.loads(ask(server, path).body)["kind"]


@pytest.mark.parametrize("media_type", ["application/json", "application/yaml", PROTOBUF])
def test_aggregated_discovery_has_every_form(server, media_type):
    wanted = f"{media_type};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

    answer = ask(server, "/apis", accept=wanted)

    assert dict(answer.headers)["Content-Type"] == wanted
    assert b"APIGroupDiscoveryList" in answer.body


@pytest.mark.parametrize("accept", ["application/yaml", "application/xml", PROTOBUF])
def test_openapi_v2_is_json_or_its_own_protobuf(server, accept):
    answer = ask(server, "/openapi/v2", accept=accept)

    assert (answer.status, answer.body) == (406, b"")
