"""A vCenter in this process: to its inventory, tasks, datastores, disks, machines' hardware and storage policies.

As a vCenter does, this one goes on with a task until it is looked at once more, locks the files of attached disks, and
destroys them with a machine.
"""

from __future__ import annotations

import itertools
import sys

from hyperkube_cloud.vsphere import VSphere
from pyVmomi import pbm, vim, vmodl

from hyperkube.hookspecs import cloud as specs
from hyperkube.machinery.clock import FakeClock
from hyperkube.plugin import PluginContext, PluginHost

inventory = sys.modules["vsphere_inventory"]
DEVICE, NOW, USER, Faulty, fault = (
    inventory.DEVICE, inventory.NOW, inventory.USER, inventory.Faulty, inventory.fault
)  # fmt: skip
FOLDER_ID = "25d8b159-948c-4b73-e499-02001ad1b044"


class VMware(inventory.Inventory):
    """One vCenter with its storage."""

    # tasks: what they do is done at once, and told at the second look

    def task(self, result):
        ident = f"task-{next(self._numbers)}"
        self.add(vim.Task, ident)
        held = self.objects[ident][1]
        words = {
            "key": ident, "task": vim.Task(ident), "descriptionId": "", "cancelled": False, "cancelable": False,
            "reason": vim.TaskReasonUser(userName=USER), "queueTime": NOW, "eventChainId": 1,
        }  # fmt: skip
        ended = (
            {"state": "error", "error": result.fault}
            if isinstance(result, Faulty)
            else {"state": "success", "result": result}
        )
        states = [vim.TaskInfo(**words, state="running"), vim.TaskInfo(**words, **ended)]

        class Looked(dict):
            def get(self, path):
                return states.pop(0) if len(states) > 1 else states[0]

        self.objects[ident] = (vim.Task, Looked(held))
        return vim.Task(ident)

    def canonical(self, path):
        """Return a path as the vCenter writes it: vSAN has ids for folders."""
        name = path[1:].partition("]")[0]
        (kind,) = (
            held["summary.type"] for of, held in self.objects.values() if of is vim.Datastore and held["name"] == name
        )
        return path.replace("kubevols/", f"{FOLDER_ID}/") if kind == "vsan" else path

    def holder(self, path):
        shown = self.canonical(path)
        return next((ident for ident, (kind, held) in self.objects.items() if kind is vim.VirtualMachine
                     for each in held["config.hardware.device"] if getattr(each.backing, "fileName", "") == shown), None)  # fmt: skip

    def made_file(self, path, size):
        if path.rpartition("/")[0] not in self.folders:
            return fault(vim.fault.FileNotFound, f"File {path} was not found", file=path)
        if path in self.files:
            return fault(vim.fault.FileAlreadyExists, f"File {path} already exists", file=path)
        number = next(self._numbers)
        self.files[path] = (
            size,
            f"60 00 C2 9{number % 10} 00 00 00 00-00 00 00 00 00 00 {number // 256:02x} {number % 256:02x}",
        )
        return None

    def do_make_directory(self, _this, name, datacenter, create_parent_directories=False):
        if name in self.folders:
            raise fault(vim.fault.FileAlreadyExists, f"File {name} already exists", file=name)
        self.folders.add(name)

    def do_create_virtual_disk(self, _this, name, datacenter, spec):
        assert spec.diskType in {"thin", "preallocated", "eagerZeroedThick"}
        return self.made_file(name, spec.capacityKb) or name

    def needed(self, name):
        if name not in self.files:
            raise fault(vim.fault.FileNotFound, f"File {name} was not found", file=name)
        return self.files[name]

    def do_query_virtual_disk_uuid(self, _this, name, datacenter):
        return self.needed(name)[1]

    def do_delete_virtual_disk(self, _this, name, datacenter):
        self.needed(name)
        if self.holder(name):
            return fault(vim.fault.FileLocked, "Unable to access file since it is locked", file=name)
        del self.files[name]
        return None

    def do_extend_virtual_disk(self, _this, name, datacenter, new_capacity_kb, eager_zero=False):
        size, uuid = self.needed(name)
        if self.holder(name):
            return fault(vim.fault.FileLocked, "Unable to access file since it is locked", file=name)
        if new_capacity_kb < size:
            return fault(vmodl.fault.InvalidArgument, "A specified parameter was not correct: newCapacityKb")
        self.files[name] = (new_capacity_kb, uuid)
        return None

    def do_search_datastore(self, this, datastore_path, search_spec):
        if datastore_path not in self.folders:
            return fault(vim.fault.FileNotFound, f"File {datastore_path} was not found", file=datastore_path)
        found = [
            vim.host.DatastoreBrowser.VmDiskInfo(path=path.rpartition("/")[2], capacityKb=size)
            for path, (size, _uuid) in self.files.items()
            if path.rpartition("/")[0] == datastore_path and path.rpartition("/")[2] in search_spec.matchPattern
        ]
        return vim.host.DatastoreBrowser.SearchResults(folderPath=datastore_path, file=found)

    def there(self, this):
        if this not in self.objects:
            raise fault(vmodl.fault.ManagedObjectNotFound, "has already been deleted", obj=vim.VirtualMachine(this))
        return self.objects[this][1]

    def do_reconfig_vm(self, this, spec):
        held = self.there(this)
        devices, keys = list(held["config.hardware.device"]), {}
        for change in spec.deviceChange:
            refused = self.change(devices, keys, change)
            if refused is not None:
                return refused
        held["config.hardware.device"] = devices
        return None

    def change(self, devices, keys, change):
        device = change.device
        if change.operation == "remove":
            gone = [each for each in devices if each.key == device.key]
            devices[:] = [each for each in devices if each.key != device.key]
            return (
                None if gone else fault(vim.fault.InvalidDeviceSpec, "Invalid configuration for device", deviceIndex=0)
            )
        if isinstance(device, DEVICE.VirtualDisk):
            return self.plug(devices, keys, change, device)
        made = next(key for key in itertools.count(1000) if key not in {each.key for each in devices})
        keys[device.key], device.key = made, made
        devices.append(device)
        return None

    def plug(self, devices, keys, change, disk):
        controller = keys.get(disk.controllerKey, disk.controllerKey)
        taken = {each.unitNumber for each in devices if each.controllerKey == controller}
        if controller not in {each.key for each in devices} or disk.unitNumber in taken | {7} or disk.unitNumber > 15:
            return fault(vim.fault.InvalidDeviceSpec, "Invalid configuration for device", deviceIndex=0)
        path = disk.backing.fileName
        if change.fileOperation == "create":
            refused = self.made_file(path, disk.capacityInKB)
            if refused:
                return refused
        if path not in self.files:
            return fault(vim.fault.FileNotFound, f"File {path} was not found", file=path)
        if self.holder(path):
            return fault(vim.fault.GenericVmConfigFault, "Failed to lock the file", reason="lock")
        key = next(each for each in itertools.count(2000) if each not in {each.key for each in devices})
        backing = DEVICE.VirtualDisk.FlatVer2BackingInfo(
            fileName=self.canonical(path), diskMode=disk.backing.diskMode, uuid=self.files[path][1]
        )
        devices.append(DEVICE.VirtualDisk(key=key, controllerKey=controller, unitNumber=disk.unitNumber,
                                          capacityInKB=self.files[path][0], backing=backing))  # fmt: skip
        return None

    def do_create_vm(self, this, config, pool, host=None):
        if any(held.get("name") == config.name for _kind, held in self.objects.values()):
            return fault(vim.fault.DuplicateName, "already exists", name=config.name, object=vim.Folder(this))
        ident = f"vm-{next(self._numbers)}"
        return self.add(vim.VirtualMachine, ident, name=config.name, parent=vim.Folder(this),
                        config__hardware__device=[each.device for each in config.deviceChange])  # fmt: skip

    def do_destroy(self, this):
        for each in self.there(this)["config.hardware.device"]:
            shown = getattr(each.backing, "fileName", "")
            self.files = {path: file for path, file in self.files.items() if self.canonical(path) != shown}
        del self.objects[this]
        return

    # storage policies: name → id, and the datastores that satisfy them

    def do_pbm_retrieve_service_content(self, _this):
        return pbm.ServiceInstanceContent(
            aboutInfo=pbm.AboutInfo(name="PBM", version="2.0", instanceUuid="u"), sessionManager=pbm.auth.SessionManager("s"),
            capabilityMetadataManager=pbm.capability.CapabilityMetadataManager("m"),
            profileManager=pbm.profile.ProfileManager("ProfileManager"),
            complianceManager=pbm.compliance.ComplianceManager("c"), placementSolver=pbm.placement.PlacementSolver("p"),
        )  # fmt: skip

    def do_pbm_query_profile(self, _this, resource_type, profile_category=None):
        assert (resource_type.resourceType, profile_category) == ("STORAGE", "REQUIREMENT")
        return [pbm.profile.ProfileId(uniqueId=f"id-{name}") for name in self.policies]

    def do_pbm_retrieve_content(self, _this, profile_ids):
        return [
            pbm.profile.Profile(profileId=each, name=each.uniqueId.removeprefix("id-"), creationTime=NOW, createdBy="",
                                lastUpdatedTime=NOW, lastUpdatedBy="")
            for each in profile_ids
        ]  # fmt: skip

    def do_pbm_check_requirements(
        self, _this, hubs_to_search, placement_subject_requirement, placement_subject_ref=None
    ):
        (needs,) = placement_subject_requirement
        good = self.policies[needs.profileId.uniqueId.removeprefix("id-")]
        return [
            pbm.placement.CompatibilityResult(
                hub=hub,
                error=[] if hub.hubId in good else [vmodl.fault.NotSupported(msg="does not satisfy the policy")],
            )
            for hub in hubs_to_search
        ]


class ClockThatSleeps(FakeClock):
    """Time goes on by sleeping alone."""

    def sleep(self, seconds):
        self.advance(seconds)


CONFIG = """
[Global]
user = administrator@vsphere.local
password = secret-of-the-test
[VirtualCenter "vcenter"]
[Workspace]
server = vcenter
datacenter = dc
folder = kubernetes
default-datastore = fast
resourcepool-path = cluster/Resources
[Labels]
zone = k8s-zone
region = k8s-region
"""


def furnished(page=3):
    """Return a vCenter with a datacenter, two clusters that are zones, and three datastores, of which one is shared."""
    double = VMware(page)
    datacenter = double.datacenter()
    vm = double.get(datacenter, "vmFolder")
    double.add(vim.Folder, "group-kubernetes", name="kubernetes", parent=vm, childEntity=[])
    hosts = []
    for number, name in enumerate(("cluster", "other")):
        cluster = double.cluster(datacenter, name)
        double.tag(cluster, "k8s-zone", f"zone-{number}")
        hosts.append(double.get(cluster, "host"))
    double.tag(datacenter, "k8s-region", "west")
    double.tag(datacenter, "team", "shop")
    double.datastore(datacenter, "fast", [*hosts[0], *hosts[1]], free=1 << 38)
    double.datastore(datacenter, "zone-0", hosts[0], free=1 << 41)
    double.datastore(datacenter, "zone-1", hosts[1], free=1 << 40)
    double.hosts = hosts
    return double


def built(double, folder, config=CONFIG, client=None, **doubles):
    """Return the plugin, which talks to that vCenter, or to several by their servers."""
    file = folder / "vsphere.conf"
    file.write_text(config)

    class Played(VSphere):
        def way(self, config):
            return doubles.get(config.server, double)

    settings = {"cloud_config": str(file)}
    return Played(PluginContext(name="vsphere", settings=settings, clock=ClockThatSleeps(), client=client))


def provider(plugin):
    return PluginHost("cloud", specs, [("vsphere", plugin)]).hook.cloud_provider()
