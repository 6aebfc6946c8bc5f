"""A damaged row costs its own object alone; a file that is not whole is refused with clear words."""

import json
import sqlite3
import time
from contextlib import closing

import pytest
from click.testing import CliRunner
from hyperkube_command.storage import command as storage_command
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_storage.sqlite import SqliteStore

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import LOOPBACK, UserInfo

MAPS, EVENTS = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/events"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
KEY = "/registry/configmaps/default/{}"
OWNER = UserInfo("owner", "", ("system:authenticated",))

DAMAGE = {
    "value": "UPDATE history SET value = cast('}' || substr(value, 2) AS BLOB) WHERE key = ?",
    "value in the middle": "UPDATE history SET value = cast(substr(value, 1, 9) || '!' || substr(value, 11) AS BLOB) WHERE key = ?",
    "emptied": "UPDATE history SET value = x'' WHERE key = ?",
    "version": "UPDATE history SET version = 0 WHERE key = ? AND id = (SELECT max(id) FROM history AS h WHERE h.key = history.key)",
    "key": "UPDATE history SET key = key || 'x' WHERE key = ? AND id = (SELECT max(id) FROM history AS h WHERE h.key = history.key)",
    "key that is no text": "UPDATE history SET key = cast(x'2f72ff' AS TEXT) WHERE key = ? AND id = (SELECT max(id) FROM history AS h WHERE h.key = history.key)",
    "checksum": "UPDATE history SET sum = sum + 1 WHERE key = ?",
}  # fmt: skip


class Cluster:
    """A server on a file, which can be damaged between two starts."""

    def __init__(self, folder, **options):
        self.path = folder / "storage.db"
        self.options = {"authorization-mode": ["RBAC"], "admission-control": ["AlwaysAdmit"], **options}
        self.start()

    def start(self):
        self.store = SqliteStore(self.path)
        self.server = ApiServer(options=self.options, store=self.store)
        self.server.start()
        end = time.monotonic() + 10
        while not self.server.ready() and time.monotonic() < end:
            time.sleep(0.01)

    def stop(self):
        self.server.close()
        self.store.close()

    def damaged(self, statement, *values):
        self.stop()
        with closing(sqlite3.connect(self.path)) as connection, connection:
            assert connection.execute(statement, values).rowcount > 0
        self.start()

    def ask(self, method, path, body=None, user=LOOPBACK):
        path, _, query = path.partition("?")
        text = b"" if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = HttpRequest(method=method, path=path, query_string=query, body=text, headers=headers, user=user)
        answer = self.server.handler.handle(request)
        return answer.status, json.loads(answer.body)

    def names(self, path=MAPS):
        status, found = self.ask("GET", path)
        assert status == 200, found
        return [item["metadata"]["name"] for item in found["items"]]

    def metrics(self):
        request = HttpRequest(method="GET", path="/metrics", user=LOOPBACK)
        return self.server.handler.handle(request).body.decode()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    for name in ("a", "b", "c"):
        assert cluster.ask("POST", MAPS, {"metadata": {"name": name}, "data": {"n": "1"}})[0] == 201
        assert cluster.ask("PUT", f"{MAPS}/{name}", {"metadata": {"name": name}, "data": {"n": "2"}})[0] == 200
    yield cluster
    cluster.stop()


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_row_costs_its_object_alone(cluster, damage):
    cluster.damaged(damage, KEY.format("b"))

    # the others are served and written
    assert [name for name in cluster.names() if name != "b"] == ["a", "c"]
    assert [cluster.ask("GET", f"{MAPS}/{name}")[1]["data"] for name in "ac"] == [{"n": "2"}] * 2
    assert cluster.ask("POST", MAPS, {"metadata": {"name": "d"}})[0] == 201
    assert cluster.ask("PUT", f"{MAPS}/a", {"metadata": {"name": "a"}, "data": {"n": "3"}})[0] == 200
    assert cluster.ask("DELETE", f"{MAPS}/c")[0] == 200
    assert [name for name in cluster.names() if name != "b"] == ["a", "d"]

    # what is lost is never what it was before
    status, answer = cluster.ask("GET", f"{MAPS}/b")
    assert (status, answer["reason"]) == (500, "StorageReadError")
    assert "is damaged" in answer["message"] or "is lost" in answer["message"]
    assert cluster.ask("PUT", f"{MAPS}/b", {"metadata": {"name": "b"}})[0] == 500
    assert cluster.ask("DELETE", f"{MAPS}/b")[0] == 500

    # it can be deleted and made again
    status, answer = cluster.ask("DELETE", f"{MAPS}/b?{OPTION}=true")
    assert (status, answer["status"]) == (200, "Success"), answer
    assert cluster.ask("GET", f"{MAPS}/b")[0] == 404
    assert cluster.ask("POST", MAPS, {"metadata": {"name": "b"}})[0] == 201
    cluster.stop()
    cluster.start()
    assert cluster.names() == ["a", "b", "d"]


def test_only_who_may_deletes_it(cluster):
    verbs = ["get", "delete"]
    for name, given in (("plain", verbs), ("unsafe", [*verbs, "unsafe-delete-ignore-read-errors"])):
        rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": given}
        subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        cluster.ask("POST", ROLES, {"metadata": {"name": name}, "rules": [rule]})
        binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
        assert cluster.ask("POST", ROLES.replace("roles", "rolebindings"), binding)[0] == 201
    cluster.damaged(DAMAGE["value"], KEY.format("b"))

    status, answer = cluster.ask("DELETE", f"{MAPS}/b?{OPTION}=true", user=UserInfo("plain"))

    assert status == 403
    assert 'not permitted to do "unsafe-delete-ignore-read-errors", reason:' in answer["message"]
    assert (
        cluster.ask(
            "DELETE", f"{MAPS}/b", {"kind": "DeleteOptions", "apiVersion": "v1", OPTION: True}, UserInfo("unsafe")
        )[0]
        == 200
    )
    assert cluster.ask("GET", f"{MAPS}/b")[0] == 404


def test_the_option_is_for_what_cannot_be_read(cluster, tmp_path):
    path = f"{MAPS}/a?{OPTION}=true"
    for more in ("dryRun=All", "propagationPolicy=Orphan", "orphanDependents=true", "gracePeriodSeconds=0"):
        status, answer = cluster.ask("DELETE", f"{path}&{more}")
        assert (status, f"cannot be set together with .{more.partition('=')[0]}" in answer["message"]) == (422, True)
    status, answer = cluster.ask("DELETE", f"{MAPS}?{OPTION}=true")
    assert (status, "is not allowed with DELETECOLLECTION" in answer["message"]) == (422, True)
    assert cluster.ask("DELETE", path)[0] == 200
    cluster.options["feature-gates"] = {"AllowUnsafeMalformedObjectDeletion": True}
    cluster.stop()
    cluster.start()
    status, answer = cluster.ask("DELETE", f"{MAPS}/c?{OPTION}=true")
    assert (status, "is exclusively used to delete corrupt object(s)" in answer["message"]) == (422, True)


@pytest.mark.parametrize("path", [MAPS, "/api/v1/configmaps"])
def test_a_list_says_what_it_goes_on_without(cluster, path):
    cluster.damaged(DAMAGE["value"], KEY.format("b"))
    request = HttpRequest(method="GET", path=path, user=LOOPBACK)

    answers = [cluster.server.handler.handle(request) for _ in range(3)]

    name = "b" if path == MAPS else "default/b"
    text = f'299 - "the store has lost configmaps that are left out here: {name}"'
    assert [dict(answer.headers).get("Warning") for answer in answers] == [text] * 3
    other = cluster.server.handler.handle(HttpRequest(method="GET", path=EVENTS, user=LOOPBACK))
    assert "Warning" not in dict(other.headers)


def test_it_is_told_by_a_metric_and_an_event(cluster):
    cluster.damaged(DAMAGE["value"], KEY.format("b"))
    assert "apiserver_storage_decode_error_total" not in cluster.metrics()

    cluster.names()

    assert 'apiserver_storage_decode_error_total{group="",resource="configmaps"} 1' in cluster.metrics()
    assert cluster.server._model.damaged._events.flush()
    (event,) = [one for one in cluster.ask("GET", EVENTS)[1]["items"] if one["reason"] == "StorageReadError"]
    about = event["involvedObject"]
    assert (event["type"], about["kind"], about["namespace"], about["name"]) == ("Warning", "ConfigMap", "default", "b")
    assert OPTION in event["message"]


@pytest.mark.parametrize("resource", ["clusterroles", "clusterrolebindings", "roles", "rolebindings"])
def test_a_server_starts_with_damaged_rules(cluster, resource):
    cluster.damaged("UPDATE history SET sum = sum + 1 WHERE key LIKE ?", f"/registry/{resource}/%")

    assert cluster.server.ready()
    assert cluster.names() == ["a", "b", "c"]


def test_damage_while_the_server_runs_costs_nothing_that_is_in_memory(cluster):
    cluster.names()
    with closing(sqlite3.connect(cluster.path)) as connection, connection:
        connection.execute(DAMAGE["value"], [KEY.format("b")])

    assert cluster.names() == ["a", "b", "c"]
    assert cluster.ask("PUT", f"{MAPS}/b", {"metadata": {"name": "b"}, "data": {"n": "3"}})[0] == 200
    cluster.stop()
    cluster.start()
    assert cluster.ask("GET", f"{MAPS}/b")[1]["data"] == {"n": "3"}


def test_a_check_lists_every_damaged_object(cluster, tmp_path):
    for name in ("a", "c"):
        cluster.damaged(DAMAGE["checksum"], KEY.format(name))
    cluster.stop()

    result = CliRunner().invoke(storage_command, ["--data-dir", str(tmp_path), "check"])

    told = str(result.exception)
    assert [KEY.format(name) in told for name in "abc"] == [True, False, True]
    cluster.start()


@pytest.mark.parametrize("size", ["empty", "a little short", "a page short", "half", "header alone"])
def test_a_file_that_is_not_whole_is_refused(tmp_path, size):
    cluster = Cluster(tmp_path)
    for number in range(20):
        cluster.ask("POST", MAPS, {"metadata": {"name": f"m{number}"}, "data": {"x": "y" * 5000}})
    cluster.stop()
    whole = cluster.path.stat().st_size
    left = {
        "empty": 0,
        "a little short": whole - 100,
        "a page short": whole - 4096,
        "half": whole // 2,
        "header alone": 100,
    }
    with cluster.path.open("r+b") as file:
        file.truncate(left[size])

    with pytest.raises(UsageError, match=r"is damaged: (it is empty|its last \d+ bytes are missing); restore a backup"):
        SqliteStore(cluster.path)
    assert cluster.path.stat().st_size == left[size]


def test_a_start_that_was_cut_off_leaves_no_file_to_refuse(tmp_path):
    path = tmp_path / "storage.db"
    (tmp_path / "storage.db.partial").write_bytes(b"SQLite format 3\0")
    (tmp_path / "storage.db.lock").write_bytes(b"1")

    SqliteStore(path).close()

    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["storage.db", "storage.db.lock"]
