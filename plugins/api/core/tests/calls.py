"""A call as strategies and handlers see it, with objects kept in a dict."""

from copy import deepcopy

from hyperkube.hookspecs.api import Call
from hyperkube.hookspecs.authz import Decision, Rules
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.machinery.users import UserInfo


class Everything:
    def authorize(self, attributes):
        return Decision("allow")

    def rules(self, user, namespace):
        return Rules()


class Stored:
    """Objects in memory; what was deleted is remembered."""

    def __init__(self, *objects):
        self.objects = {}
        self.deleted = []
        self.records = {}
        for resource, obj in objects:
            self.put(resource, obj)

    def put(self, resource, obj):
        meta = obj["metadata"]
        self.objects[resource, meta.get("namespace", ""), meta["name"]] = obj

    def get(self, resource, name, namespace=""):
        try:
            return deepcopy(self.objects[resource, namespace, name])
        except KeyError:
            raise NotFound.about(resource.group_resource, name) from None

    def list(self, resource, namespace=""):
        return [
            deepcopy(obj)
            for (kind, home, _), obj in self.objects.items()
            if kind == resource and (not namespace or home == namespace)
        ]

    def by_field(self, resource, field_name, value):
        return []

    def create(self, resource, obj, *, dry_run=False):
        meta = obj["metadata"]
        if (resource, meta.get("namespace", ""), meta["name"]) in self.objects:
            raise AlreadyExists.about(resource.group_resource, meta["name"])
        self.put(resource, deepcopy(obj))
        return obj

    def change(self, resource, name, namespace, change, *, dry_run=False, admit=False):
        changed = change(self.get(resource, name, namespace))
        if not dry_run:
            self.put(resource, changed)
        return changed

    def change_record(self, key, change):
        record = change(self.records.get(key))
        if record is not None:
            self.records[key] = record

    def delete(self, resource, name, namespace="", *, options):
        self.get(resource, name, namespace)
        self.deleted.append((resource, name, options))
        if not options.get("dryRun"):
            del self.objects[resource, namespace, name]
        return {}


def a_call(stored=None, **more):
    settings = {
        "user": UserInfo("ann", groups=("dev",)),
        "verb": "create",
        "resource": PODS,
        "namespace": "ns",
        "name": "p",
        "objects": stored or Stored(),
        "clock": FakeClock(),
        "authorizer": Everything(),
    }
    return Call(**{**settings, **more})
