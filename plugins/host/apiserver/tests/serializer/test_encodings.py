"""Encodings of cached objects: made once for a revision, kept within a limit; rows until an age reads differently."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.serializer.encodings import Encodings, ObjectEncoder
from hyperkube_host.apiserver.serializer.kept_rows import ObservedNow, until_change
from hyperkube_lib.protobuf import Protobuf, enveloped
from hyperkube_lib.protobuf.wire import delimited
from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.hookspecs.api import Column, ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.times import format_time, human_duration, parse_time

pytest.importorskip("hyperkube_api.core.v1", reason="encodes a type of the core API group")

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


class Counting(Protobuf):
    """Counts the messages that are written."""

    def __init__(self):
        super().__init__()
        self.written = 0

    def write_message(self, obj, schema):
        self.written += 1
        return super().write_message(obj, schema)


def served(cells=None):
    return ServedResource(
        ResourceSpec(
            resource=GroupVersionResource("", "v1", "configmaps"),
            kind=GroupVersionKind("", "v1", "ConfigMap"),
            singular="configmap",
            namespaced=True,
            verbs=("list",),
            schema="hyperkube_api.core.v1:ConfigMap",
            columns=(Column("Name", format="name"), Column("Age")),
            cells=cells,
        ),
        None,
    )


def cached(revision=5, *, created=NOW, uid="", **data):
    meta = {"name": "c", "namespace": "n", "creationTimestamp": format_time(created), "resourceVersion": str(revision)}
    if uid:
        meta["uid"] = uid
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta, "data": data}
    return CachedObject("/c", revision, orjson.dumps(obj), namespace="n")


def test_a_message_is_written_once_for_a_revision_and_kept_apart_for_each_version():
    protobuf, schema = Counting(), compile_schema("hyperkube_api.core.v1:ConfigMap")
    encoder, one, other, obj = ObjectEncoder(protobuf), served(), served(), cached(a="b")

    first = encoder.message(one, obj, schema)
    assert encoder.message(one, obj, schema) is first
    assert first == delimited(2, protobuf.write_message(one.parsed(obj), schema))
    assert protobuf.written == 2
    assert encoder.message(other, obj, schema) == first
    assert protobuf.written == 3
    assert encoder.message(one, cached(6, a="c"), schema) != first


def test_an_object_of_a_known_template_is_not_written_again():
    protobuf, schema = Counting(), compile_schema("hyperkube_api.core.v1:ConfigMap")
    encoder = ObjectEncoder(protobuf)

    def bodies(template, revisions, **data):
        objects = [served().parsed(cached(revision, uid="u", **data)) for revision in revisions]
        made = [encoder.written_body(served(), None, schema, obj, template) for obj in objects]
        assert made == [Protobuf().encode(obj, schema) for obj in objects]

    bodies(b"one", range(5, 9), a="b")
    learned = protobuf.written
    bodies(b"one", range(9, 12), a="b")
    assert protobuf.written == learned
    bodies(b"another", [12], a="c")
    assert protobuf.written > learned


def test_the_message_of_what_was_written_is_kept_where_others_were_made():
    encoder, schema, one = ObjectEncoder(Protobuf()), compile_schema("hyperkube_api.core.v1:ConfigMap"), served()
    obj = cached(a="b")
    obj.encodings = {}

    body = encoder.written_body(one, obj, schema, one.parsed(obj))

    kept = encoder.kept_message(one, obj)
    assert kept is not None
    assert body == enveloped("v1", "ConfigMap", kept) == encoder.written_body(one, obj, schema, {})


def test_the_oldest_encodings_go_when_there_is_no_room():
    encodings, objects = Encodings(limit=10), [cached(revision) for revision in range(4)]
    for obj in objects:
        encodings.keep(obj, "form", b"x" * 4, 4)

    assert [encodings.find(obj, "form") is not None for obj in objects] == [False, False, True, True]
    assert encodings.size == 8


def test_what_is_made_anew_takes_the_room_of_what_it_replaces():
    encodings, obj = Encodings(limit=10), cached()
    for number in range(100):
        encodings.keep(obj, "row", number, 4)

    assert encodings.find(obj, "row") == 99
    assert encodings.size == 4


def test_encodings_of_objects_that_are_gone_leave_the_account():
    encodings = Encodings(limit=10)
    for revision in range(50):
        encodings.keep(cached(revision), "form", b"x" * 4, 4)
    kept = cached(51)
    encodings.keep(kept, "form", b"y" * 4, 4)

    assert encodings.find(kept, "form") == b"y" * 4
    assert encodings.size <= 10


def counted(cells):
    """Return a resource whose rows have these cells, and the times at which a row was made."""
    seen = []

    def counting(obj, now):
        seen.append(now)
        return cells(now, parse_time(obj["metadata"]["creationTimestamp"]))

    return served(counting), seen


def cells_at(encoder, resource, obj, now):
    return orjson.loads(encoder.row(resource, obj, now, include="None", version="v1"))["cells"]


def test_a_row_is_made_once_while_its_ages_go_on():
    resource, seen = counted(
        lambda now, then: ["x", human_duration(now - then), f"1 ({human_duration(now - then)} ago)"]
    )
    encoder, obj = ObjectEncoder(Protobuf()), cached(created=NOW - timedelta(minutes=3))

    shown = [cells_at(encoder, resource, obj, NOW + timedelta(seconds=second)) for second in (0, 1.5, 60)]

    assert shown == [["x", "3m", "1 (3m ago)"], ["x", "3m1s", "1 (3m1s ago)"], ["x", "4m", "1 (4m ago)"]]
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("age", "lasts"),
    [(3, 1), (599, 1), (45 * 60, 60), (8 * 3600, 3600), (10 * 86400, 86400)],
    ids=["seconds", "minutes and seconds", "minutes", "hours", "days"],
)
def test_a_row_is_the_same_bytes_as_long_as_its_age_reads_the_same(age, lasts):
    resource, _ = counted(lambda now, then: [human_duration(now - then), "x"])
    encoder, obj = ObjectEncoder(Protobuf()), cached(created=NOW - timedelta(seconds=age))
    row = encoder.kept_row(resource, obj, NOW)

    last = encoder.kept_row(resource, obj, NOW + timedelta(seconds=lasts - 0.001))
    then = encoder.kept_row(resource, obj, NOW + timedelta(seconds=lasts))

    assert last is row
    assert then is not row
    assert human_duration(age + lasts).encode() in then.text


def test_a_row_of_the_future_reads_as_it_should_when_its_time_has_come():
    resource, _ = counted(lambda now, then: [human_duration(now - then)])
    encoder, obj = ObjectEncoder(Protobuf()), cached(created=NOW + timedelta(seconds=3))

    shown = [cells_at(encoder, resource, obj, NOW + timedelta(seconds=second)) for second in (0, 1, 2.5, 3, 4)]

    assert shown == [["<invalid>"], ["<invalid>"], ["0s"], ["0s"], ["1s"]]


def test_a_row_that_reads_differently_takes_the_place_of_the_one_before():
    resource, _ = counted(lambda now, then: [human_duration(now - then)])
    encodings = Encodings()
    encoder, obj = ObjectEncoder(Protobuf(), encodings), cached(created=NOW)
    sizes = set()
    for second in range(5):
        row = encoder.kept_row(resource, obj, NOW + timedelta(seconds=second))
        sizes.add(encodings.size)
        assert encoder.kept_row(resource, obj, NOW + timedelta(seconds=second + 0.5)) is row

    encodings.forget()
    encodings.renew(obj, (resource.mark, "row"), row)

    assert len(sizes) == 1
    assert encodings.find(obj, (resource.mark, "row")) is None


def test_a_row_is_made_again_when_something_else_that_comes_of_an_age_may_change():
    resource, seen = counted(lambda now, then: [int((now - then).total_seconds()) // 60])
    encoder, obj = ObjectEncoder(Protobuf()), cached(created=NOW - timedelta(hours=1))

    assert [cells_at(encoder, resource, obj, NOW + timedelta(seconds=second)) for second in (0, 30, 59.9)] == [[60]] * 3
    assert len(seen) == 1
    assert cells_at(encoder, resource, obj, NOW + timedelta(seconds=60)) == [61]
    assert len(seen) == 2


@pytest.mark.parametrize("text", ["\ue0000\ue000", "\ue0007\ue000"], ids=["a place that is taken", "one that is not"])
def test_a_text_that_looks_like_the_place_of_an_age_stays_as_it_is(text):
    resource, _ = counted(lambda now, then: [text, human_duration(now - then)])

    shown = cells_at(ObjectEncoder(Protobuf()), resource, cached(created=NOW - timedelta(hours=9)), NOW)

    assert shown == [text, "9h"]


@pytest.mark.parametrize(
    "compare",
    [
        lambda now, then: now > then,
        lambda now, then: then <= now,
        lambda now, then: now - then > timedelta(days=1),
        lambda now, then: str(now - then) == "90 days, 0:00:00",
    ],
    ids=["now", "then", "age", "text"],
)
def test_a_row_that_compares_times_is_made_each_time(compare):
    seen = []

    def cells(obj, now):
        seen.append(compare(now, parse_time(obj["metadata"]["creationTimestamp"])))
        return [seen[-1]]

    encoder, resource, obj = ObjectEncoder(Protobuf()), served(cells), cached(created=NOW - timedelta(days=90))
    for _ in range(2):
        encoder.row(resource, obj, NOW, include="None", version="v1")

    assert seen == [True, True]


@pytest.mark.parametrize("include", ["", "None", "Metadata", "Object"])
def test_a_row_shows_as_much_of_its_object_as_is_asked_for(include):
    row = orjson.loads(ObjectEncoder(Protobuf()).row(served(), cached(a="b"), NOW, include=include, version="v1"))

    shown = row["object"]
    if include == "None":
        assert shown is None
    else:
        assert shown["kind"] == ("ConfigMap" if include == "Object" else "PartialObjectMetadata")
        assert ("data" in shown) is (include == "Object")


def test_an_age_reads_the_same_until_it_is_said_to_change():
    chosen = random.Random(7)
    for limit in (200, 1000, 20_000, 300_000, 10**7, 10**9):
        for _ in range(300):
            age = timedelta(seconds=chosen.uniform(0, limit))
            still = age + until_change(age) * chosen.uniform(0, 0.999)
            assert human_duration(age) == human_duration(still), age


def test_a_present_behaves_as_a_time():
    now = ObservedNow.of(NOW)

    assert now == NOW
    assert now - (NOW - timedelta(minutes=20, seconds=5)) == timedelta(minutes=20, seconds=5)
    assert now.change == timedelta.max
    assert (now - (NOW - timedelta(minutes=20, seconds=5))).total_seconds() == 1205
    assert now.change == timedelta(seconds=55)
    assert NOW - now == timedelta(0)
    assert now.change == timedelta(0)


def test_all_encodings_are_forgotten_at_rest_and_made_anew():
    encodings, obj = Encodings(), cached()
    encodings.keep(obj, "form", b"x", 1)

    encodings.forget()

    assert (encodings.find(obj, "form"), encodings.size) == (None, 0)
    encodings.keep(obj, "form", b"y", 1)
    assert (encodings.find(obj, "form"), encodings.size) == (b"y", 1)
