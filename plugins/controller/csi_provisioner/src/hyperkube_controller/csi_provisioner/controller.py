"""The loop: keys are ``claim:NAMESPACE/NAME``, ``volume:NAME`` and ``capacity:DRIVER``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hyperkube_controller.csi_provisioner.decision import (
    SELECTED_NODE,
    Outcome,
    as_named,
    driver_of_volume,
    is_to_be_deleted,
    needs_volume,
    outcome_of,
    protected,
    provisioner_of,
    still_attached,
)
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.csi_controllers import CsiController, Driver, DriverSettings, mutable_parameters, secret_data
from hyperkube_lib.csi_translation import translated_class, translated_volume

from hyperkube.client.actions import Delete, delete
from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import (
    CSI_NODES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    VOLUME_ATTRIBUTES_CLASSES,
)
from hyperkube.kinds.volumes import class_name
from hyperkube.machinery.errors import AlreadyExists
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    has_finalizer,
    is_being_deleted,
    key_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
    with_finalizer,
    without_finalizer,
)

if TYPE_CHECKING:
    from hyperkube_controller.csi_provisioner.requests import Wanted
    from hyperkube_controller.csi_provisioner.topology import Places

_TOPOLOGY = "VOLUME_ACCESSIBILITY_CONSTRAINTS"
_NEEDS = {"clone": "CLONE_VOLUME", "snapshot": "CREATE_DELETE_SNAPSHOT"}
_BY_SOURCE = "csi-provisioner/source"


class CsiProvisioner(CsiController):
    """Makes and deletes volumes."""

    component = "external-provisioner"

    def where(self) -> DriverSettings:
        """Return where drivers are."""
        return self.settings(DriverSettings)

    def watch(self) -> None:
        """Follow claims and volumes, and all that says where to make them."""
        from hyperkube_controller.csi_provisioner.capacities import CapacityObjects

        self._under_way: dict[str, Object] = {}
        """Claims for which a volume may have been made: gone on with even without the claim, so that none leaks."""
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._claims.add_index(_BY_SOURCE, _source_keys)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._classes = self.informers.informer(STORAGE_CLASSES)
        self._nodes = self.informers.informer(NODES)
        self._csi_nodes = self.informers.informer(CSI_NODES)
        self._attachments = self.informers.informer(VOLUME_ATTACHMENTS)
        self._capacities = CapacityObjects(self.client)
        self._kinds: Mapping[str, Callable[[str], float | None]] = {
            "claim": self._sync_claim,
            "volume": self._sync_volume,
            "capacity": self._sync_capacity,
        }
        seen = self._claim_seen, lambda _old, new: self._claim_seen(new), self._claim_seen
        self._claims.add_handler(*seen)
        self._volumes.add_handler(self._volume_seen, lambda _old, new: self._volume_seen(new))
        self._attachments.add_handler(on_delete=self._detached)
        self._classes.add_handler(self._class_seen, lambda _old, new: self._class_seen(new), self._class_seen)
        self._csi_nodes.add_handler(self._node_seen, lambda _old, new: self._node_seen(new), self._node_seen)

    # what is looked at when

    def _claim_seen(self, claim: Object) -> None:
        if provisioner_of(claim) or key_of(claim) in self._under_way:
            self.loop.queue.add(f"claim:{key_of(claim)}")
        for key in _source_keys(claim):
            self.loop.queue.add(f"claim:{key}")

    def _volume_seen(self, volume: Object) -> None:
        if driver_of_volume(volume):
            self.loop.queue.add(f"volume:{name_of(volume)}")

    def _detached(self, attachment: Object) -> None:
        if name := (attachment["spec"].get("source") or {}).get("persistentVolumeName"):
            self.loop.queue.add(f"volume:{name}")

    def _class_seen(self, storage_class: Object) -> None:
        self.loop.queue.add(f"capacity:{storage_class.get('provisioner', '')}")

    def _node_seen(self, csi_node: Object) -> None:
        for row in (csi_node.get("spec") or {}).get("drivers") or ():
            self.loop.queue.add(f"capacity:{row['name']}")

    def sync(self, key: str) -> float | None:
        """Look at a claim, a volume or the capacity of a driver."""
        kind, _, rest = key.partition(":")
        return self._kinds[kind](rest)

    # claims

    def _sync_claim(self, key: str) -> float | None:
        from hyperkube_controller.csi_provisioner.requests import volume_name

        claim = self._claims.get(*split_key(key))
        if claim is not None:
            self._end_cloning(claim)
        begun = self._under_way.get(key)
        if begun is not None and (claim is None or uid_of(claim) != uid_of(begun)):
            claim = begun
        storage_class = self._classes.get("", class_name(claim)) if claim is not None else None
        if claim is None or storage_class is None or not (begun or needs_volume(claim, storage_class)):
            return None
        if self._volumes.get("", volume_name(claim)) is not None:
            self._under_way.pop(key, None)
            return None
        driver = self.drivers.get(provisioner_of(claim))
        if driver is None:
            return self.look_again()
        taken_over = translated_class(storage_class)
        if taken_over.get("provisioner") == driver.name:
            self._provision(key, claim, taken_over, driver, str(storage_class["provisioner"]))
        return None

    def _provision(self, key: str, claim: Object, storage_class: Object, driver: Driver, named: str) -> None:
        """Make a volume; `named` is the provisioner as the class says it: a kind that the driver took over, perhaps."""
        from hyperkube_controller.csi_provisioner.data_source import NotOurs
        from hyperkube_controller.csi_provisioner.requests import persistent_volume
        from hyperkube_controller.csi_provisioner.topology import node_affinity

        node_name = annotations_of(claim).get(SELECTED_NODE, "")
        node = self._nodes.get("", node_name) if node_name else None
        if node_name and node is None:
            self._failed(key, claim, storage_class, f'node "{node_name}" not found', Outcome.RESCHEDULE)
        text = f'External provisioner is provisioning volume for claim "{key_of(claim)}"'
        self.recorder.event(claim, "Normal", "Provisioning", text)
        has_topology = False
        try:
            wanted, request, has_topology = self._prepare(claim, storage_class, driver, node)
            self._under_way[key] = claim
            volume = self._create(driver, wanted, request)
        except NotOurs as error:
            self.recorder.event(claim, "Normal", "Provisioning", str(error))
            return
        except CsiFailed as error:
            outcome = outcome_of(error.code, may_reschedule=has_topology and node is not None)
            self._failed(key, claim, storage_class, str(error), outcome)
        except VolumeFailed as error:
            self._failed(key, claim, storage_class, str(error), None)
        affinity = node_affinity(volume.get("accessible_topology") or ()) if has_topology else None
        made = as_named(persistent_volume(wanted, claim, storage_class, volume, affinity), named)
        try:
            self.client.create(PERSISTENT_VOLUMES, made)
        except AlreadyExists:
            self.context.logger.debug("volume %s was made before its cache showed it", wanted.name)
        self._under_way.pop(key, None)
        self.recorder.event(claim, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {wanted.name}")
        self.loop.queue.add(f"capacity:{driver.name}")

    def _prepare(
        self, claim: Object, storage_class: Object, driver: Driver, node: Object | None
    ) -> tuple[Wanted, dict[str, Any], bool]:
        """Return what is wanted, the whole request, and whether the driver tells places apart."""
        from hyperkube_controller.csi_provisioner.data_source import content_source, kind_of, source_of
        from hyperkube_controller.csi_provisioner.requests import claim_metadata, wanted_volume
        from hyperkube_controller.csi_provisioner.topology import requirement

        source = source_of(claim)
        can, needs = driver.can(), ["CREATE_DELETE_VOLUME"]
        if source is not None:
            needs.append(_NEEDS[kind_of(source)])
        if missing := [name for name in needs if name not in can]:
            raise VolumeFailed(f"CSI driver does not support {_ability(missing[0])}: plugin")
        if claim["spec"].get("selector"):
            raise VolumeFailed("claim Selector is not supported")
        wanted = wanted_volume(claim, storage_class, driver.name, can)
        request = {**wanted.request, "secrets": secret_data(self.client, wanted.secret)}
        if driver.extra_create_metadata:
            request["parameters"] = {**request["parameters"], **claim_metadata(claim)}
        if source is not None:
            request["volume_content_source"] = content_source(self.client, claim, storage_class, source)
            if kind_of(source) == "clone":
                self._begin_cloning(namespace_of(claim), source["name"])
        has_topology = _TOPOLOGY in driver.services()
        if has_topology:
            allowed = storage_class.get("allowedTopologies") or ()
            request["accessibility_requirements"] = requirement(
                self._places(driver.name), name_of(claim), allowed, node
            )
        if attributes := claim["spec"].get("volumeAttributesClassName"):
            found = self.client.get(VOLUME_ATTRIBUTES_CLASSES, attributes)
            request["mutable_parameters"] = mutable_parameters(found, driver)
        return wanted, request, has_topology

    def _places(self, driver: str) -> Places:
        from hyperkube_controller.csi_provisioner.topology import Places

        return Places(driver=driver, csi_nodes=self._csi_nodes.list(), nodes=self._nodes.list())

    def _create(self, driver: Driver, wanted: Wanted, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Have a volume made that is what was asked for.

        Raises:
            CsiFailed: there is none, or another, which was deleted again.
        """
        volume: Mapping[str, Any] = driver.control("CreateVolume", request).get("volume") or {}
        asked, got = wanted.request["capacity_range"]["required_bytes"], int(volume.get("capacity_bytes") or 0)
        problem = f"created volume capacity {got} less than requested capacity {asked}" if 0 < got < asked else ""
        if request.get("volume_content_source") and not volume.get("content_source"):
            problem = "volume content source missing"
        if not problem:
            return volume
        try:
            deletion = {"volume_id": volume.get("volume_id", ""), "secrets": request["secrets"]}
            driver.control("DeleteVolume", deletion)
        except CsiFailed as error:
            problem = f"{problem}. Cleanup of volume {wanted.name} failed, volume is orphaned: {error}"
        raise CsiFailed("ABORTED", problem)

    def _failed(self, key: str, claim: Object, storage_class: Object, why: str, outcome: Outcome | None) -> None:
        """Tell of a failure and have it tried again; None for one that says nothing of what was begun before.

        Raises:
            NotYet: always.
        """
        text = f'failed to provision volume with StorageClass "{name_of(storage_class)}": {why}'
        self.recorder.event(claim, "Warning", "ProvisioningFailed", text)
        if outcome in {Outcome.FINAL, Outcome.RESCHEDULE}:
            self._under_way.pop(key, None)
        if outcome is Outcome.RESCHEDULE and SELECTED_NODE in annotations_of(claim):
            kept = {name: value for name, value in annotations_of(claim).items() if name != SELECTED_NODE}
            changed = {**claim, "metadata": {**metadata(claim), "annotations": kept}}
            self.client.update(PERSISTENT_VOLUME_CLAIMS, changed, namespace_of(claim))
        raise NotYet(text)

    def _begin_cloning(self, namespace: str, name: str) -> None:
        """Keep the claim that is cloned."""
        from hyperkube_controller.csi_provisioner.data_source import CLONING

        original = self.client.get(PERSISTENT_VOLUME_CLAIMS, name, namespace)
        if not has_finalizer(original, CLONING):
            self.client.update(PERSISTENT_VOLUME_CLAIMS, with_finalizer(original, CLONING), namespace)

    def _end_cloning(self, claim: Object) -> None:
        """Let a claim go that is cloned no more."""
        from hyperkube_controller.csi_provisioner.data_source import CLONING

        if not has_finalizer(claim, CLONING):
            return
        clones = self._claims.by_index(_BY_SOURCE, key_of(claim))
        if all((each.get("status") or {}).get("phase") == "Bound" or is_being_deleted(each) for each in clones):
            self.client.update(PERSISTENT_VOLUME_CLAIMS, without_finalizer(claim, CLONING), namespace_of(claim))

    # volumes

    def _sync_volume(self, name: str) -> float | None:
        volume = self._volumes.get("", name)
        if volume is None:
            return None
        driver = self.drivers.get(driver_of_volume(volume))
        if driver is None:
            return self.look_again() if "csi" in volume["spec"] else None
        changed = protected(volume)
        if changed is not volume:
            volume = self.client.update(PERSISTENT_VOLUMES, changed)
        if is_to_be_deleted(volume):
            self._delete(volume, driver)
        return None

    def _delete(self, volume: Object, driver: Driver) -> None:
        from hyperkube_controller.csi_provisioner.requests import FINALIZER

        if why := still_attached(volume, self._attachments.list()):
            # The end of the attachment brings the volume again: this is no failure that later ones would wait for.
            self.recorder.event(volume, "Warning", "VolumeFailedDelete", why)
            return
        try:
            self._delete_storage(volume, driver)
        except VolumeFailed as error:
            self.recorder.event(volume, "Warning", "VolumeFailedDelete", str(error))
            raise NotYet(str(error)) from error
        delete(self.client, Delete.of(PERSISTENT_VOLUMES, volume))
        if has_finalizer(volume, FINALIZER):
            latest = self.client.get(PERSISTENT_VOLUMES, name_of(volume))
            if uid_of(latest) == uid_of(volume):
                self.client.update(PERSISTENT_VOLUMES, without_finalizer(latest, FINALIZER))
        self.loop.queue.add(f"capacity:{driver.name}")

    def _delete_storage(self, volume: Object, driver: Driver) -> None:
        if "CREATE_DELETE_VOLUME" not in driver.can():
            raise VolumeFailed(f"CSI driver does not support {_ability('CREATE_DELETE_VOLUME')}: plugin")
        handle = translated_volume(volume)["spec"]["csi"]["volumeHandle"]
        driver.control("DeleteVolume", {"volume_id": handle, "secrets": self._deletion_secret(volume)})

    def _deletion_secret(self, volume: Object) -> dict[str, str]:
        from hyperkube_controller.csi_provisioner.requests import DELETION_SECRET

        name, namespace = (annotations_of(volume).get(key, "") for key in DELETION_SECRET)
        if not name or not namespace:
            return {}
        try:
            return secret_data(self.client, {"name": name, "namespace": namespace})
        except VolumeFailed as error:
            self.context.logger.warning("volume %s is deleted without its secret: %s", name_of(volume), error)
            return {}

    # capacity

    def _sync_capacity(self, name: str) -> float | None:
        driver = self.drivers.get(name)
        if driver is None:
            return None
        classes = [each for each in self._classes.list() if each.get("provisioner") == name]
        try:
            return self._capacities.sync(driver, classes, self._places(name).segments())
        except CsiFailed as error:
            raise NotYet(f"the capacity of driver {name} cannot be told: {error}") from error


def _ability(capability: str) -> str:
    return {
        "CREATE_DELETE_VOLUME": "dynamic provisioning",
        "CLONE_VOLUME": "clone",
        "CREATE_DELETE_SNAPSHOT": "snapshot restore",
    }[capability]


def _source_keys(claim: Object) -> tuple[str, ...]:
    """Return the key of the claim that a claim is a clone of: an index."""
    from hyperkube_controller.csi_provisioner.data_source import source_of

    source = source_of(claim) or {}
    is_claim = source.get("kind") == "PersistentVolumeClaim" and not source.get("apiGroup")
    return (f"{namespace_of(claim)}/{source['name']}",) if is_claim else ()
