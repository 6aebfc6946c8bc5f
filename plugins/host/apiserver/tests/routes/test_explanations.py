"""Who changed what, and who refused: as the API server tells it, and as the command shows it."""

import zlib

import orjson
import pytest
from click.testing import CliRunner
from hyperkube_host.apiserver.explain.records import (
    HIDDEN,
    KEPT_LOOSE,
    PACK_SECONDS,
    TOGETHER,
    Change,
    Refusal,
    Ring,
    Step,
    Subject,
)
from hyperkube_host.apiserver.routes.explanations import CHANGED, REFUSED
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import CLUSTER_ROLES, CONFIG_MAPS, NAMESPACES, PODS, ROLE_BINDINGS, SECRETS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import ApiError, Forbidden
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo

pytest.importorskip("hyperkube_authn.token_file", reason="needs the API server's plugins")
command = pytest.importorskip("hyperkube_command.why.why", reason="needs the command that shows it").command

FLAGS = {"explain-admission": True, "explain-forbidden": True}
CONTROLLERS = {"controllers": ["serviceaccount"]}


def pod(name, **spec):
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


@pytest.fixture(scope="module")
def cluster():
    with ControlPlane(apiserver=FLAGS, controller_manager=CONTROLLERS, scheduler=None) as cluster:
        yield cluster


def asked(client, path, **query):
    answer = client.request("GET", path, query=query)
    return answer.status, orjson.loads(answer.body)


def why(cluster, *words):
    return CliRunner().invoke(command, [*words, "--kubeconfig", str(cluster.kubeconfig)])


def test_each_plugin_that_changed_an_object_is_named_with_its_patch(cluster):
    cluster.client.create(PODS, pod("one"), "default")

    _, found = asked(cluster.client, CHANGED, resource="pods", namespace="default", name="one")

    (item,) = found["items"]
    patches = {row["plugin"]: row["patch"] for row in item["plugins"]}
    assert {"op": "add", "path": "/spec/priority", "value": 0} in patches["Priority"]
    assert patches["DefaultTolerationSeconds"][0]["path"] == "/spec/tolerations"
    assert all(patches.values())
    assert item["stored"]
    assert item["uid"] == cluster.client.get(PODS, "one", "default")["metadata"]["uid"]


def test_the_audit_id_of_the_answer_finds_it(cluster):
    body = orjson.dumps(pod("two"))
    headers = {"Content-Type": "application/json"}
    answer = cluster.client.request("POST", "/api/v1/namespaces/default/pods", headers=headers, body=body)

    _, found = asked(cluster.client, CHANGED, auditID=answer.headers["Audit-Id"])

    assert [item["name"] for item in found["items"]] == ["two"]


def test_what_was_not_stored_says_so(cluster):
    cluster.client.create(PODS, pod("three"), "default")
    with pytest.raises(ApiError):
        cluster.client.create(PODS, pod("three"), "default")
    cluster.client.create(PODS, pod("four"), "default", dry_run=True)

    _, three = asked(cluster.client, CHANGED, name="three")
    _, four = asked(cluster.client, CHANGED, name="four")

    assert [item["stored"] for item in three["items"]] == [False, True]
    assert [(item["stored"], item["dryRun"]) for item in four["items"]] == [(False, True)]


def test_an_object_that_no_plugin_changed_leaves_no_record(cluster):
    cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "plain"}}, "default")

    assert asked(cluster.client, CHANGED, name="plain")[1] == {"recorded": True, "items": []}


def test_refusals_of_plugins_and_of_authorization_are_kept(cluster):
    with pytest.raises(Forbidden):
        cluster.client.create(PODS, pod("five", serviceAccountName="nobody"), "default")
    alice = cluster.client_for(UserInfo("alice", "", (AUTHENTICATED_GROUP,)))
    with pytest.raises(Forbidden):
        alice.get(SECRETS, "five", "default")

    _, found = asked(cluster.client, REFUSED, name="five")

    assert [(item["by"], item["code"], item["user"]) for item in found["items"]] == [
        ("authorization", 403, "alice"),
        ("ServiceAccount", 403, "admin"),
    ]
    assert "nobody" in found["items"][1]["message"]


@pytest.mark.parametrize("path", [CHANGED, REFUSED])
def test_who_may_not_read_debug_paths_may_not_read_these(cluster, path):
    assert asked(cluster.client_for("alice"), path)[0] == 403
    assert asked(cluster.client, path)[0] == 200
    assert cluster.client.request("POST", path).status == 405


def test_a_403_tells_the_nearest_binding_and_what_it_lacks(cluster):
    cluster.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
    rule = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}
    cluster.client.create(CLUSTER_ROLES, {"metadata": {"name": "reader"}, "rules": [rule]})
    binding = {
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "alice"}],
    }
    cluster.client.create(ROLE_BINDINGS, binding, "shop")

    def refusal():
        with pytest.raises(Forbidden) as refused:
            cluster.client_for("alice").delete(CONFIG_MAPS, "x", "shop")
        return refused.value if "readers" in refused.value.message else None

    error = cluster.wait(refusal, "the binding in the reason", 30)

    assert error.message.startswith('configmaps "x" is forbidden: User "alice" cannot delete resource "configmaps"')
    assert "(why: RoleBinding shop/readers" in error.message
    assert "lacks verb 'delete'" in error.message
    assert any("roles that would allow it" in cause["message"] for cause in error.details["causes"])


def test_without_the_flags_nothing_is_told():
    with ControlPlane(controller_manager=CONTROLLERS, scheduler=None) as cluster:
        cluster.client.create(PODS, pod("one"), "default")
        with pytest.raises(Forbidden) as refused:
            cluster.client_for("alice").get(SECRETS, "x", "default")

        assert asked(cluster.client, CHANGED)[1] == {"recorded": False, "items": []}
        assert "why" not in refused.value.message
        assert "causes" not in refused.value.details
        told = why(cluster, "changed", "pod/one")
        assert "start it with --explain-admission" in str(told.exception)


def test_the_command_shows_changes_as_a_table_and_as_json(cluster):
    cluster.client.create(PODS, pod("six"), "default")

    table = why(cluster, "changed", "pod/six")
    rows = orjson.loads(why(cluster, "changed", "Pod/six", "-o", "json").output)

    assert table.exit_code == 0, table
    assert "admin CREATE pods six in default (Audit-Id " in table.output
    assert any(line.split()[:4:2] == ["Priority", "add"] for line in table.output.splitlines())
    assert rows[0]["name"] == "six"
    again = why(cluster, "changed", "--audit-id", rows[0]["auditID"])
    assert again.output == table.output


def test_the_command_shows_refusals(cluster):
    with pytest.raises(Forbidden):
        cluster.client.create(PODS, pod("seven", serviceAccountName="nobody"), "default")
    (row,) = asked(cluster.client, REFUSED, name="seven")[1]["items"]

    told = why(cluster, "refused", "--audit-id", row["auditID"])

    assert "ServiceAccount: 403 Forbidden: " in told.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["changed"], "say either KIND/NAME or --audit-id ID"),
        (["changed", "pod"], "'pod' is no KIND/NAME"),
        (["changed", "thing/x"], "the server has no kind 'thing'"),
        (["changed", "pod/nobody"], "no record of a plugin that changed pod/nobody"),
        (["refused", "--audit-id", "none"], "no record of a refusal of request none"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_line(cluster, words, message):
    told = why(cluster, *words)

    assert message in str(told.exception)
    assert "\n" not in str(told.exception)


def test_values_of_secrets_are_hidden():
    now = SystemClock().now()
    subject = Subject("id", now, "u", "CREATE", GroupResource("", "secrets"), "", "ns", "s")
    change = Change(subject, "", [Step("P", 0.0, b'{"data":{"a":"x"}}', b'{"data":{"a":"y"}}')], dry_run=False)

    assert change.shown()["plugins"][0]["patch"] == [{"op": "replace", "path": "/data/a", "value": HIDDEN}]


def test_the_ring_is_bounded_by_number_and_by_size():
    ring = Ring(Refusal, 3, 100)
    records = [refused_at(code) for code in range(7)]
    for record in records[:5]:
        ring.add(record)
    assert [*ring.latest_first()] == records[4:1:-1]

    ring.add(records[5], 90)
    ring.add(records[6], 20)

    assert [*ring.latest_first()] == [records[6]]


def a_subject(name="p"):
    return Subject("id", SystemClock().now(), "u", "CREATE", GroupResource("g", "pods"), "", "ns", name)


def refused_at(code):
    return Refusal(a_subject(), "authorization", code, "Forbidden", "no")


def test_records_are_told_alike_when_the_ring_keeps_them_as_texts():
    before, after = b'{"text":"%s"}' % (b"x" * 2000), b'{"text":"%s","a":"\xc3\xa4"}' % (b"x" * 2000)
    ring, refusals = Ring(Change), Ring(Refusal)
    for number in range(KEPT_LOOSE + TOGETHER + 9):
        change = Change(a_subject(f"p{number}"), "uid", [Step("P", 0.25, before, after)], dry_run=bool(number % 2))
        change.stored = number > 3
        ring.add(change, change.size)
        refusals.add(refused_at(400 + number))
    records, told = [*ring.latest_first(), *refusals.latest_first()], [one.shown() for one in ring.latest_first()]

    ring.forget()
    refusals.forget()
    ring.forget()

    assert [*ring.latest_first(), *refusals.latest_first()] == records
    assert [one.shown() for one in ring.latest_first()] == told
    assert told[0]["plugins"][0]["patch"] == [{"op": "add", "path": "/a", "value": "ä"}]
    assert [count for count, _ in ring._texts] == [TOGETHER, 9]
    assert len(ring) == KEPT_LOOSE + TOGETHER + 9


def a_change(number):
    """Return a change by two plugins, the second of which began where the first one ended."""
    texts = [orjson.dumps({"number": number, "step": step}) for step in range(3)]
    steps = [Step("P", 0.25, texts[0], texts[1]), Step("Q", 0.5, texts[1], texts[2])]
    return Change(a_subject(f"p{number}"), "uid", steps, dry_run=False)


def test_records_become_a_text_every_few_seconds_and_are_told_alike():
    clock = FakeClock()
    ring, alike = Ring(Change, clock=clock), Ring(Change)
    for number in range(KEPT_LOOSE + 3 * TOGETHER - 1):
        ring.add(a_change(number), 100)
        alike.add(a_change(number), 100)

    texts = []
    for _ in range(3):
        clock.advance(PACK_SECONDS)
        texts.append(len(ring._texts))

    assert texts == [1, 2, 2]
    assert [one.shown()["plugins"] for one in ring.latest_first()] == [
        one.shown()["plugins"] for one in alike.latest_first()
    ]
    assert [one.subject.name for one in ring.latest_first()] == [one.subject.name for one in alike.latest_first()]
    assert len(ring) == len(alike)


def test_a_record_whose_request_is_under_way_stays_as_it_is_until_that_has_ended():
    clock = FakeClock()
    ring = Ring(Change, clock=clock)
    changes = [a_change(number) for number in range(KEPT_LOOSE + TOGETHER)]
    on_failure = [changes[TOGETHER - 1].failed]
    while changes:
        ring.add(changes.pop(0), 100)

    clock.advance(PACK_SECONDS)
    before = len(ring._texts)
    on_failure.pop()()
    clock.advance(PACK_SECONDS)

    assert (before, len(ring._texts)) == (0, 1)
    assert [one.subject.name for one in ring.latest_first() if not one.stored] == [f"p{TOGETHER - 1}"]


def test_what_comes_while_a_text_is_made_pushes_out_older_records_alone(monkeypatch):
    clock = FakeClock()
    ring = Ring(Change, KEPT_LOOSE + TOGETHER, clock=clock)
    for number in range(KEPT_LOOSE + TOGETHER):
        ring.add(a_change(number), 100)
    compress, seen = zlib.compress, []

    def compress_slowly(*arguments):
        ring.add(a_change(1000), 100)
        seen.extend(one.subject.name for one in ring.latest_first())
        return compress(*arguments)

    monkeypatch.setattr(zlib, "compress", compress_slowly)
    clock.advance(PACK_SECONDS)

    names = ["p1000", *(f"p{number}" for number in reversed(range(KEPT_LOOSE + TOGETHER)))]
    assert seen == names
    assert [one.subject.name for one in ring.latest_first()] == names[: KEPT_LOOSE + 1]
    assert len(ring) == KEPT_LOOSE + 1


def test_records_of_a_text_go_together_when_there_are_too_many():
    ring = Ring(Refusal, KEPT_LOOSE + 10)
    records = [refused_at(code) for code in range(KEPT_LOOSE + 20)]
    for record in records[:-10]:
        ring.add(record)

    ring.forget()
    ring.add(records[-10])
    kept = [*ring.latest_first()]
    for record in records[-9:]:
        ring.add(record)

    assert kept == records[-10:9:-1]
    assert [*ring.latest_first()] == records[:9:-1]
    assert len(ring) == KEPT_LOOSE + 10


def test_what_a_ring_holds_at_rest_leaves_room_for_more():
    ring = Ring(Change, most_bytes=(KEPT_LOOSE + 2) * 4000)
    for _ in range(KEPT_LOOSE + 2):
        ring.add(Change(a_subject(), "", [Step("P", 0.0, b"x" * 2000, b"y" * 2000)], dry_run=False), 4000)

    ring.forget()
    ring.add(Change(a_subject(), "", [], dry_run=False), 4000)

    assert len(ring) == KEPT_LOOSE + 3
