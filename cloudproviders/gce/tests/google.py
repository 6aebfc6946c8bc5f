"""Compute Engine in this process: keeps what it is told, in the shapes of the API's discovery document (compute v1).

A field that the document does not have is refused, as is deleting what is used; operations end when they are waited for.
"""

from __future__ import annotations

import itertools
import re
from urllib.parse import urlsplit

from hyperkube_cloud.gce import Gce
from hyperkube_testing.rest_cloud import RestDouble, answer

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs import cloud as specs
from hyperkube.plugin import PluginContext, PluginHost

PROJECT, REGION = "shop-project", "us-central1"
ZONES = ("us-central1-a", "us-central1-b")
CLUSTER_ID = "0123456789abcdef"
HOST = "https://compute.googleapis.com/compute/v1"

FIELDS = {
    "addresses": "name description address addressType networkTier subnetwork purpose ipVersion labels",
    "firewalls": "name description network priority sourceRanges destinationRanges sourceTags targetTags allowed denied direction",
    "forwardingRules": "name description IPAddress IPProtocol portRange ports allPorts target backendService loadBalancingScheme "
    "network subnetwork networkTier allowGlobalAccess labels",
    "targetPools": "name description instances sessionAffinity healthChecks backupPool failoverRatio",
    "httpHealthChecks": "name description host port requestPath checkIntervalSec timeoutSec healthyThreshold unhealthyThreshold",
    "healthChecks": "name description type checkIntervalSec timeoutSec healthyThreshold unhealthyThreshold httpHealthCheck",
    "backendServices": "name description protocol healthChecks backends sessionAffinity loadBalancingScheme fingerprint network "
    "kind id selfLink region",
    "instanceGroups": "name description network namedPorts",
    "routes": "name description destRange network priority nextHopInstance tags",
    "disks": "name description sizeGb type replicaZones labels sourceSnapshot",
}
"""Collection → the fields that a request may have, as the discovery document's schemas name them."""
USED_BY = {
    "targetPools": ("forwardingRules", "target"),
    "backendServices": ("forwardingRules", "backendService"),
    "httpHealthChecks": ("targetPools", "healthChecks"),
    "healthChecks": ("backendServices", "healthChecks"),
    "instanceGroups": ("backendServices", "backends"),
}
_THING = re.compile(
    r"/compute/v1/projects/([^/]+)/((?:(?:zones|regions)/[^/]+/|global/)?)([A-Za-z]+)(?:/([^/]+))?(?:/([A-Za-z]+))?"
)


_CLUSTERS = re.compile(rf"/v1/projects/{PROJECT}/locations/([^/]+)/clusters")


def error(status, reason, text):
    told = {"message": text, "domain": "global", "reason": reason}
    return status, {"error": {"code": status, "message": text, "errors": [told]}}


class Google(RestDouble):
    """One project; `things` is path → resource."""

    def __init__(self, page=2):
        super().__init__()
        self.things, self.page = {}, page
        self._operations, self._numbers = itertools.count(1), itertools.count(9)
        for zone in ZONES:
            self.things[f"zones/{zone}"] = {"name": zone, "region": f"{HOST}/projects/{PROJECT}/regions/{REGION}"}
        self.things["zones/europe-west1-b"] = {
            "name": "europe-west1-b",
            "region": f"{HOST}/projects/{PROJECT}/regions/europe-west1",
        }
        self.things["global/networks/default"] = {"name": "default", "autoCreateSubnetworks": True}
        self.subnet("default", "10.128.0.0/20")
        self.members = {}
        others = {"key": "sshKeys", "value": "ops:ssh-rsa AAAAB1 ops@desk"}
        self.metadata = {
            "kind": "compute#metadata",
            "fingerprint": "m0",
            "items": [{"key": "google-a", "value": "b"}, others],
        }
        self.clusters = {}

    def subnet(self, name, block):
        path = f"regions/{REGION}/subnetworks/{name}"
        self.things[path] = {
            "name": name, "ipCidrRange": block, "selfLink": self.link(path), "network": self.link("global/networks/default")
        }  # fmt: skip

    def link(self, path):
        return f"{HOST}/projects/{PROJECT}/{path}"

    def machine(self, name="node-1", zone=ZONES[0], status="RUNNING"):
        """Run an instance and return its node."""
        card = {
            "networkIP": f"10.128.0.{next(self._numbers)}", "network": self.link("global/networks/default"),
            "accessConfigs": [{"natIP": "203.0.113.9"}], "name": "nic0", "fingerprint": "f0",
        }  # fmt: skip
        self.things[f"zones/{zone}/instances/{name}"] = {
            "name": name, "status": status, "zone": self.link(f"zones/{zone}"), "id": "42", "tags": {"items": ["node"]},
            "machineType": self.link(f"zones/{zone}/machineTypes/n2-standard-4"), "networkInterfaces": [card], "disks": [],
        }  # fmt: skip
        labels = {"topology.kubernetes.io/zone": zone}
        return {"metadata": {"name": name, "labels": labels}, "spec": {"providerID": f"gce://{PROJECT}/{zone}/{name}"}}

    def changes(self, method, path):
        return method != "GET" and not path.endswith(("/wait", "/listInstances"))

    def everything(self):
        kept = {path: dict(thing) for path, thing in self.things.items() if "/instances/" not in path}
        members = {path: sorted(names) for path, names in self.members.items()}
        return kept, members, self.metadata["items"]

    def made(self, kind):
        return [path.rpartition("/")[2] for path in self.things if f"/{kind}/" in path]

    def play(self, method, path, query, body):
        if path.startswith("/computeMetadata/"):
            raise AssertionError("the metadata server is another host")
        if found := _CLUSTERS.fullmatch(path):
            rows = [{"name": name, "location": found[1]} for name in self.clusters.get(found[1], ())]
            return 200, {"clusters": rows} if rows else {}
        if path == f"/compute/v1/projects/{PROJECT}":
            return 200, {"kind": "compute#project", "name": PROJECT, "commonInstanceMetadata": self.metadata}
        if path == f"/compute/v1/projects/{PROJECT}/setCommonInstanceMetadata":
            return self._set_metadata(body)
        project, place, kind, name, verb = _THING.fullmatch(path).groups("")
        if project != PROJECT and kind not in {"firewalls", "routes", "networks", "subnetworks"}:
            return error(404, "notFound", f"The resource 'projects/{project}' was not found")
        if kind == "operations":
            return 200, {"name": name, "status": "DONE", "kind": "compute#operation"}
        where = f"{place}{kind}"
        if not name:
            return self._list(where, query) if method == "GET" else self._insert(where, kind, body)
        held = self.things.get(f"{where}/{name}")
        if held is None:
            return error(404, "notFound", f"The resource '{where}/{name}' was not found")
        if verb:
            return self._verb(f"{where}/{name}", held, verb, query, body)
        if method == "GET":
            return 200, held
        if method == "DELETE":
            return self._delete(f"{where}/{name}", kind)
        if unknown := set(body) - set(FIELDS[kind].split()):
            return error(400, "invalid", f"Unknown names {sorted(unknown)}")
        if method == "PUT" and kind == "backendServices" and body.get("fingerprint") != held["fingerprint"]:
            return error(412, "conditionNotMet", "Invalid fingerprint.")
        self.things[f"{where}/{name}"] = {**held, **body} if method == "PATCH" else self._filled(where, kind, body)
        return self._operation()

    def _set_metadata(self, body):
        keys = [row["key"] for row in body["items"]]
        if set(body) - {"kind", "fingerprint", "items"} or len(keys) != len(set(keys)):
            return error(400, "invalid", f"Unknown names {sorted(body)}, or keys twice {keys}")
        if body.get("fingerprint") != self.metadata["fingerprint"]:
            return error(412, "conditionNotMet", "Supplied fingerprint does not match current metadata fingerprint.")
        self.metadata = body | {"fingerprint": f"{body['fingerprint']}+"}
        return self._operation()

    def _operation(self):
        return 200, {"name": f"operation-{next(self._operations)}", "status": "RUNNING", "kind": "compute#operation"}

    def _list(self, where, query):
        found = [
            thing
            for path, thing in self.things.items()
            if path.startswith(f"{where}/") and path.count("/") == where.count("/") + 1
        ]
        for key, wanted in re.findall(r"(\w+) eq ([^)\s]+)", query.get("filter", "")):
            found = [thing for thing in found if re.fullmatch(wanted, str(thing.get(key, "")))]
        start = int(query.get("pageToken", 0))
        more = {"nextPageToken": str(start + self.page)} if start + self.page < len(found) else {}
        items = found[start : start + self.page]
        return 200, {**({"items": items} if items else {}), **more}

    def _insert(self, where, kind, body):
        if unknown := set(body) - set(FIELDS[kind].split()):
            return error(400, "invalid", f"Unknown names {sorted(unknown)}")
        path = f"{where}/{body['name']}"
        if path in self.things:
            return error(409, "alreadyExists", f"The resource '{path}' already exists")
        if kind == "addresses" and any(
            thing.get("address") == body.get("address", "none") for thing in self.things.values()
        ):
            return error(400, "invalid", "Specified IP address is in-use and would result in a conflict.")
        for key in ("target", "backendService", "sourceSnapshot"):
            if key in body and self._path(body[key]) not in self.things:
                return error(400, "invalid", f"Invalid value for field 'resource.{key}': it does not exist")
        self.things[path] = self._filled(where, kind, body)
        if kind == "instanceGroups":
            self.members[path] = set()
        return self._operation()

    def _filled(self, where, kind, body):
        thing = {**body, "selfLink": self.link(f"{where}/{body['name']}")}
        if kind == "addresses":
            internal = body.get("addressType") == "INTERNAL"
            thing.setdefault("address", self._free("10.128.0." if internal else "203.0.113."))
            thing.setdefault("addressType", "EXTERNAL")
            thing |= {} if internal else {"networkTier": body.get("networkTier", "PREMIUM")}
        if kind == "forwardingRules":
            thing.setdefault("loadBalancingScheme", "EXTERNAL")
        if kind == "backendServices":
            thing["fingerprint"] = "fp"
        if kind == "disks":
            thing["zone"] = self.link(where.removesuffix("/disks"))
            thing["users"] = []
            if "replicaZones" in body:
                del thing["zone"]
        return thing

    def _free(self, prefix):
        taken = {thing.get(key) for thing in self.things.values() for key in ("address", "IPAddress")}
        return next(f"{prefix}{last}" for last in range(50, 250) if f"{prefix}{last}" not in taken)

    def _path(self, link):
        return urlsplit(link).path.partition(f"/projects/{PROJECT}/")[2]

    def _delete(self, path, kind):
        by, key = USED_BY.get(kind, ("", ""))
        users = [
            name for name, thing in self.things.items() if f"/{by}/" in name and path in str(thing.get(key, "")) + '"'
        ]
        users = [name for name in users if re.search(re.escape(path) + r"(?![\w-])", str(self.things[name][key]))]
        if users or self.things[path].get("users"):
            return error(
                400,
                "resourceInUseByAnotherResource",
                f"The {kind} resource '{path}' is already being used by '{users}'",
            )
        del self.things[path]
        self.members.pop(path, None)
        return self._operation()

    def _verb(self, path, held, verb, query, body):
        if verb in {"addInstance", "removeInstance"}:
            links = [row["instance"] for row in body["instances"]]
            rest = [each for each in held.get("instances", []) if each not in links]
            held["instances"] = sorted(rest + links) if verb == "addInstance" else rest
        elif verb == "listInstances":
            return 200, {"items": [{"instance": self.link(each)} for each in sorted(self.members[path])]}
        elif verb in {"addInstances", "removeInstances"}:
            paths = {self._path(row["instance"]) for row in body["instances"]}
            if verb == "addInstances" and not paths <= self.things.keys():
                return error(404, "notFound", "an instance was not found")
            self.members[path] = self.members[path] | paths if verb == "addInstances" else self.members[path] - paths
        elif verb == "createSnapshot":
            return self._snapshot(path, held, body)
        elif verb == "resize":
            held["sizeGb"] = body["sizeGb"]
        elif verb == "attachDisk":
            disk = self.things.get(self._path(body["source"]))
            if disk is None:
                return error(404, "notFound", "The disk resource was not found")
            if disk["users"]:
                return error(400, "resourceInUseByAnotherResource", "The disk resource is already being used")
            held["disks"].append({"deviceName": body["deviceName"], "source": body["source"]})
            disk["users"].append(self.link(path))
        elif verb == "updateNetworkInterface":
            (card,) = [each for each in held["networkInterfaces"] if each["name"] == query["networkInterface"]]
            if body.pop("fingerprint") != card["fingerprint"]:
                return error(412, "conditionNotMet", "Invalid fingerprint.")
            card |= body | {"fingerprint": card["fingerprint"] + "+"}
        elif verb == "detachDisk":
            (gone,) = [each for each in held["disks"] if each["deviceName"] == query["deviceName"]]
            held["disks"].remove(gone)
            self.things[self._path(gone["source"])]["users"].remove(self.link(path))
        else:
            raise AssertionError(verb)
        return self._operation()

    def _snapshot(self, path, held, body):
        where = f"global/snapshots/{body['name']}"
        if where in self.things:
            return error(409, "alreadyExists", f"The resource '{where}' already exists")
        self.things[where] = {
            "name": body["name"], "status": "READY", "sourceDisk": self.link(path), "diskSizeGb": held["sizeGb"],
            "creationTimestamp": "2026-01-01T00:00:00.000-08:00",
        }  # fmt: skip
        return self._operation()


class MachineMetadata:
    """The metadata server of a machine."""

    def __init__(self, name="node-1", zone=ZONES[0]):
        self.told = {
            "project/project-id": PROJECT, "instance/zone": f"projects/1/zones/{zone}", "instance/hostname": f"{name}.c.p.internal",
            "instance/network-interfaces/0/network": "projects/1/networks/default",
        }  # fmt: skip

    def __call__(self, request):
        path = urlsplit(request.url).path.removeprefix("/computeMetadata/v1/")
        if request.headers.get("Metadata-Flavor") != "Google" or path not in self.told:
            return answer(404, b"", metadata_flavor="Google")
        return answer(200, self.told[path].encode(), metadata_flavor="Google")


def built(google, folder, **config):
    """Return the plugin, which talks to that double."""
    file = folder / "gce.conf"
    lines = [f"{key.replace('_', '-')} = {value}" for key, value in config.items()]
    file.write_text("\n".join(["[Global]", "node-tags = node", *lines]))

    class Played(Gce):
        def ways(self, config):
            return google, MachineMetadata()

    client = FakeClient()
    client.seed(
        specs_config_maps(),
        {"metadata": {"name": "ingress-uid", "namespace": "kube-system"}, "data": {"uid": CLUSTER_ID}},
    )
    return Played(PluginContext(name="gce", settings={"cloud_config": str(file)}, client=client))


def specs_config_maps():
    from hyperkube.kinds.resources import CONFIG_MAPS

    return CONFIG_MAPS


def provider(plugin):
    return PluginHost("cloud", specs, [("gce", plugin)]).hook.cloud_provider()
