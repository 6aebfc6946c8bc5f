"""Who may ask the console for what."""

import pytest
from hyperkube_lib.console.gate import CONTENT_SECURITY_POLICY, Refused, refused, streamed

OWN = {"host": "127.0.0.1:8001"}
POD = "/api/v1/namespaces/demo/pods/web-0"
WEBSOCKET = {"upgrade": "websocket"}


@pytest.mark.parametrize(
    ("method", "headers", "why"),
    [
        pytest.param("GET", {}, None, id="a page"),
        pytest.param("GET", {"host": "localhost:8001"}, None, id="by its other name"),
        pytest.param("GET", {"host": "evil.example:8001"}, Refused.MISDIRECTED, id="a name that was rebound"),
        pytest.param("GET", {"host": "127.0.0.1:8002"}, Refused.MISDIRECTED, id="another port"),
        pytest.param("GET", {"host": ""}, Refused.MISDIRECTED, id="no name"),
        pytest.param("POST", {"origin": "http://127.0.0.1:8001"}, None, id="a form of its own"),
        pytest.param("POST", {"origin": "http://127.0.0.1:9999"}, Refused.OTHER_ORIGIN, id="a form of another port"),
        pytest.param("POST", {"origin": "null"}, Refused.OTHER_ORIGIN, id="a form of a sandbox"),
        pytest.param("GET", WEBSOCKET, Refused.OTHER_ORIGIN, id="a socket that does not say whose"),
        pytest.param("GET", {**WEBSOCKET, "origin": "https://evil.example"}, Refused.OTHER_ORIGIN, id="its socket"),
        pytest.param("GET", {**WEBSOCKET, "origin": "http://127.0.0.1:8001"}, None, id="a socket of its own"),
        pytest.param("GET", {"sec-fetch-site": "same-origin"}, None, id="its own script"),
        pytest.param("GET", {"sec-fetch-site": "same-site"}, Refused.OTHER_ORIGIN, id="a script of another port"),
        pytest.param("GET", {"sec-fetch-site": "cross-site"}, Refused.OTHER_ORIGIN, id="a script of another site"),
        pytest.param("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, None, id="a link"),
        pytest.param("POST", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, Refused.OTHER_ORIGIN,
                     id="a form of another site"),
    ],
)  # fmt: skip
def test_only_its_own_pages_act(method, headers, why):
    assert refused(method, {**OWN, **headers}, 8001) is why


@pytest.mark.parametrize(
    ("path", "query", "headers", "passes"),
    [
        pytest.param(f"{POD}/log", {"follow": ["true"]}, {}, True, id="a log"),
        pytest.param(f"{POD}/exec", {}, WEBSOCKET, True, id="a terminal"),
        pytest.param(f"{POD}/exec", {}, {}, False, id="a terminal without a socket"),
        pytest.param(f"{POD}/proxy/", {}, {}, False, id="a page of a pod"),
        pytest.param(f"{POD}/proxy/", {"watch": ["1"]}, {}, False, id="a page of a pod that claims to be a watch"),
        pytest.param(f"{POD}/portforward", {}, WEBSOCKET, False, id="a port"),
        pytest.param("/api/v1/pods", {"watch": ["1"]}, {}, True, id="a watch"),
        pytest.param("/apis/apps/v1/namespaces/demo/deployments", {"watch": ["true"]}, {}, True, id="of a group"),
        pytest.param("/api/v1/pods", {}, {}, False, id="a list"),
        pytest.param("/api/v1/nodes/n/proxy/logs/", {"watch": ["1"]}, {}, False, id="a page of a node"),
        pytest.param("/logs/", {"watch": ["1"]}, {}, False, id="another path"),
        pytest.param("/api/v1/pods/../secrets", {"watch": ["1"]}, {}, False, id="a crooked path"),
        pytest.param("/api/v1/namespaces/../pods", {"watch": ["1"]}, {}, False, id="a namespace that leads up"),
        pytest.param("/apis/../v1/pods", {"watch": ["1"]}, {}, False, id="a group that leads up"),
        pytest.param("/api/v1/namespaces/demo/pods/../log", {}, {}, False, id="a pod that leads up"),
        pytest.param(f"{POD}/log\r\nX: y", {}, {}, False, id="a line break"),
        pytest.param(f"/{POD}/log", {}, {}, False, id="two slashes"),
        pytest.param("/api/v1/pods", {"watch": ["1", "0"]}, {}, False, id="a watch and none"),
    ],
)
def test_only_streams_that_pages_follow_are_relayed(path, query, headers, passes):
    assert (streamed("GET", path, query, headers) is None) is passes


def test_a_stream_changes_nothing():
    assert streamed("POST", f"{POD}/exec", {}, WEBSOCKET) is Refused.NO_STREAM


def test_nothing_inline_and_nothing_from_elsewhere_runs():
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY
