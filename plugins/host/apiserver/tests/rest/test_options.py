"""Options of writes and deletions, over the whole server."""

import orjson
import pytest
from hyperkube_host.apiserver.rest.options import manager_errors
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

BASE = "/api/v1/namespaces/default/configmaps"
SCHEME = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"


def ask(server, method, path=f"{BASE}/none", body=b"", query=""):
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = {"content-type": "application/json"}
    request = HttpRequest(method=method, path=path, query_string=query, headers=headers, body=content, user=LOOPBACK)
    answer = server.handler.handle(request)
    warnings = [value for name, value in answer.headers if name == "Warning"]
    return answer.status, orjson.loads(answer.body).get("message"), warnings


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        (
            {"gracePeriodSeconds": "x"},
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        (
            {"preconditions": 5},
            "json: cannot unmarshal number into Go struct field DeleteOptions.preconditions of type v1.Preconditions",
        ),
        ({"kind": "Pod", "apiVersion": "v1"}, f'no kind "Pod" is registered for version "v1" in scheme "{SCHEME}"'),
        ({"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c"),
    ],
)
def test_delete_options_that_cannot_be_decoded_are_refused_in_the_decoders_words(server, body, message):
    assert ask(server, "DELETE", body=body) == (400, message, [])


def test_delete_options_are_not_read_strictly(server):
    assert ask(server, "DELETE", body={"bogus": 1}) == (404, 'configmaps "none" not found', [])


@pytest.mark.parametrize("query", ["propagationPolicy=", "dryRun="])
def test_an_option_without_a_value_is_a_wrong_value(server, query):
    status, message, _ = ask(server, "DELETE", query=query)

    assert status == 422
    assert "Unsupported value" in message


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_dry_run_without_a_value_is_refused(server, method):
    path, body = (BASE if method == "POST" else f"{BASE}/a"), {"metadata": {"name": "a"}}

    status, message, _ = ask(server, method, path, body, "dryRun=")

    assert status == 422
    assert message.endswith(
        'Options.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported values: "All"'
    )


def test_every_character_of_a_manager_that_is_not_printable_is_named_by_its_byte():
    assert [error.detail for error in manager_errors("é\na\t")] == [
        "invalid character U+000A (at position 2)",
        "invalid character U+0009 (at position 4)",
    ]


def test_nothing_is_exported_any_more(server):
    assert ask(server, "GET", query="export=true")[0] == 400
    assert ask(server, "GET", query="export=false")[0] == 404
