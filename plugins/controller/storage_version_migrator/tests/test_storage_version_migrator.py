"""The storage-version-migrator controller: one migration at a time, each object written once, and all told.

The cases are those of kubernetes ``storageversionmigrator_test.go``, ``resourceversion_test.go`` and
``migrationrunner_test.go``. Those on the garbage collector's cache are left out: objects are listed at the server. So
is the one that forgets stored versions after a failed migration, as objects may still be stored in them.
"""

import json

import pytest
from hyperkube_controller.storage_version_migrator import (
    STORAGE_VERSION_MIGRATIONS,
    StorageVersionMigrator,
    to_promote,
)

from hyperkube.client.client import ObjectList, RawResponse
from hyperkube.kinds.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.errors import (
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    ServerTimeout,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
)
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

CORE = {"name": "configmaps", "kind": "ConfigMap", "namespaced": True}


def serve_discovery(rig, verbs=("list", "patch")):
    for path, document in {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/api/v1": {"resources": [{**CORE, "verbs": list(verbs)}]},
        "/apis": {"kind": "APIGroupList", "groups": []},
    }.items():
        rig.client.answer("GET", path, lambda _body, d=document: RawResponse(200, {}, json.dumps(d).encode()))


def migration(name="m", resource="configmaps", group="", created="2030-01-01T00:00:00Z", **conditions):
    rows = [{"type": kind.capitalize(), "status": "True", "reason": "x"} for kind in conditions]
    meta = {"name": name, "creationTimestamp": created}
    spec = {"resource": {"group": group, "resource": resource}}
    return {"kind": "StorageVersionMigration", "metadata": meta, "spec": spec, "status": {"conditions": rows}}


def config_map(name):
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "d"}}


def run(*migrations, before=None):
    rig = ControllerRig(StorageVersionMigrator)
    serve_discovery(rig)
    rig.client.seed(CONFIG_MAPS, config_map("a"), config_map("b"))
    if before is not None:
        before(rig)
    rig.client.seed(STORAGE_VERSION_MIGRATIONS, *migrations)
    rig.settle()
    return rig


def told(rig, name="m"):
    conditions = rig.client.get(STORAGE_VERSION_MIGRATIONS, name)["status"]["conditions"]
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in conditions}


def patched(rig):
    return [path for verb, resource, path in rig.client.actions if (verb, resource) == ("patch", "configmaps")]


class TestContract(ControllerContract):
    plugin = StorageVersionMigrator

    def populate(self, rig):
        serve_discovery(rig)
        rig.client.seed(CONFIG_MAPS, config_map("a"))
        rig.client.seed(STORAGE_VERSION_MIGRATIONS, migration())


def test_each_object_is_written_once():
    rig = run(migration())

    assert patched(rig) == ["d/a", "d/b"]
    assert told(rig) == {
        "Running": ("False", "MigrationCompleted", "Migration completed"),
        "Succeeded": ("True", "StorageVersionMigrationSucceeded", ""),
    }
    assert rig.client.get(STORAGE_VERSION_MIGRATIONS, "m")["status"]["resourceVersion"]


def test_what_was_written_meanwhile_is_as_good():
    rig = run(migration(), before=lambda rig: rig.client.fail_next("patch", "configmaps", Conflict("modified")))

    assert told(rig)["Succeeded"][0] == "True"


FAILURES = {
    "refused": (Forbidden("not you"), "migration encountered unhandled error: not you"),
    "too many requests": (TooManyRequests("simulating throttling"), None),
    "internal error": (InternalError("fake error"), None),
    "server timeout": (ServerTimeout("later"), None),
    "unavailable": (ServiceUnavailable("later"), None),
    "timeout": (Timeout("later"), None),
    "a page that is too old": (Expired("compacted"), None),
}


@pytest.mark.parametrize("verb", ["patch", "list"])
@pytest.mark.parametrize(("error", "text"), FAILURES.values(), ids=FAILURES)
def test_what_may_pass_is_tried_again_and_a_refusal_ends_it(verb, error, text):
    rig = run(migration(), before=lambda rig: rig.client.fail_next(verb, "configmaps", error))
    rig.advance(1)

    if text is None:
        assert told(rig)["Succeeded"] == ("True", "StorageVersionMigrationSucceeded", "")
    else:
        assert told(rig)["Failed"] == ("True", "StorageVersionMigrationFailed", text)
    assert told(rig)["Running"] == ("False", "MigrationCompleted", "Migration completed")


def test_a_resource_may_be_missing_for_a_minute_then_the_migration_fails():
    rig = run(migration(resource="rockets", group="example.com"))
    early = told(rig)
    rig.advance(61)

    assert "Failed" not in early
    assert told(rig)["Failed"] == ("True", "StorageVersionMigrationFailed", "resource does not exist in discovery")
    assert told(rig)["Running"][0] == "False"


@pytest.mark.parametrize(
    ("verbs", "migratable"),
    [
        (["get", "list", "watch", "create", "update", "patch", "delete"], True),
        (["get", "list", "watch", "create", "delete"], False),
        (["get", "watch", "create", "delete", "update", "delete"], False),
        (["get", "watch", "create", "delete", "update", "patch", "delete"], False),
    ],
    ids=["all", "not updatable", "not patchable", "not listable"],
)
def test_a_resource_is_migrated_that_can_be_listed_and_patched(verbs, migratable):
    rig = run(migration(), before=lambda rig: serve_discovery(rig, verbs))

    assert patched(rig) == (["d/a", "d/b"] if migratable else [])
    if not migratable:
        assert told(rig)["Failed"] == ("True", "StorageVersionMigrationFailed", "resource is not migratable")


def with_checkpoint(version, **conditions):
    made = migration(running=True, **conditions)
    made["status"]["resourceVersion"] = version
    return made


@pytest.mark.parametrize(
    ("checkpoint", "objects", "written", "text"),
    [
        pytest.param("100", {"a": "90", "b": "100", "c": "101"}, ["d/a", "d/b"], "", id="what is newer is left alone"),
        pytest.param(
            "abc",
            {"a": "90"},
            [],
            "migration encountered unhandled error: resource version is not well formed: abc",
            id="checkpoint is no number",
        ),
        pytest.param(
            "100",
            {"a": "abc"},
            [],
            "migration encountered unhandled error: resource version is not well formed: abc",
            id="version of an object is no number",
        ),
    ],
)
def test_objects_are_compared_with_the_checkpoint(monkeypatch, checkpoint, objects, written, text):
    items = [{**config_map(name), "metadata": {**config_map(name)["metadata"], "uid": name, "resourceVersion": version}}
             for name, version in objects.items()]  # fmt: skip
    asked = []

    def before(rig):
        whole = rig.client.list
        page = ObjectList(items=items, resource_version="100")
        monkeypatch.setattr(
            rig.client, "list", lambda resource, *a, **o: page if resource == CONFIG_MAPS else whole(resource, *a, **o)
        )
        patch = rig.client.patch
        monkeypatch.setattr(
            rig.client,
            "patch",
            lambda resource, name, body, namespace="", **o: (
                asked.append((f"{namespace}/{name}", body["metadata"]))
                if resource == CONFIG_MAPS
                else patch(resource, name, body, namespace, **o)
            ),
        )

    rig = run(with_checkpoint(checkpoint), before=before)

    assert asked == [(f"d/{name}", {"uid": name, "resourceVersion": objects[name]}) for name in
                     (path.removeprefix("d/") for path in written)]  # fmt: skip
    assert told(rig)["Failed" if text else "Succeeded"][2] == text


@pytest.mark.parametrize("end", ["succeeded", "failed"])
def test_what_has_ended_is_left_alone(end):
    rig = run(migration(**{end: True}))

    assert patched(rig) == []
    assert [action for action in rig.client.actions if action[1] == "storageversionmigrations"] == []


def test_a_checkpoint_that_is_no_number_ends_it(monkeypatch):
    def before(rig):
        whole = rig.client.list
        page = ObjectList(items=[], resource_version="abcde")
        monkeypatch.setattr(
            rig.client, "list", lambda resource, *a, **o: page if resource == CONFIG_MAPS else whole(resource, *a, **o)
        )

    rig = run(migration(), before=before)

    assert told(rig)["Failed"][2].endswith("resource version is not well formed: abcde")
    assert "resourceVersion" not in rig.client.get(STORAGE_VERSION_MIGRATIONS, "m")["status"]


def test_several_migrations_of_a_resource_run_one_after_the_other():
    rig = run(migration("late", created="2030-01-01T00:00:01Z"), migration("early"))

    assert patched(rig) == ["d/a", "d/b"] * 2
    assert told(rig, "early")["Succeeded"][0] == told(rig, "late")["Succeeded"][0] == "True"


@pytest.mark.parametrize(
    ("migrations", "first"),
    [
        ([], None),
        ([migration("b"), migration("a")], "a"),
        ([migration("a", created="2030-01-01T00:00:09Z"), migration("b")], "b"),
        ([migration("a"), migration("b", running=True)], None),
        ([migration("a", succeeded=True), migration("b", failed=True), migration("c")], "c"),
    ],
)
def test_the_oldest_that_waits_is_next(migrations, first):
    found = to_promote(migrations)

    assert (found and found["metadata"]["name"]) == first


def definition(generation=3):
    versions = [{"name": "v1", "storage": False}, {"name": "v2", "storage": True}]
    return {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "configmaps.", "generation": generation},
        "spec": {"versions": versions},
        "status": {"storedVersions": ["v1", "v2"], "conditions": []},
    }


def test_a_definition_forgets_the_versions_that_nothing_is_stored_in():
    rig = run(migration(), before=lambda rig: rig.client.seed(CUSTOM_RESOURCE_DEFINITIONS, definition()))

    (found,) = rig.client.objects(CUSTOM_RESOURCE_DEFINITIONS)
    (condition,) = found["status"]["conditions"]
    assert found["status"]["storedVersions"] == ["v2"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "StorageMigrating",
        "False",
        "MigrationSucceeded",
    )
    assert condition["message"] == "The migration has succeeded and the stored versions have been updated"


def test_a_definition_that_changed_meanwhile_forgets_nothing():
    old = {"type": "StorageMigrating", "status": "True", "reason": "MigrationRunning", "observedGeneration": 2}
    changed = definition()
    changed["status"]["conditions"] = [old]

    rig = run(
        migration(running=True, succeeded=True),
        before=lambda rig: rig.client.seed(CUSTOM_RESOURCE_DEFINITIONS, changed),
    )

    (found,) = rig.client.objects(CUSTOM_RESOURCE_DEFINITIONS)
    assert found["status"]["storedVersions"] == ["v1", "v2"]
    assert found["status"]["conditions"][0]["message"].endswith("not been updated due to a generation mismatch")


def test_the_definition_tells_that_a_migration_is_running():
    def before(rig):
        rig.client.seed(CUSTOM_RESOURCE_DEFINITIONS, definition())
        for _ in range(20):
            rig.client.fail_next("patch", "configmaps", TooManyRequests("later"))

    rig = run(migration(), before=before)

    (found,) = rig.client.objects(CUSTOM_RESOURCE_DEFINITIONS)
    (condition,) = found["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "MigrationRunning")
    assert condition["message"] == "Migration m is running"
    assert told(rig) == {"Running": ("True", "MigrationRunning", "The migration is running")}


def test_after_a_failed_migration_the_definition_forgets_nothing():
    marked = {"type": "StorageMigrating", "status": "True", "reason": "MigrationRunning", "observedGeneration": 3}
    before = definition()
    before["status"]["conditions"] = [marked]
    rig = run(
        migration(running=True, failed=True),
        before=lambda rig: rig.client.seed(CUSTOM_RESOURCE_DEFINITIONS, before),
    )

    (found,) = rig.client.objects(CUSTOM_RESOURCE_DEFINITIONS)
    (condition,) = found["status"]["conditions"]
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "False",
        "MigrationFailed",
        "The migration has failed",
    )
    assert found["status"]["storedVersions"] == ["v1", "v2"]
