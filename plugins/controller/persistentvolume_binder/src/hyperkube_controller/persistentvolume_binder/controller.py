"""The loop around the decisions, for claims and volumes: keys are ``claim:NAMESPACE/NAME`` and ``volume:NAME``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from hyperkube_controller.persistentvolume_binder.decision import (
    COMPLETED,
    PROVISIONED_BY,
    SELECTED_NODE,
    ClaimWorld,
    Provision,
    Reclaim,
    Recycle,
    Step,
    decide_claim,
    decide_volume,
    failed,
)
from hyperkube_controller.persistentvolume_binder.provisioning import Provisioning
from hyperkube_controller.persistentvolume_binder.recycling import PREFIX, Recycling, Settings, recyclers_of

from hyperkube.client.actions import Delete, delete, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs import volume as volume_specs
from hyperkube.hookspecs.controller import Controller
from hyperkube.hookspecs.volume import VolumeFailed, VolumeHooks, Volumes
from hyperkube.hookspecs.volume_storage import Deletable, Provisionable
from hyperkube.kinds.pods import is_terminal, spec_of
from hyperkube.kinds.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from hyperkube.kinds.volumes import claim_keys, class_name, is_default_class, newest
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    is_being_deleted,
    key_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.plugin import Plugin, PluginHost, load
from hyperkube.plugin.loader import installed

_CLAIM, _VOLUME = "claim:", "volume:"


class PersistentvolumeBinder(Plugin):
    """Binds, provisions and reclaims."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; it has one worker, so that no two claims are after the same volume.

        Raises:
            UsageError: the template of a recycler pod is not one.
        """
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "persistentvolume-controller")
        settings = self.settings(Settings)
        self._provisions = settings.enable_dynamic_provisioning
        recyclers = recyclers_of(settings)
        self._recycling = Recycling(self.client, self._recorder, clock, recyclers)
        nodes = self.informers.informer(NODES)
        self._provisioning = Provisioning(
            self.client, self._recorder, self._provisioner, self._deleter, lambda name: nodes.get("", name) is not None
        )
        self._contexts = {name: self.context.of_plugin("volume", name) for name in installed("volume")}
        self._installed = frozenset(self._contexts)
        self._hosts: list[PluginHost[VolumeHooks]] = []
        self._kinds: dict[str, Volumes] = {}
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._classes = self.informers.informer(STORAGE_CLASSES)
        self._pods = self.informers.informer(PODS)
        self._pods.add_index("claim", claim_keys)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=clock, logger=self.context.logger)
        self._claims.add_handler(self._claim_seen, lambda _old, new: self._claim_seen(new), self._claim_seen)
        self._volumes.add_handler(self._volume_seen, lambda _old, new: self._volume_seen(new), self._volume_seen)
        self._classes.add_handler(lambda _class: self._open_claims(), lambda _old, _new: self._open_claims())
        self._pods.add_handler(self._pod_seen, self._pod_changed, self._recycler_seen)
        return self._loop

    def close(self) -> None:
        """Close the provisioners, and follow no recycler pods any more."""
        self._recycling.close()
        for host in self._hosts:
            host.close()

    def _claim_seen(self, claim: Object) -> None:
        self._loop.queue.add(_CLAIM + key_of(claim))
        for volume in self._volumes.list():
            reference = (volume.get("spec") or {}).get("claimRef") or {}
            if (reference.get("namespace"), reference.get("name")) == (namespace_of(claim), name_of(claim)):
                self._loop.queue.add(_VOLUME + name_of(volume))

    def _volume_seen(self, volume: Object) -> None:
        self._loop.queue.add(_VOLUME + name_of(volume))
        reference = (volume.get("spec") or {}).get("claimRef")
        if reference:
            self._loop.queue.add(f"{_CLAIM}{reference.get('namespace', '')}/{reference.get('name', '')}")
        else:
            self._open_claims()

    def _open_claims(self) -> None:
        for claim in self._claims.list():
            if COMPLETED not in annotations_of(claim):
                self._loop.queue.add(_CLAIM + key_of(claim))

    def _recycler_seen(self, pod: Object) -> None:
        if name_of(pod).startswith(PREFIX):
            self._loop.queue.add(_VOLUME + name_of(pod).removeprefix(PREFIX))

    def _pod_seen(self, pod: Object) -> None:
        self._recycler_seen(pod)
        for key in claim_keys(pod):
            claim = self._claims.get(*split_key(key))
            if claim is not None and COMPLETED not in annotations_of(claim):
                self._loop.queue.add(_CLAIM + key)

    def _pod_changed(self, old: Object, new: Object) -> None:
        self._recycler_seen(new)
        if spec_of(old).get("nodeName") != spec_of(new).get("nodeName"):
            self._pod_seen(new)

    def _sync(self, key: str) -> float | None:
        kind, _, rest = key.partition(":")
        if kind == "claim":
            claim = self._claims.get(*split_key(rest))
            if claim is None:
                self._provisioning.abandon(rest)
            elif not is_being_deleted(claim):
                return self._act(decide_claim(claim, self._world(claim)))
            return None
        volume = self._volumes.get("", rest)
        if volume is None:
            self._recycling.forget(rest)
            return None
        # Also one that is being deleted: it is protected as long as it is bound.
        return self._act(decide_volume(volume, self._claim_of(volume), self._installed))

    def _world(self, claim: Object) -> ClaimWorld:
        node = annotations_of(claim).get(SELECTED_NODE, "")
        pods = self._pods.by_index("claim", key_of(claim))
        if not node:  # a scheduler that knows no volumes has placed the pod all the same
            node = next((spec_of(pod)["nodeName"] for pod in pods if spec_of(pod).get("nodeName")), "")
        return ClaimWorld(
            volumes=self._volumes.list(),
            storage_class=self._classes.get("", class_name(claim)),
            default_class=name_of(newest(filter(is_default_class, self._classes.list())) or {}),
            node=node,
            waiting_pods=tuple(
                name_of(pod) for pod in pods if not spec_of(pod).get("nodeName") and not is_terminal(pod)
            ),
            installed=self._installed,
            provisions=self._provisions,
        )

    def _claim_of(self, volume: Object) -> Object | None:
        """Return the claim that a volume names; that it is gone is believed from the server alone."""
        reference = (volume.get("spec") or {}).get("claimRef") or {}
        if not reference.get("uid"):
            return None
        found = self._claims.get(reference["namespace"], reference["name"])
        if found is not None and uid_of(found) == reference["uid"]:
            return found
        try:
            return self.client.get(PERSISTENT_VOLUME_CLAIMS, reference["name"], reference["namespace"])
        except NotFound:
            return None

    def _act(self, steps: Iterable[Step]) -> float | None:
        """Carry the steps out; return the seconds after which to look again, or None."""
        again = None
        for step in steps:
            if isinstance(step, Provision):
                again = self._provisioning.provision(step.claim, step.storage_class, self._world(step.claim).node)
            elif isinstance(step, Reclaim):
                self._reclaim(step.volume)
            elif isinstance(step, Recycle):
                again = self._recycling.sync(step.volume, partial(self._users, step.volume))
            else:
                perform(self.client, self._recorder, [step])
        return again

    def _users(self, volume: Object) -> list[str]:
        """Return the pods that use a released volume; those of another claim of the same name do not."""
        reference = volume["spec"]["claimRef"]
        if self._claims.get(reference["namespace"], reference["name"]) is not None:
            return []
        pods = self._pods.by_index("claim", f"{reference['namespace']}/{reference['name']}")
        return sorted(key_of(pod) for pod in pods if not is_terminal(pod))

    def _kind(self, name: str) -> Volumes:
        """Return an installed volume plugin; it is loaded when the first claim asks for it."""
        if name not in self._kinds:
            host = load("volume", [name], volume_specs, self._contexts.__getitem__)
            self._hosts.append(host)
            (self._kinds[name],) = host.hook.volume_kinds()
        return self._kinds[name]

    def _provisioner(self, name: str) -> Provisionable:
        found = self._kind(name)
        if not isinstance(found, Provisionable):
            raise VolumeFailed(f"volume plugin {name!r} does not make volumes")
        return found

    def _deleter(self, name: str) -> Deletable:
        found = self._kind(name)
        if not isinstance(found, Deletable):
            raise VolumeFailed(f"volume plugin {name!r} does not delete volumes")
        return found

    def _reclaim(self, volume: Object) -> None:
        try:
            self._deleter(annotations_of(volume)[PROVISIONED_BY]).delete(volume)
        except VolumeFailed as error:
            perform(self.client, self._recorder, failed(volume, "VolumeFailedDelete", str(error)))
            raise NotYet(str(error)) from error
        delete(self.client, Delete.of(PERSISTENT_VOLUMES, volume))
