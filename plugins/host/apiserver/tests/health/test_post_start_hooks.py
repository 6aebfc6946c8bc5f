"""Health: the steps of the start under Kubernetes' names, and the time that /livez gives them."""

import logging

import pytest
from hyperkube_host.apiserver.health.health import Check, Health
from hyperkube_host.apiserver.health.post_start_hooks import Part, PostStartHooks, start_checks
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import RequestInfo

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.users import LOOPBACK

CRDS = "poststarthook/crd-informer-synced"


def ask(health, path, **query):
    info = RequestInfo(path=path, verb="get", is_resource=False)
    return health.answer(ApiRequest(method="GET", path=path, info=info, query=query, user=LOOPBACK))


@pytest.fixture
def clock():
    return FakeClock()


def health_of(checks, clock, grace=0.0):
    return Health(checks, logging.getLogger("test"), clock, grace=grace)


def test_each_part_answers_for_the_steps_it_does():
    done = dict.fromkeys(Part, lambda: True) | {Part.DEFINITIONS: lambda: False}

    failing = {check.name for check in start_checks(done) if not check.passes()}

    assert failing == {
        CRDS,
        "poststarthook/start-apiextensions-informers",
        "poststarthook/start-apiextensions-controllers",
    }


def test_a_part_that_is_not_there_has_no_steps():
    names = [check.name for check in start_checks({Part.DEFINITIONS: lambda: True})]

    assert CRDS in names
    assert not [name for name in names if "identity" in name or "priority-and-fairness" in name]


@pytest.mark.parametrize("part", [Part.SYSTEM_OBJECTS, Part.REGISTRATIONS])
def test_registration_is_complete_when_both_of_its_parts_are_done(part):
    done = dict.fromkeys(Part, lambda: True) | {part: lambda: False}

    completion = {check.name: check for check in start_checks(done)}["autoregister-completion"]

    assert not completion.passes()


def test_liveness_waits_for_steps_of_the_start_as_long_as_it_is_told(clock):
    health = health_of([Check("step", lambda: False, starts=True)], clock, grace=30)

    during = [ask(health, path).status for path in ("/livez", "/livez/step", "/readyz", "/healthz")]
    clock.advance(30)

    assert during == [200, 200, 500, 500]
    assert ask(health, "/livez").status == 500


def test_liveness_waits_for_nothing_else(clock):
    health = health_of([Check("etcd", lambda: False)], clock, grace=30)

    assert ask(health, "/livez").status == 500


def test_a_check_belongs_to_the_endpoints_it_names(clock):
    health = health_of([Check("a", lambda: True, never_ready=True), Check("b", lambda: True, only_ready=True)], clock)

    assert {"/healthz/a", "/livez/a", "/readyz/b"} < set(health.paths())
    assert not {"/readyz/a", "/healthz/b", "/livez/b"} & set(health.paths())


def test_what_checks_said_is_counted(clock):
    answers = iter([True, False, False])
    health = health_of([Check("a", lambda: next(answers))], clock)

    for _ in range(3):
        ask(health, "/readyz")

    lines = health.indicators().decode().splitlines()
    assert 'kubernetes_healthcheck{name="a",type="readyz"} 0' in lines
    assert 'kubernetes_healthchecks_total{name="a",status="error",type="readyz"} 2' in lines
    assert 'kubernetes_healthchecks_total{name="a",status="success",type="readyz"} 1' in lines


def test_parts_say_once_that_they_are_done_or_are_asked_each_time():
    hooks = PostStartHooks({Part.STORES, Part.DEFINITIONS})
    synced = []
    hooks.follow(Part.DEFINITIONS, lambda: bool(synced))
    checks = {check.name: check for check in hooks.checks()}

    before = [checks["poststarthook/storage-readiness"].passes(), checks[CRDS].passes()]
    hooks.finish(Part.STORES)
    synced.append(True)

    assert before == [False, False]
    assert [checks["poststarthook/storage-readiness"].passes(), checks[CRDS].passes()] == [True, True]


def test_a_part_that_said_nothing_yet_is_not_done():
    assert not PostStartHooks({Part.FLOWS}).is_done(Part.FLOWS)
