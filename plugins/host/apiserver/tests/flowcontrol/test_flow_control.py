"""Priority and fairness at work in a whole server: over HTTP, by the stored objects."""

import threading

import httpx
import pytest
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import CONFIG_MAPS, FLOW_SCHEMAS, PRIORITY_LEVEL_CONFIGURATIONS
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.users import LOOPBACK, UserInfo
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.flowcontrol", reason="needs the flowcontrol API group")

PATH = "/api/v1/namespaces/default/configmaps"
HEADERS = ("x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid")
DEBUG = "/debug/api_priority_and_fairness"
API_VERSION = "flowcontrol.apiserver.k8s.io/v1"


def started(tmp_path, **options):
    tokens = tmp_path / "tokens.csv"
    tokens.write_text('a,alice,1,"devs"\nroot,root,2,"system:masters"\n')
    server = ApiServer(
        options={
            "admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"],
            "token-auth-file": str(tokens), **options,
        },
        store=MemoryStore(),
    )  # fmt: skip
    server.start()
    server.client(LOOPBACK).create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}}, "default")
    assert eventually(server.ready)
    return server


@pytest.fixture
def server(tmp_path):
    server = started(tmp_path)
    yield server
    server.close()


@pytest.fixture
def http(server):
    edge = Edge(server.handler, port=0)
    edge.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{edge.port}", timeout=60) as client:
        yield client
    edge.close(0)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def narrow(server, queue_length=1):
    """Give the group devs a level of a few seats, and return once it is in force."""
    client = server.client(LOOPBACK)
    queuing = {"queues": 1, "handSize": 1, "queueLengthLimit": queue_length}
    limited = {
        "nominalConcurrencyShares": 1,
        "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Queue", "queuing": queuing} if queue_length else {"type": "Reject"},
    }
    level = {"apiVersion": API_VERSION, "kind": "PriorityLevelConfiguration", "metadata": {"name": "narrow"},
             "spec": {"type": "Limited", "limited": limited}}  # fmt: skip
    rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
    subjects = [{"kind": "Group", "group": {"name": "devs"}}]
    schema = {"apiVersion": API_VERSION, "kind": "FlowSchema", "metadata": {"name": "devs"},
              "spec": {"priorityLevelConfiguration": {"name": "narrow"}, "matchingPrecedence": 50,
                       "distinguisherMethod": {"type": "ByUser"},
                       "rules": [{"subjects": subjects, "resourceRules": [rule]}]}}  # fmt: skip
    made_level = client.create(PRIORITY_LEVEL_CONFIGURATIONS, level)
    made = client.create(FLOW_SCHEMAS, schema)
    assert eventually(lambda: flow(server).schema.name == "devs")
    return made["metadata"]["uid"], made_level["metadata"]["uid"]


ALICE = UserInfo("alice", "1", ("devs", "system:authenticated"))
READ = parse("GET", f"{PATH}/a", {})


def flow(server):
    """Return the flow that alice's reads are in."""
    return server.handler.limits.flow(READ, ALICE)


def hold(server):
    """Take a seat as alice, in place of a request that takes its time."""
    return server.handler.limits.enter(ApiRequest(method="GET", path=READ.path, info=READ, user=ALICE))


def fill(server):
    """Take all seats of alice's level; returns them."""
    return [hold(server) for _ in range(flow(server).level.nominal)]


def test_answers_name_schema_and_level(server, http):
    client = server.client(LOOPBACK)
    exempt = client.get(FLOW_SCHEMAS, "exempt")["metadata"]["uid"]
    default = client.get(PRIORITY_LEVEL_CONFIGURATIONS, "global-default")["metadata"]["uid"]

    for _ in range(3):  # the first goes through the pipeline, the others may be hot
        assert http.get(f"{PATH}/a", headers=bearer("root")).headers[HEADERS[0]] == exempt
        assert http.get(f"{PATH}/a", headers=bearer("a")).headers[HEADERS[1]] == default


def test_a_request_waits_for_its_seat_and_others_do_not(server, http):
    narrow(server)
    seats = fill(server)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(http.get(f"{PATH}/a", headers=bearer("a"))))
    thread.start()
    level = seats[0].flow.level
    assert eventually(lambda: level.requests_waiting == 1)

    assert http.get(f"{PATH}/a", headers=bearer("root")).status_code == 200
    dump = http.get(f"{DEBUG}/dump_requests?includeRequestDetails=1", headers=bearer("root")).text
    full = http.get(f"{PATH}/a", headers=bearer("a"))
    for request in seats:
        request.finish()
    thread.join(60)

    assert [answer.status_code for answer in answers] == [200]
    assert dump.splitlines()[1].split()[:5] == ["narrow,", "devs,", "0,", "0,", "alice,"]
    assert (full.status_code, full.headers["retry-after"]) == (429, "1")
    assert full.text == "Too many requests, please try again later."
    assert HEADERS[0] in full.headers


def test_a_level_that_rejects_answers_429_at_once(server, http):
    schema, level = narrow(server, queue_length=0)
    seats = fill(server)

    answer = http.post(PATH, headers=bearer("a"), json={})

    assert answer.status_code == 429
    assert (answer.headers[HEADERS[0]], answer.headers[HEADERS[1]]) == (schema, level)
    text = http.get("/metrics", headers=bearer("root")).text
    assert 'apiserver_flowcontrol_rejected_requests_total{flow_schema="devs",priority_level="narrow"' in text
    for request in seats:
        request.finish()


def test_a_request_that_waits_too_long_is_answered_429(tmp_path):
    server = started(tmp_path, **{"request-timeout": 0.4})
    edge = Edge(server.handler, port=0)
    edge.start()
    try:
        narrow(server)
        seats = fill(server)
        answer = httpx.get(f"http://127.0.0.1:{edge.port}{PATH}/a", headers=bearer("a"), timeout=60)
        assert answer.status_code == 429
        assert b'reason="time-out"} 1' in server.handler.limits.text()
        for request in seats:
            request.finish()
    finally:
        edge.close(0)
        server.close()


def test_the_dumps_are_tables(server, http):
    levels = http.get(f"{DEBUG}/dump_priority_levels", headers=bearer("root")).text.splitlines()
    queues = http.get(f"{DEBUG}/dump_queues", headers=bearer("root")).text.splitlines()

    heads = ["PriorityLevelName,", "ActiveQueues,", "IsIdle,", "IsQuiescing,", "WaitingRequests,", "ExecutingRequests"]
    assert levels[0].split() == heads
    assert [line.split(",")[0] for line in levels[1:]] == [
        "catch-all", "exempt", "global-default", "leader-election", "node-high", "system", "workload-high", "workload-low",
    ]  # fmt: skip
    assert levels[2].split() == ["exempt,", *["<none>,"] * 4, "<none>"]
    assert len(queues) == 1 + 128 + 16 + 64 + 64 + 128 + 128


def test_nominal_seats_are_those_of_kubernetes(server):
    text = server.handler.limits.text().decode()

    expected = {"catch-all": 13, "exempt": 0, "global-default": 49, "leader-election": 25, "node-high": 98,
                "system": 74, "workload-high": 98, "workload-low": 245}  # fmt: skip
    for name, seats in expected.items():
        assert f'apiserver_flowcontrol_nominal_limit_seats{{priority_level="{name}"}} {seats}\n' in text


def test_a_schema_tells_when_its_level_goes_and_comes(server):
    narrow(server)
    client = server.client(LOOPBACK)
    level = client.get(PRIORITY_LEVEL_CONFIGURATIONS, "narrow")

    def dangling():
        conditions = client.get(FLOW_SCHEMAS, "devs")["status"]["conditions"]
        return next((one["status"], one["reason"]) for one in conditions if one["type"] == "Dangling")

    assert dangling() == ("False", "Found")
    client.delete(PRIORITY_LEVEL_CONFIGURATIONS, "narrow")
    assert eventually(lambda: dangling() == ("True", "NotFound"))
    client.create(PRIORITY_LEVEL_CONFIGURATIONS, {**level, "metadata": {"name": "narrow"}})
    assert eventually(lambda: dangling() == ("False", "Found"))


def test_without_it_requests_are_counted(tmp_path):
    server = started(tmp_path, **{"enable-priority-and-fairness": False, "max-requests-inflight": 1})
    try:
        seat = hold(server)
        request = HttpRequest(method="GET", path=PATH, query_string="limit=1", headers={"authorization": "Bearer a"})

        refused, headers = server.handler.handle(request), dict(server.handler.handle(request).headers)
        seat.finish()

        assert (refused.status, headers["Retry-After"]) == (429, "1")
        assert HEADERS[0] not in {name.lower() for name in headers}
        assert server.handler.handle(request).status == 200
    finally:
        server.close()


def test_what_was_deleted_of_the_first_objects_comes_back_with_the_next_start(tmp_path):
    store = MemoryStore()
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    first = ApiServer(options=options, store=store)
    first.start()
    assert eventually(first.ready)
    client = first.client(LOOPBACK)
    changed = client.get(FLOW_SCHEMAS, "probes")
    changed["spec"]["matchingPrecedence"] = 77
    client.update(FLOW_SCHEMAS, changed)
    free = client.get(FLOW_SCHEMAS, "system-nodes")
    free["metadata"]["annotations"]["apf.kubernetes.io/autoupdate-spec"] = "false"
    free["spec"]["matchingPrecedence"] = 555
    client.update(FLOW_SCHEMAS, free)
    client.delete(FLOW_SCHEMAS, "service-accounts")
    first.close()

    second = ApiServer(options=options, store=store)
    second.start()
    client = second.client(LOOPBACK)

    def precedence(name):
        try:
            return client.get(FLOW_SCHEMAS, name)["spec"]["matchingPrecedence"]
        except NotFound:
            return None

    try:
        assert eventually(lambda: precedence("probes") == 2)
        assert eventually(lambda: precedence("service-accounts") == 9000)
        assert precedence("system-nodes") == 555
    finally:
        second.close()
