"""A vCenter's inventory in this process: sessions, machines and hosts, properties in pages, and tags.

What the vendor's types do not have is refused by `wire`; a session that is forgotten is refused, as by a vCenter.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
import sys

from hyperkube_testing.rest_cloud import RestDouble, answer
from pyVmomi import vim, vmodl

wire = sys.modules["vsphere_wire"]
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
USER, PASSWORD = "administrator@vsphere.local", "secret-of-the-test"
LOGINS = ("Login", "LoginByToken")
READS = (
    "RetrieveServiceContent", *LOGINS, "Logout", "Find", "RetrievePropertiesEx", "ContinueRetrievePropertiesEx",
    "QueryVirtualDiskUuid", "SearchDatastore_Task", "Pbm",
)  # fmt: skip
DEVICE = vim.vm.device


def snake(name):
    """Return a name of the vendor's as Python's are, that of a task by what it does."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("_Task")).lower()


class Faulty(Exception):
    """A fault that a method ends in."""

    def __init__(self, fault):
        super().__init__(str(fault))
        self.fault = fault


def fault(kind, msg="", **words):
    return Faulty(kind(msg=msg, **words))


class Inventory(RestDouble):
    """One vCenter: `objects` is an id → (type, properties by path); `files` is a disk's path → its size, KiB, and uuid."""

    def __init__(self, page=3):
        super().__init__()
        self.page, self.objects, self.files, self.folders = page, {}, {}, set()
        self.tokens, self.sessions, self.tasks = {}, set(), {}
        self.tags, self.categories, self.attached_tags = {}, {}, {}
        self.policies = {}
        self._numbers = itertools.count(1)
        self.root = self.add(vim.Folder, "group-d1", name="Datacenters", childEntity=[])

    # the inventory, as a test sets it up

    def add(self, kind, ident, **properties):
        self.objects[ident] = (kind, {key.replace("__", "."): value for key, value in properties.items()})
        return kind(ident)

    def set(self, ref, **properties):
        self.objects[ref._moId][1].update({key.replace("__", "."): value for key, value in properties.items()})

    def get(self, ref, path):
        return self.objects[ref._moId][1].get(path)

    def datacenter(self, name="dc"):
        made = self.add(vim.Datacenter, f"datacenter-{name}", name=name, parent=self.root, datastore=[])
        self.get(self.root, "childEntity").append(made)
        for path, folder in (("hostFolder", "host"), ("vmFolder", "vm")):
            ref = self.add(vim.Folder, f"group-{folder}-{name}", name=folder, parent=made, childEntity=[])
            self.set(made, **{path: ref})
        return made

    def cluster(self, datacenter, name="cluster", hosts=2):
        folder = self.get(datacenter, "hostFolder")
        made = self.add(vim.ClusterComputeResource, f"domain-{name}", name=name, parent=folder, host=[])
        self.get(folder, "childEntity").append(made)
        pool = self.add(vim.ResourcePool, f"resgroup-{name}", name="Resources", parent=made)
        self.set(made, resourcePool=pool)
        for number in range(hosts):
            host = self.add(vim.HostSystem, f"host-{name}-{number}", name=f"{name}-{number}", parent=made, datastore=[])
            self.get(made, "host").append(host)
        return made

    def datastore(self, datacenter, name, hosts, free=1 << 40, kind="VMFS"):
        browser = self.add(vim.host.DatastoreBrowser, f"datastoreBrowser-{name}")
        made = self.add(
            vim.Datastore, f"datastore-{name}", name=name, browser=browser, summary__freeSpace=free,
            summary__type=kind, summary__accessible=True,
        )  # fmt: skip
        self.get(datacenter, "datastore").append(made)
        for host in hosts:
            self.get(host, "datastore").append(made)
        return made

    def machine(self, host, name="node-1", uuid="", cards=None, **more):
        """Run a machine and return its node."""
        number = next(self._numbers)
        uuid = uuid or f"42000000-0000-0000-0000-{number:012x}"
        controller = DEVICE.ParaVirtualSCSIController(key=1000, busNumber=0, sharedBus="noSharing")
        cards = cards if cards is not None else [("VM Network", [f"10.0.{number // 256}.{number % 256}"], 4000)]
        told = [vim.vm.GuestInfo.NicInfo(network=net, ipAddress=ips, connected=True, deviceConfigId=of)
                for net, ips, of in cards]  # fmt: skip
        ref = self.add(vim.VirtualMachine, f"vm-{number}", name=name, config__uuid=uuid, runtime__powerState="poweredOn",
                       runtime__host=host, guest__hostName=name, guest__net=told, summary__config__numCpu=4,
                       summary__config__memorySizeMB=8192, summary__config__guestId="ubuntu64Guest",
                       config__hardware__device=[controller])  # fmt: skip
        self.set(ref, **more)
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "spec": {"providerID": f"vsphere://{uuid}"},
        }

    def ref_of(self, node):
        uuid = node["spec"]["providerID"].removeprefix("vsphere://")
        return next(kind(ident) for ident, (kind, held) in self.objects.items() if held.get("config.uuid") == uuid)

    def tag(self, ref, category, name):
        ident = f"urn:vmomi:InventoryServiceTag:{category}-{name}"
        self.categories[f"cat-{category}"] = category
        self.tags[ident] = (name, f"cat-{category}")
        self.attached_tags.setdefault((type(ref)._wsdlName, ref._moId), []).append(ident)

    def everything(self):
        machines = {
            held["name"]: [wire.plain(each) for each in held["config.hardware.device"]]
            for kind, held in self.objects.values() if kind is vim.VirtualMachine
        }  # fmt: skip
        for devices in machines.values():
            for each in devices:
                each.get("backing", {}).pop("uuid", None)
        return {path: size for path, (size, _uuid) in sorted(self.files.items())}, machines

    # the wire

    def changes(self, method, path):
        if path.startswith("/rest/"):
            return False
        return not method.startswith(READS)

    def let_another_in(self, method, path):
        mine = self.__dict__.get("request"), self.session  # another's calls are answered in between
        super().let_another_in(method, path)
        self.request, self.session = mine

    def told(self, request):
        if request.url.partition("://")[2].partition("/")[2].startswith("rest/"):
            self.session = request.headers.get("vmware-api-session-id", request.headers.get("Authorization", ""))
            return super().told(request)
        self.request = wire.read(request.body)
        cookie = request.headers.get("Cookie", "").partition('"')[2].rstrip('"')
        self.session = self.request.context.get("vcSessionCookie", cookie) if "/pbm" in request.url else cookie
        shown = {key: wire.plain(value) for key, value in self.request.arguments.items() if key != "password"}
        return self.request.name, self.request.this[1], shown

    def answered(self, method, path, body):
        if path.startswith("/rest/"):
            return super().answered(method, path, body)
        request = self.request
        try:
            if method not in {"RetrieveServiceContent", *LOGINS} and self.session not in self.sessions:
                raise fault(vim.fault.NotAuthenticated, "The session is not authenticated.")
            words = request.arguments
            result = getattr(self, f"do_{snake(method)}")(
                request.this[1], **{snake(key): each for key, each in words.items()}
            )
            if method.endswith("_Task"):
                result = self.task(result)
        except Faulty as error:
            return answer(500, wire.write_fault(request, error.fault))
        more = {}
        if method in LOGINS:
            more = {"set_cookie": f'vmware_soap_session="{result.key}"; Path=/; HttpOnly; Secure;'}
        return answer(200, wire.write(request, result), **more)

    def play(self, method, path, query, body):
        if path == "/rest/com/vmware/cis/session":
            if method == "DELETE":
                self.sessions.discard(self.session)
                return 200, {}
            made = f"rest-{next(self._numbers)}"
            self.sessions.add(made)
            return 200, {"value": made}
        if self.session not in self.sessions:
            return 401, {"type": "com.vmware.vapi.std.errors.unauthenticated", "value": {"messages": []}}
        place = path.removeprefix("/rest/com/vmware/cis/tagging/")
        kind, _, ident = place.partition("/id:")
        if kind == "tag-association" and query == {"~action": "list-attached-tags-on-objects"}:
            asked = [(each["type"], each["id"]) for each in body["object_ids"]]
            return 200, {"value": [
                {"object_id": {"type": of[0], "id": of[1]}, "tag_ids": self.attached_tags[of]}
                for of in asked if of in self.attached_tags
            ]}  # fmt: skip
        if kind == "tag" and ident in self.tags:
            name, category = self.tags[ident]
            return 200, {
                "value": {"id": ident, "name": name, "category_id": category, "description": "", "used_by": []}
            }
        if kind == "category" and ident in self.categories:
            return 200, {"value": {"id": ident, "name": self.categories[ident], "cardinality": "SINGLE"}}
        said = {"default_message": f"{ident} was not found", "id": "x", "args": []}
        return 404, {"type": "com.vmware.vapi.std.errors.not_found", "value": {"messages": [said]}}

    # methods

    def do_retrieve_service_content(self, _this):
        about = vim.AboutInfo(
            name="VMware vCenter Server", fullName="VMware vCenter Server 8.0.3", vendor="VMware, Inc.", version="8.0.3",
            build="1", osType="linux-x64", productLineId="vpx", apiType="VirtualCenter", apiVersion="8.0.3.0",
        )  # fmt: skip
        return vim.ServiceInstanceContent(
            about=about, rootFolder=vim.Folder("group-d1"), searchIndex=vim.SearchIndex("SearchIndex"),
            propertyCollector=vmodl.query.PropertyCollector("propertyCollector"), fileManager=vim.FileManager("FileManager"),
            sessionManager=vim.SessionManager("SessionManager"), virtualDiskManager=vim.VirtualDiskManager("virtualDiskManager"),
        )  # fmt: skip

    def do_login(self, _this, user_name, password):
        if (user_name, password) != (USER, PASSWORD):
            raise fault(vim.fault.InvalidLogin, f"Cannot complete login: {password}")
        key = f"soap-{next(self._numbers)}"
        self.sessions.add(key)
        return vim.UserSession(
            key=key, userName=user_name, fullName="", loginTime=NOW, lastActiveTime=NOW, locale="en", messageLocale="en",
            extensionSession=False, ipAddress="", userAgent="", callCount=0,
        )  # fmt: skip

    def do_logout(self, _this):
        self.sessions.discard(self.session)

    def line(self, ref):
        made = [ref]
        while (parent := self.get(made[-1], "parent")) is not None:
            made.append(parent)
        return made

    def found(self, datacenter, fits):
        return next((kind(ident) for ident, (kind, held) in self.objects.items()
                     if kind is vim.VirtualMachine and fits(held) and self.is_in(held, datacenter)), None)  # fmt: skip

    def do_find_by_uuid(self, _this, uuid, vm_search, datacenter=None, instance_uuid=False):
        assert (vm_search, instance_uuid) == (True, False)
        return self.found(datacenter, lambda held: held.get("config.uuid") == uuid)

    def do_find_by_dns_name(self, _this, dns_name, vm_search, datacenter=None):
        assert vm_search
        return self.found(datacenter, lambda held: held.get("guest.hostName") == dns_name)

    def do_find_by_ip(self, _this, ip, vm_search, datacenter=None):
        assert vm_search
        return self.found(datacenter, lambda held: any(ip in card.ipAddress for card in held.get("guest.net") or ()))

    def is_in(self, held, datacenter):
        return datacenter is None or datacenter._moId in {each._moId for each in self.line(held["runtime.host"])}

    def do_find_by_inventory_path(self, _this, inventory_path):
        at = self.root
        for part in inventory_path.split("/"):
            at = next((kind(ident) for ident, (kind, held) in self.objects.items()
                       if held.get("name") == part and held.get("parent") is not None
                       and held["parent"]._moId == at._moId), None)  # fmt: skip
            if at is None:
                return None
        return at

    def do_retrieve_properties_ex(self, _this, spec_set, options):
        rows = [row for spec in spec_set for row in self.collected(spec)]
        return self.paged(rows)

    def do_continue_retrieve_properties_ex(self, _this, token):
        return self.paged(self.tokens.pop(token))

    def paged(self, rows):
        token = None
        if len(rows) > self.page:
            token = str(next(self._numbers))
            self.tokens[token] = rows[self.page :]
        return vmodl.query.PropertyCollector.RetrieveResult(objects=rows[: self.page], token=token) if rows else None

    def collected(self, spec):
        ways = {each.name: each for row in spec.objectSet for each in row.selectSet if each.name}
        done, todo = [], [(row.obj, row.selectSet, row.skip) for row in spec.objectSet]
        for ref, on, skips in todo:
            if ref._moId not in self.objects:
                raise fault(vmodl.fault.ManagedObjectNotFound, "has already been deleted", obj=ref)
            kind, held = self.objects[ref._moId]
            if ref._moId in {each._moId for each in done}:
                continue
            done.append(kind(ref._moId))
            for each in on:
                way = each if isinstance(each, vmodl.query.PropertyCollector.TraversalSpec) else ways[each.name]
                if issubclass(kind, way.type):
                    wire.path_type(kind, way.path)
                    found = held.get(way.path) or []
                    found = found if isinstance(found, list) else [found]
                    todo.extend((ref, way.selectSet, way.skip) for ref in found)
            for wanted in spec.propSet:
                if issubclass(kind, wanted.type) and not skips:
                    yield self.row(kind, ref, held, wanted.pathSet)

    def row(self, kind, ref, held, paths):
        rows = []
        for path in paths:
            of = wire.path_type(kind, path)  # the vendor's type has it
            value = held.get(path)
            if value is not None:
                value = of(value) if isinstance(value, list) or of is vim.VirtualMachine.PowerState else value
                rows.append(vmodl.DynamicProperty(name=path, val=value))
        return vmodl.query.PropertyCollector.ObjectContent(obj=kind(ref._moId), propSet=rows)
