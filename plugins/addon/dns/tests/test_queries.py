"""The table of questions: each row of ``queries.txt`` is a question about the cluster of ``cluster.yaml``."""

import pytest
from dns_example import FOLDER, build, objects
from hyperkube_addon.dns.records import ServiceKey

from hyperkube.machinery.objects import name_of, namespace_of

ELSEWHERE = "ELSEWHERE"


def told(zone, kind, name):
    """Return an answer as the table writes it."""
    answer = zone.answer(name.lower(), kind)
    if answer is None:
        return ELSEWHERE
    rows = [f"{record.type}={record.data}" for record, _ in answer.records]
    soa = ["+soa"] if answer.is_negative else []
    return " ".join([answer.code.name, *sorted(rows), *([f"then={answer.alias}"] if answer.alias else []), *soa])


def rows():
    for line in (FOLDER / "queries.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            kind, name, answer = line.split(None, 2)
            yield pytest.param(kind, name, answer, id=f"{kind}-{name}")


@pytest.fixture(scope="module")
def zone():
    return build(objects())


@pytest.mark.parametrize(("kind", "name", "answer"), [*rows()])
def test_a_question_is_answered(zone, kind, name, answer):
    assert told(zone, kind, name) == answer


def test_a_service_that_goes_leaves_nothing(zone):
    emptied = build(objects())
    for obj in objects():
        if obj["kind"] == "Service":
            emptied.records.put(ServiceKey(namespace_of(obj), name_of(obj)), ())

    assert emptied.records.find("web.default.svc.cluster.local") is None
    assert emptied.records.find("shop.svc.cluster.local") is None
    assert not emptied.records._below
    assert not emptied.records._by_name
