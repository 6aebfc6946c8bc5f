"""Has the resource claims of pods prepared by their drivers, and tells containers what came of that.

Source: kubernetes ``pkg/kubelet/cm/dra/manager.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.cm.dra.claim_info import ClaimInfo, ClaimInfoCache, PreparedDevice, claim_info_of
from hyperkube_host.kubelet.cm.dra.dra_plugin import DraPlugins
from hyperkube_host.kubelet.cm.interface import NO_OPTIONS, ActivePods, ContainerManagerFailed, RunContainerOptions
from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.client.client import Client
from hyperkube.kinds.pods import spec_of, status_of
from hyperkube.kinds.resource_lists import ResourceList
from hyperkube.kinds.resources import RESOURCE_CLAIMS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, controller_of, name_of, namespace_of, uid_of

_log = logging.getLogger("hyperkube.kubelet.dra")


class DraManager:
    """See `ResourceProvider`; callable from several threads."""

    def __init__(self, folder: Path, client: Client | None, plugins: DraPlugins) -> None:
        """Take the folder of the checkpoint, how claims are read, and the drivers.

        Raises:
            UsageError: the checkpoint cannot be trusted.
        """
        self._cache = ClaimInfoCache(folder)
        self._client = client
        self._plugins = plugins
        # Preparing a claim and unpreparing it for another pod must not cross.
        self._lock = threading.RLock()

    def start(self) -> None:
        """See `ResourceProvider`: drivers are found by the plugin manager."""

    def close(self) -> None:
        """See `ResourceProvider`."""
        self._plugins.close()

    def prepare(self, pod: Object) -> None:
        """See `ResourceProvider`."""
        names = list(claim_names(pod))
        if not names:
            return
        try:
            # All is checked before anything is noted: a pod whose driver was never here can be deleted.
            infos = [self._checked(pod, name, must_be_owner=generated) for _, name, generated in names]
            with self._lock:
                self._prepare(pod, [self._noted(pod, info) for info in infos])
        except ContainerManagerFailed as error:
            raise ContainerManagerFailed(f"prepare dynamic resources: {error}") from error

    def _checked(self, pod: Object, name: str, *, must_be_owner: bool) -> ClaimInfo:
        """Return a claim that the pod may use and whose drivers are there."""
        if self._client is None:
            raise ContainerManagerFailed(f"fetch ResourceClaim {name}: this kubelet has no API server")
        try:
            claim = self._client.get(RESOURCE_CLAIMS, name, namespace_of(pod))
        except (ApiError, ConnectionError) as error:
            raise ContainerManagerFailed(f"fetch ResourceClaim {name}: {error}") from error
        owner = controller_of(claim)
        if must_be_owner and (owner is None or owner.get("uid") != uid_of(pod)):
            where, whose = f"{namespace_of(claim)}/{name}", f"{namespace_of(pod)}/{name_of(pod)}"
            raise ContainerManagerFailed(f"ResourceClaim {where} was not created for Pod {whose} (Pod is not owner)")
        reserved = (claim.get("status") or {}).get("reservedFor") or ()
        if not any(one.get("uid") == uid_of(pod) for one in reserved):
            who = f"pod {name_of(pod)} ({uid_of(pod)})"
            raise ContainerManagerFailed(f"{who} is not allowed to use ResourceClaim {name} ({uid_of(claim)})")
        if not (claim.get("status") or {}).get("allocation"):
            raise ContainerManagerFailed(f"ResourceClaim {name}: not allocated")
        info = claim_info_of(claim)
        for driver in info.drivers:
            self._plugins.get(driver)
        return info

    def _noted(self, pod: Object, found: ClaimInfo) -> ClaimInfo:
        """Note that the pod uses a claim, before its drivers are asked: a crash must not leave it prepared for ever."""
        info = self._cache.get(found.namespace, found.name)
        if info is None:
            self._cache.add(found)
            info = found
        elif info.uid != found.uid:
            why = f"old ResourceClaim with same name {found.name} and different UID {info.uid} still exists"
            raise ContainerManagerFailed(f"{why} (previous pod force-deleted?!)")
        if uid_of(pod) not in info.pods:
            info.pods.append(uid_of(pod))
            self._cache.store()
        return info

    def _prepare(self, pod: Object, infos: list[ClaimInfo]) -> None:
        del pod
        wanted = [info for info in infos if not info.prepared]
        for driver in dict.fromkeys(driver for info in wanted for driver in info.drivers):
            batch = {info.uid: info for info in wanted if driver in info.drivers}
            try:
                answers = self._plugins.get(driver).prepare([_message(info) for info in batch.values()])
            except RpcFailed as error:
                raise ContainerManagerFailed(f"NodePrepareResources: {error}") from error
            _note_answers(driver, batch, answers)
        for info in wanted:
            info.prepared = True
        if wanted:
            self._cache.store()

    def unprepare(self, pod: Object) -> None:
        """See `ResourceProvider`."""
        self._unprepare(uid_of(pod))

    def _unprepare(self, uid: str) -> None:
        with self._lock:
            for info in self._cache.of_pod(uid):
                if len(info.pods) > 1:
                    info.pods.remove(uid)
                    self._cache.store()
                    continue
                try:
                    self._unprepare_claim(info)
                except ContainerManagerFailed as error:
                    # The claim stays noted for the pod: the next removal of orphans asks again.
                    _log.warning("pod %s: %s", uid, error)
                    continue
                self._cache.remove(info)
                self._cache.store()

    def _unprepare_claim(self, info: ClaimInfo) -> None:
        info.prepared = False
        for driver in info.drivers:
            try:
                answers = self._plugins.get(driver).unprepare([_message(info)])
            except RpcFailed as error:
                raise ContainerManagerFailed(f"NodeUnprepareResources: {error}") from error
            if info.uid not in answers:
                raise ContainerManagerFailed("NodeUnprepareResources skipped 1 ResourceClaims")
            problem = answers[info.uid].get("error")
            if problem:
                why = f"NodeUnprepareResources failed for ResourceClaim {info.name}: {problem}"
                raise ContainerManagerFailed(why)

    def remove_orphans(self, known: Iterable[str]) -> None:
        """See `ResourceProvider`."""
        with self._lock:
            gone = self._cache.pods() - set(known)
        for uid in gone:
            self._unprepare(uid)

    def remove_stale(self, active_pods: ActivePods) -> None:
        """See `ResourceProvider`: claims are unprepared when pods end, not when others come."""

    def capacity(self) -> tuple[ResourceList, ResourceList]:
        """See `ResourceProvider`: what drivers have is in ResourceSlices."""
        return {}, {}

    def _used_by(self, pod: Object, container: Object) -> Iterator[tuple[Object, ClaimInfo, str, PreparedDevice]]:
        """Yield the container's claim, what is known of it, and driver and device of each that it gets."""
        names = {claim: name for claim, name, _ in claim_names(pod)}
        for wanted in (container.get("resources") or {}).get("claims") or ():
            info = self._cache.get(namespace_of(pod), names.get(wanted["name"], ""))
            if info is not None:
                for driver, device in info.devices_for(wanted.get("request", "")):
                    yield wanted, info, driver, device

    def run_options(self, pod: Object, container: Object) -> RunContainerOptions:
        """See `ResourceProvider`."""
        if not (container.get("resources") or {}).get("claims"):
            return NO_OPTIONS  # without the lock, which a slow driver may hold
        names = {claim: name for claim, name, _ in claim_names(pod)}
        with self._lock:
            for wanted in (container.get("resources") or {}).get("claims") or ():
                name = names.get(wanted["name"])
                if name is not None and self._cache.get(namespace_of(pod), name) is None:
                    where = f"namespace: {namespace_of(pod)}, claim: {name}"
                    raise ContainerManagerFailed(f"unable to get resource for {where}")
            ids = [one for *_, device in self._used_by(pod, container) for one in device.cdi_ids]
        return RunContainerOptions(cdi_devices=tuple(dict.fromkeys(ids))) if ids else NO_OPTIONS

    def health(self, pod: Object, container: Object) -> list[Object]:
        """See `ResourceProvider`."""
        found: dict[str, list[Object]] = {}
        if not (container.get("resources") or {}).get("claims"):
            return []
        with self._lock:
            for wanted, _, driver, device in self._used_by(pod, container):
                state, message = self._plugins.health(driver, device.pool, device.name)
                told = {"health": state, **({"message": message} if message else {})}
                title = "claim:" + "/".join(filter(None, (wanted["name"], wanted.get("request"))))
                ids = device.cdi_ids or [f"{driver}/{device.pool}/{device.name}"]
                found.setdefault(title, []).extend({"resourceID": one, **told} for one in ids)
        return [{"name": title, "resources": resources} for title, resources in found.items()]

    def claims_of(self, pod: Object, container: Object) -> list[dict[str, Any]]:
        """Return the ``DynamicResource`` messages of a container, for the pod resources API."""
        found: dict[str, dict[str, Any]] = {}
        with self._lock:
            for _, info, driver, device in self._used_by(pod, container):
                of_claim = found.setdefault(
                    info.name, {"claim_name": info.name, "claim_namespace": info.namespace, "claim_resources": []}
                )
                one = {"driver_name": driver, "pool_name": device.pool, "device_name": device.name}
                of_claim["claim_resources"].append(one | {"cdi_devices": [{"name": name} for name in device.cdi_ids]})
        return list(found.values())


def claim_names(pod: Object) -> Iterator[tuple[str, str, bool]]:
    """Yield the name within the pod, the ResourceClaim, and whether that was generated, of the pod's claims."""
    generated = {one["name"]: one.get("resourceClaimName") for one in status_of(pod).get("resourceClaimStatuses") or ()}
    for claim in spec_of(pod).get("resourceClaims") or ():
        if claim.get("resourceClaimName"):
            yield claim["name"], claim["resourceClaimName"], False
            continue
        if claim["name"] not in generated:
            why = f'pod "{namespace_of(pod)}/{name_of(pod)}": ResourceClaim not created yet'
            raise ContainerManagerFailed(why)
        if generated[claim["name"]]:  # none, when the pod needs none after all
            yield claim["name"], generated[claim["name"]], True


def _message(info: ClaimInfo) -> dict[str, str]:
    return {"namespace": info.namespace, "uid": info.uid, "name": info.name}


def _note_answers(driver: str, batch: Mapping[str, ClaimInfo], answers: Mapping[str, Any]) -> None:
    """Note the devices that a driver has prepared.

    Raises:
        ContainerManagerFailed: it failed, or told of other claims than it was asked for.
    """
    for uid, answer in answers.items():
        if uid not in batch:
            raise ContainerManagerFailed(f"NodePrepareResources returned result for unknown claim UID {uid}")
        if answer.get("error"):
            why = f"NodePrepareResources failed for ResourceClaim {batch[uid].name}: {answer['error']}"
            raise ContainerManagerFailed(why)
        batch[uid].drivers[driver] = [
            PreparedDevice(
                one.get("pool_name", ""),
                one.get("device_name", ""),
                list(one.get("request_names", [])),
                list(one.get("cdi_device_ids", [])),
            )
            for one in answer.get("devices", [])
        ]
    skipped = len(batch.keys() - answers.keys())
    if skipped:
        raise ContainerManagerFailed(f"NodePrepareResources skipped {skipped} ResourceClaims")
