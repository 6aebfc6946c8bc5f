"""The storage-version-migrator controller: one migration at a time, each object written once, and all told."""

import json

import pytest
from hyperkube_controller.storage_version_migrator import (
    STORAGE_VERSION_MIGRATIONS,
    StorageVersionMigrator,
    to_promote,
)

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.errors import Conflict, Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

CORE = [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["list", "patch"]}]


def serve_discovery(rig):
    for path, document in {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/api/v1": {"resources": CORE},
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


def test_a_refusal_ends_it():
    rig = run(migration(), before=lambda rig: rig.client.fail_next("patch", "configmaps", Forbidden("not you")))

    assert told(rig)["Failed"] == (
        "True",
        "StorageVersionMigrationFailed",
        "migration encountered unhandled error",
    )


def test_a_resource_that_is_not_served_fails():
    rig = run(migration(resource="rockets", group="example.com"))

    assert told(rig)["Failed"] == ("True", "StorageVersionMigrationFailed", "resource does not exist in discovery")
    assert told(rig)["Running"][0] == "False"


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
