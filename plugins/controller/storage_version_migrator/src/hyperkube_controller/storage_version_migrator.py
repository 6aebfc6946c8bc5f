"""storage-version-migrator: a StorageVersionMigration has all objects of a resource written anew.

What is written is stored in the version, and with the encryption, that hold now: an empty patch of each object is
enough. Of several migrations of one resource the oldest runs first, one at a time. A custom resource definition tells
of its migration in a condition, and forgets the versions that nothing is stored in any more.
Source: kubernetes ``pkg/controller/storageversionmigrator``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from hyperkube.client.discovery import ApiResource, discover
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import condition, is_true, with_condition
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.errors import (
    ApiError,
    Conflict,
    Expired,
    InternalError,
    NotFound,
    ServerTimeout,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
)
from hyperkube.machinery.groups import GroupResource, GroupVersionResource
from hyperkube.machinery.objects import Object, metadata, name_of, namespace_of
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

STORAGE_VERSION_MIGRATIONS = GroupVersionResource("storagemigration.k8s.io", "v1beta1", "storageversionmigrations")
RUNNING, SUCCEEDED, FAILED = "Running", "Succeeded", "Failed"
STORAGE_MIGRATING = "StorageMigrating"
WORKERS = 5
PAGE = 500
_SUCCESS_REASON, _FAILURE_REASON = "StorageVersionMigrationSucceeded", "StorageVersionMigrationFailed"
_NOT_SERVED = "resource does not exist in discovery"
_NOT_MIGRATABLE = "resource is not migratable"
_UNHANDLED = "migration encountered unhandled error"
_RETRIABLE = (Expired, InternalError, ServerTimeout, ServiceUnavailable, Timeout, TooManyRequests)
_DISCOVERY_LAG = timedelta(minutes=1)
"""For how long after a migration was made its resource may be missing from discovery."""


def resource_of(migration: Object) -> GroupResource:
    """Return the resource whose objects are written anew."""
    resource = (migration.get("spec") or {}).get("resource") or {}
    return GroupResource(resource.get("group") or "", resource.get("resource") or "")


def is_terminal(migration: Object) -> bool:
    """Tell whether the migration has come to an end, good or bad."""
    status = migration.get("status") or {}
    return is_true(status, SUCCEEDED) or is_true(status, FAILED)


def is_running(migration: Object) -> bool:
    """Tell whether it is the migration's turn."""
    return is_true(migration.get("status") or {}, RUNNING)


def to_promote(migrations: Iterable[Object]) -> Object | None:
    """Return the migration of a resource whose turn it is now; None if one is running, or none is left."""
    listed = list(migrations)
    if any(is_running(each) for each in listed):
        return None
    waiting = [each for each in listed if not is_terminal(each)]
    return min(waiting, key=lambda each: (metadata(each).get("creationTimestamp") or "", name_of(each)), default=None)


def is_newer(version: str, than: str) -> bool:
    """Compare two resource versions.

    Raises:
        ValueError: one of them is no positive decimal number.
    """
    for each in (version, than):
        if not (each.isascii() and each.isdigit()) or each.startswith("0"):
            raise ValueError(f"resource version is not well formed: {each}")
    return int(version) > int(than)


class StorageVersionMigrator(Plugin):
    """Runs migrations."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; its keys are the names of migrations."""
        self._migrations = self.informers.informer(STORAGE_VERSION_MIGRATIONS)
        self._loop = ReconcileLoop(
            self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger, workers=WORKERS
        )
        self._migrations.add_handler(self._loop.enqueue, self._loop.enqueue_update, self._enqueue_others)
        return self._loop

    def _others(self, migration: Object) -> list[Object]:
        """Return the migrations of the same resource, this one among them."""
        resource = resource_of(migration)
        return [each for each in self._migrations.list() if resource_of(each) == resource]

    def _enqueue_others(self, migration: Object) -> None:
        for other in self._others(migration):
            self._loop.enqueue(other)

    def _sync(self, name: str) -> None:
        migration = self._migrations.get("", name)
        if migration is None:
            return
        if is_terminal(migration):
            if is_running(migration):
                self._finish(migration)
            self._enqueue_waiting(migration)
        elif not is_running(migration):
            first = to_promote(self._others(migration))
            if first is not None and name_of(first) == name:
                self._begin(migration)
        else:
            self._run(migration)

    def _enqueue_waiting(self, migration: Object) -> None:
        for other in self._others(migration):
            if not is_terminal(other):
                self._loop.enqueue(other)

    def _begin(self, migration: Object) -> None:
        """Mark the definition first: the versions that it forgets in the end are those that it had from now on."""
        self._mark_definition(
            migration, "True", "MigrationRunning", f"Migration {name_of(migration)} is running", forget=False
        )
        self._say(migration, RUNNING, "True", "MigrationRunning", "The migration is running")

    def _finish(self, migration: Object) -> None:
        """Tell the definition how it ended, then give the turn to the next migration."""
        if is_true(migration.get("status") or {}, SUCCEEDED):
            text = "The migration has succeeded"
            self._mark_definition(migration, "False", "MigrationSucceeded", text, forget=True)
        else:
            self._mark_definition(migration, "False", "MigrationFailed", "The migration has failed", forget=True)
        self._say(migration, RUNNING, "False", "MigrationCompleted", "Migration completed")

    def _run(self, migration: Object) -> None:
        """Write all objects anew that are there when it begins; those that come later are stored as they should be."""
        served = self._served(resource_of(migration))
        if served is None:
            made = metadata(migration).get("creationTimestamp")
            if made and parse_time(made) + _DISCOVERY_LAG > self.context.clock.now():
                raise NotYet(_NOT_SERVED)
            self._say(migration, FAILED, "True", _FAILURE_REASON, _NOT_SERVED)
            return
        if not served.verbs >= {"list", "patch"}:
            self._say(migration, FAILED, "True", _FAILURE_REASON, _NOT_MIGRATABLE)
            return
        try:
            checkpoint = (migration.get("status") or {}).get("resourceVersion")
            if not checkpoint:
                self._set_checkpoint(migration, served.gvr)
                return  # the update comes back as the next key
            self._migrate(served.gvr, checkpoint)
        except _RETRIABLE as error:
            raise NotYet(str(error)) from error
        except (ApiError, ValueError) as error:
            self.context.logger.warning("migration %r: %s", name_of(migration), error)
            self._say(migration, FAILED, "True", _FAILURE_REASON, f"{_UNHANDLED}: {error}")
            return
        self._say(migration, SUCCEEDED, "True", _SUCCESS_REASON, "")

    def _set_checkpoint(self, migration: Object, resource: GroupVersionResource) -> None:
        """Note the resource version from which on objects are stored as they should be."""
        version = self.client.list(resource, limit=1).resource_version
        is_newer(version, version)
        status = {**(migration.get("status") or {}), "resourceVersion": version}
        try:
            self.client.update(STORAGE_VERSION_MIGRATIONS, {**migration, "status": status}, subresource="status")
        except (Conflict, NotFound) as error:
            raise NotYet(str(error)) from error

    def _migrate(self, resource: GroupVersionResource, checkpoint: str) -> None:
        token = ""
        while True:
            page = self.client.list(resource, limit=PAGE, continue_token=token)
            for obj in page.items:
                if not is_newer(metadata(obj)["resourceVersion"], checkpoint):
                    self._rewrite(resource, obj)
            token = page.continue_token
            if not token:
                return

    def _rewrite(self, resource: GroupVersionResource, obj: Object) -> None:
        # With the uid one that was deleted is not made again; with the resource version a conflict says that it was
        # written meanwhile, which is all that is wanted.
        meta = metadata(obj)
        patch = {"metadata": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
        try:
            self.client.patch(resource, name_of(obj), patch, namespace_of(obj))
        except (Conflict, NotFound):
            self.context.logger.debug("%s %r was written or deleted meanwhile", resource.resource, name_of(obj))

    def _served(self, resource: GroupResource) -> ApiResource | None:
        rows = [row for row in discover(self.client).resources if row.gvr.group_resource == resource]
        return next((row for row in rows if row.verbs >= {"list", "patch"}), next(iter(rows), None))

    def _say(self, migration: Object, kind: str, status: str, reason: str, message: str) -> None:
        said = {"type": kind, "status": status, "reason": reason, "message": message}
        before = migration.get("status") or {}
        conditions = with_condition(before.get("conditions") or (), said, self.context.clock.now())
        changed = {**migration, "status": {**before, "conditions": conditions}}
        self.client.update(STORAGE_VERSION_MIGRATIONS, changed, subresource="status")

    def _mark_definition(self, migration: Object, status: str, reason: str, message: str, *, forget: bool) -> None:
        """Set the condition of the custom resource definition, if the resource has one.

        Args:
            migration: the migration.
            status: the condition's.
            reason: the condition's.
            message: the condition's; of a success it goes on with what became of the stored versions.
            forget: drop the stored versions but the present one, if the definition is as it was at the beginning.
        """
        resource = resource_of(migration)
        try:
            definition = self.client.get(CUSTOM_RESOURCE_DEFINITIONS, f"{resource.resource}.{resource.group}")
        except NotFound:
            return
        generation = metadata(definition).get("generation", 0)
        before = definition.get("status") or {}
        marked = condition(before, STORAGE_MIGRATING) or {}
        unchanged = forget and marked.get("observedGeneration") == generation
        if reason == "MigrationSucceeded":
            message += (
                " and the stored versions have been updated"
                if unchanged
                else " but the stored versions have not been updated due to a generation mismatch"
            )
        said = {
            "type": STORAGE_MIGRATING,
            "status": status,
            "reason": reason,
            "message": message,
            "observedGeneration": generation,
        }
        conditions = with_condition(before.get("conditions") or (), said, self.context.clock.now())
        changed = {**before, "conditions": conditions}
        if unchanged and reason == "MigrationSucceeded":
            changed["storedVersions"] = [
                version["name"] for version in definition["spec"]["versions"] if version.get("storage")
            ]
        self.client.update(CUSTOM_RESOURCE_DEFINITIONS, {**definition, "status": changed}, subresource="status")
