"""A renewed lease is not decoded and validated again: what comes of it has to be what the long way makes of it."""

import orjson
import pytest
from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.rest import update
from hyperkube_lib.protobuf import Protobuf
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.coordination", reason="needs the group of leases")

PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
AGENT, OTHER = "kubelet/v1.36.0", "controller/v1"
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "one", "uid": "u1"}
FIRST, NEXT = "2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:15.000007Z"
LEASE = {
    "kind": "Lease",
    "apiVersion": "coordination.k8s.io/v1",
    "metadata": {"name": "one", "annotations": {"renewTime": FIRST}, "ownerReferences": [OWNER]},
    "spec": {"holderIdentity": "one", "leaseDurationSeconds": 40, "renewTime": FIRST},
}


@pytest.fixture(scope="module")
def server(server):
    assert send(server, "GET", PATH, b"")[0] == 200  # from here on the watch cache has leases
    return server


@pytest.fixture
def lease(server):
    """A lease as its client knows it."""
    status, made = send(server, "POST", PATH, LEASE)
    assert status == 201
    yield made
    send(server, "DELETE", f"{PATH}/one", b"")


@pytest.fixture
def short(monkeypatch):
    """Return the list of what came of requests that were tried as renewals: whether they were some."""
    tried, renew = [], update.renew

    def noted(*given):
        result = renew(*given)
        tried.append(result is not None)
        return result

    monkeypatch.setattr(update, "renew", noted)
    return tried


def send(server, method, path, body, media=JSON, agent=AGENT, accept=JSON, query=""):
    headers = {"content-type": media, "accept": accept, "user-agent": agent}
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    answer = server.handler.handle(
        HttpRequest(method=method, path=path, query_string=query, headers=headers, body=content, user=LOOPBACK)
    )
    return answer.status, orjson.loads(answer.body) if accept == JSON else answer.body


def put(server, lease, **how):
    return send(server, "PUT", f"{PATH}/one", lease, **how)


def get(server):
    return send(server, "GET", f"{PATH}/one", b"")[1]


def with_spec(lease, **members):
    return {**lease, "spec": {**lease["spec"], **members}}


def with_meta(lease, **members):
    return {**lease, "metadata": {**lease["metadata"], **members}}


def timeless(lease):
    """Return the JSON of a lease without what the moment, and its place among other writes, say."""
    meta = lease["metadata"]
    fields = [{**entry, "time": None} for entry in meta["managedFields"]]
    own = {"resourceVersion": None, "uid": None, "creationTimestamp": None}
    return orjson.dumps({**lease, "metadata": {**meta, **own, "managedFields": fields}})


def shuffled(lease):
    return {**lease, "metadata": dict(reversed(lease["metadata"].items()))}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda lease: with_spec(lease, renewTime=NEXT), id="as it was answered"),
        pytest.param(
            lambda lease: with_meta(
                with_spec(lease, renewTime=NEXT),
                resourceVersion=lease["metadata"].pop("resourceVersion"),
            ),
            id="the version elsewhere",
        ),
    ],
)
def test_a_renewal_goes_the_short_way_to_the_same_lease(server, lease, short, body, monkeypatch):
    answered = put(server, body(lease))[1]
    stored = get(server)
    monkeypatch.setattr(server.registry.get(LEASES).strategy, "renewed", "")
    again = put(server, with_spec(stored, renewTime=FIRST))[1]
    long_way = put(server, with_spec(again, renewTime=NEXT))[1]

    assert short == [True]
    assert answered == stored
    assert answered["spec"]["renewTime"] == NEXT
    assert int(answered["metadata"]["resourceVersion"]) < int(long_way["metadata"]["resourceVersion"])
    assert timeless(answered) == timeless(long_way)


def test_a_renewal_in_protobuf_goes_the_short_way_too(server, lease, short):
    schema = compile_schema("hyperkube_api.coordination.v1:Lease")
    obj = with_spec(lease, renewTime=NEXT)
    message = Protobuf().encode({**schema.decode(orjson.loads(orjson.dumps(obj)))[0], **head(obj)}, schema)
    status, answer = put(server, message, media=PROTOBUF, accept=PROTOBUF)

    assert (status, short) == (200, [True])
    assert Protobuf().decode(answer, lambda *_: schema)["spec"] == get(server)["spec"] == obj["spec"]


def head(obj):
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"]}


def renewed(lease):
    return with_spec(lease, renewTime=NEXT)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(lambda lease: lease, 200, id="nothing changed"),
        pytest.param(lambda lease: shuffled(renewed(lease)), 200, id="in another order"),
        pytest.param(lambda lease: with_spec(renewed(lease), holderIdentity="two"), 200, id="another holder"),
        pytest.param(lambda lease: with_spec(renewed(lease), leaseDurationSeconds=0), 422, id="no duration"),
        pytest.param(lambda lease: with_spec(lease, renewTime="2026-01-02T03:04:05Z"), 400, id="a time in seconds"),
        pytest.param(lambda lease: with_spec(lease, renewTime="2026-02-30T03:04:05.000006Z"), 400, id="no such day"),
        pytest.param(lambda lease: with_spec(lease, renewTime="soon"), 400, id="no time"),
        pytest.param(lambda lease: with_spec(lease, renewTime=None), 200, id="no time at all"),
        pytest.param(lambda lease: with_spec(renewed(lease), more=1), 200, id="an unknown member"),
        pytest.param(lambda lease: with_spec(renewed(lease), leaseDurationSeconds=40.0), 400, id="a number with a dot"),
        pytest.param(lambda lease: with_spec(renewed(lease), leaseDurationSeconds=True), 400, id="no number"),
        pytest.param(lambda lease: with_meta(renewed(lease), labels={"a": "b"}), 200, id="a label"),
        pytest.param(lambda lease: with_meta(renewed(lease), resourceVersion="1"), 409, id="an old version"),
        pytest.param(lambda lease: with_meta(renewed(lease), resourceVersion=""), 422, id="no version"),
        pytest.param(lambda lease: with_meta(renewed(lease), resourceVersion=7), 400, id="a version that is a number"),
        pytest.param(lambda lease: with_meta(renewed(lease), managedFields=None), 200, id="without its owners"),
        pytest.param(lambda lease: with_meta(renewed(lease), name="two"), 400, id="another name"),
        pytest.param(lambda lease: with_meta(renewed(lease), namespace="other"), 400, id="another namespace"),
        pytest.param(lambda lease: {**renewed(lease), "kind": "Secret"}, 400, id="another kind"),
        pytest.param(lambda _lease: [], 400, id="no object"),
        pytest.param(lambda _lease: b"{", 400, id="no JSON"),
    ],
)
def test_what_is_no_renewal_goes_the_long_way(server, lease, short, body, status):
    answer = put(server, body(lease))

    assert answer[0] == status, answer
    assert True not in short


def test_a_member_that_comes_twice_is_warned_of(server, lease, short):
    text = orjson.dumps(renewed(lease)).replace(b'"holderIdentity"', b'"holderIdentity":"x","holderIdentity"')

    assert put(server, text)[0] == 200
    assert short == [False]


def test_a_kubelet_may_say_how_long_it_waits(server, lease, short):
    assert put(server, renewed(lease), query="timeout=10s")[0] == 200
    assert short == [True]


@pytest.mark.parametrize(
    "query", ["timeout=10s&fieldManager=other", "fieldManager=other", "dryRun=All", "fieldValidation=Strict"]
)
def test_a_request_with_parameters_goes_the_long_way(server, lease, short, query):
    assert put(server, renewed(lease), query=query)[0] == 200
    assert short == [False]


def test_another_manager_becomes_an_owner_first(server, lease, short):
    taken = put(server, renewed(lease), agent=OTHER)[1]
    put(server, with_spec(taken, renewTime=FIRST), agent=OTHER)

    managers = {entry["manager"] for entry in taken["metadata"]["managedFields"]}  # in the order of their seconds
    assert managers == {"controller", "kubelet"}
    assert short == [False, True]


def test_what_a_plugin_changes_is_stored(server, lease, short, monkeypatch):
    def mutate(_chain, request):
        request.object["spec"]["holderIdentity"] = "plugin"

    monkeypatch.setattr(AdmissionChain, "mutate", mutate)
    answered = put(server, renewed(lease))[1]

    assert answered["spec"]["holderIdentity"] == "plugin"
    assert short == [False]
