"""Who is let in, who waits, who is next, and who is turned away; transcripts on a clock that stands still."""

import pytest
from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.flowcontrol.max_in_flight import RequestState
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.users import LOOPBACK, UserInfo

ANY = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}


def level(name, shares, queuing=None, **more):
    response = {"type": "Queue", "queuing": queuing} if queuing else {"type": "Reject"}
    section = {"nominalConcurrencyShares": shares, "limitResponse": response, **more}
    return {"metadata": {"name": name, "uid": f"level-{name}"}, "spec": {"type": "Limited", "limited": section}}


def schema(name, level_name, group, precedence=1000):
    rules = [{"subjects": [{"kind": "Group", "group": {"name": group}}], "resourceRules": [ANY]}]
    spec = {
        "priorityLevelConfiguration": {"name": level_name},
        "matchingPrecedence": precedence,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": rules,
    }
    return {"metadata": {"name": name, "uid": f"schema-{name}"}, "spec": spec}


QUEUING = {"queues": 16, "handSize": 4, "queueLengthLimit": 3}
SMALL = level("small", 45, QUEUING, borrowingLimitPercent=0)
NOTHING = level("catch-all", 5, borrowingLimitPercent=0)


@pytest.fixture
def clock():
    return FakeClock()


def control_of(clock, levels, schemas, seats=10, wait=15.0):
    control = FlowControl(seats, wait, clock)
    control.configure(schemas, levels)
    return control


def ask(control, who="alice", group="devs", method="GET", path="/api/v1/namespaces/x/pods/p"):
    user = who if isinstance(who, UserInfo) else UserInfo(who, "", (group, "system:authenticated"))
    return control.enter(ApiRequest(method=method, path=path, info=parse(method, path, {}), user=user))


@pytest.fixture
def control(clock):
    """One level of two seats with queues, of a server with as many."""
    return control_of(clock, [SMALL, NOTHING], [schema("devs", "small", "devs")], seats=2)


def states(requests):
    return [request.state.name.lower() for request in requests]


def test_what_has_a_seat_is_let_in_and_the_rest_waits(control):
    requests = [ask(control) for _ in range(4)]

    assert states(requests) == ["executing", "executing", "waiting", "waiting"]


def test_an_answer_says_which_schema_and_level_it_was(control):
    assert ask(control).headers == (
        ("X-Kubernetes-Pf-Flowschema-Uid", "schema-devs"),
        ("X-Kubernetes-Pf-Prioritylevel-Uid", "level-small"),
    )


def test_a_request_that_finishes_makes_room_for_the_next(control, clock):
    first, _second, third = (ask(control) for _ in range(3))
    clock.advance(0.001)
    fourth = ask(control)
    told = []
    third.subscribe(lambda: told.append("third"))
    fourth.subscribe(lambda: told.append("fourth"))

    first.finish()

    assert (third.state.name.lower(), fourth.state.name.lower(), told) == ("executing", "waiting", ["third"])


def test_whoever_subscribes_late_is_told_at_once(control):
    first, _, third = (ask(control) for _ in range(3))
    first.finish()
    told = []

    third.subscribe(lambda: told.append(1))

    assert told == [1]


def test_leaving_twice_frees_one_seat(control):
    first, _, third, fourth = (ask(control) for _ in range(4))

    first.finish()
    first.finish()

    assert sorted(states([third, fourth])) == ["executing", "waiting"]


def test_a_flood_does_not_keep_a_quiet_user_waiting(control, clock):
    flood = [ask(control, "flood") for _ in range(11)]  # two seats, the rest in the queues of its hand
    quiet = ask(control, "quiet")
    running = [request for request in flood if request.state is RequestState.EXECUTING]
    before = 0
    while quiet.state is RequestState.WAITING:
        clock.advance(0.1)
        running.pop(0).finish()
        running = [request for request in flood if request.state is RequestState.EXECUTING]
        before += 1

    assert quiet.state is RequestState.EXECUTING
    assert before <= 5  # one dispatch for each of the flood's queues, at most


def test_service_time_counts_against_a_flow(clock):
    one_seat = level("small", 45, {"queues": 64, "handSize": 1, "queueLengthLimit": 50}, borrowingLimitPercent=0)
    control = control_of(clock, [one_seat, NOTHING], [schema("devs", "small", "devs")], seats=1)
    blocker = ask(control, "blocker")
    slow = [ask(control, "slow") for _ in range(6)]
    quick = [ask(control, "quick") for _ in range(6)]
    assert slow[0].queue is not quick[0].queue
    blocker.finish()
    spent = {"slow": 0.0, "quick": 0.0}

    while any(request.state is RequestState.WAITING for request in quick):
        name, request = next(
            (n, t) for n, ts in (("slow", slow), ("quick", quick)) for t in ts if t.state is RequestState.EXECUTING
        )
        seconds = 1.0 if name == "slow" else 0.2
        clock.advance(seconds)
        spent[name] += seconds
        request.finish()

    assert 0 < spent["slow"] <= 2.0  # and not 6: the quick flow is not held up by six slow requests
    assert states(slow).count("waiting") >= 4


def test_a_full_queue_turns_away(control):
    requests = [ask(control) for _ in range(2 + 4 * 3 + 1)]

    assert states(requests)[-2:] == ["waiting", "rejected"]
    assert b'rejected_requests_total{flow_schema="devs",priority_level="small",reason="queue-full"} 1' in control.text()


def test_who_waits_too_long_is_turned_away(control, clock):
    waiting = [ask(control) for _ in range(3)][-1]
    told = []
    waiting.subscribe(lambda: told.append(waiting.state.name.lower()))

    clock.advance(15.1)

    assert told == ["rejected"]
    assert b'reason="time-out"} 1' in control.text()
    assert b'current_inqueue_requests{flow_schema="devs",priority_level="small"} 0' in control.text()


def test_a_level_without_queues_turns_away_at_once(clock):
    control = control_of(
        clock, [level("small", 45, borrowingLimitPercent=0)], [schema("devs", "small", "devs")], seats=1
    )

    assert states(ask(control) for _ in range(2)) == ["executing", "rejected"]
    assert b'reason="concurrency-limit"} 1' in control.text()


def test_privileged_users_never_wait(control):
    requests = [ask(control, LOOPBACK) for _ in range(50)]

    assert set(states(requests)) == {"executing"}


def test_what_no_schema_covers_is_caught(control):
    request = ask(control, "somebody", group="others")

    assert request.flow.schema.name == "catch-all"


def test_a_user_without_groups_is_caught_too(control):
    assert ask(control, UserInfo("nobody")).flow.level.settings.name == "catch-all"


def test_a_schema_without_its_level_is_passed_over(clock):
    control = control_of(clock, [SMALL], [schema("gone", "missing", "devs", 1), schema("devs", "small", "devs")])

    assert ask(control).flow.schema.name == "devs"


@pytest.mark.parametrize(
    ("path", "limited"),
    [("/api/v1/namespaces/x/pods/p/log", False), ("/api/v1/namespaces/x/pods/p/exec", False),
     ("/api/v1/watch/pods", True), ("/api/v1/namespaces/x/pods/p", True)],
)  # fmt: skip
def test_what_stays_open_is_not_limited_but_a_watch_begins_with_a_seat(control, path, limited):
    assert (ask(control, path=path) is not None) is limited


def test_idle_seats_are_lent_and_taken_back(clock):
    lender, borrower = level("lender", 45, QUEUING, lendablePercent=50), level("borrower", 45, QUEUING)
    schemas = [schema("l", "lender", "ops"), schema("b", "borrower", "devs")]
    control = control_of(clock, [lender, borrower, NOTHING], schemas, seats=19)  # nine each, one for the rest

    borrowed = states(ask(control) for _ in range(16))
    own = states(ask(control, "bob", "ops") for _ in range(10))

    assert borrowed.count("executing") == 9 + 5  # half of nine, rounded
    assert own == ["executing"] * 9 + ["waiting"]


def test_a_borrowing_limit_is_kept(clock):
    lender = level("lender", 45, QUEUING, lendablePercent=100)
    borrower = level("borrower", 45, QUEUING, borrowingLimitPercent=20)
    schemas = [schema("l", "lender", "ops"), schema("b", "borrower", "devs")]
    control = control_of(clock, [lender, borrower, NOTHING], schemas, seats=19)

    assert states(ask(control) for _ in range(16)).count("executing") == 9 + 2


def test_more_seats_let_those_in_who_wait(clock):
    schemas = [schema("devs", "small", "devs")]
    control = control_of(clock, [level("small", 5, QUEUING, borrowingLimitPercent=0), level("b", 90)], schemas)
    waiting = [ask(control) for _ in range(3)][-1]
    assert waiting.state is RequestState.WAITING

    control.configure(schemas, [level("small", 90, QUEUING)])

    assert waiting.state is RequestState.EXECUTING


def test_a_level_that_is_gone_ends_with_its_last_request(control):
    requests = [ask(control) for _ in range(3)]

    control.configure([], [NOTHING])
    assert [one.quiescing for one in control.levels() if one.settings.name == "small"] == [True]
    for request in requests:
        request.finish()
    control.configure([], [NOTHING])

    assert [one.settings.name for one in control.levels()] == ["catch-all", "exempt"]


def test_counts_go_back_to_nothing(control):
    requests = [ask(control, method=method) for method in ("GET", "POST", "GET")]
    assert control.current() == {"readOnly": 1, "mutating": 1}

    for request in requests:
        request.finish()

    assert control.current() == {"readOnly": 0, "mutating": 0}
    assert b'dispatched_requests_total{flow_schema="devs",priority_level="small"} 3' in control.text()
    assert b'nominal_limit_seats{priority_level="small"} 2' in control.text()


def test_a_request_that_was_classified_before_a_change_goes_by_the_new_levels(control, clock, monkeypatch):
    stale = control.flow(parse("GET", "/api/v1/pods", {}), UserInfo("alice", "", ("devs", "system:authenticated")))
    control.configure([], [])
    monkeypatch.setattr(control, "flow", lambda info, user: stale)

    entered = ask(control)

    assert entered.flow.schema.name == "catch-all"
