"""Octavia's side of a balancer: listeners, pools with members, and health monitors, each brought up to date by itself.

A balancer takes one change at a time: each waits until it is active again. What others put on a balancer that is shared
is told from a Service's own by its tags.
Source: cloud-provider-openstack ``pkg/openstack/loadbalancer.go`` (ensureOctaviaListener, ensureOctaviaPool …).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hyperkube_cloud.openstack.apis import OCTAVIA, Apis
from hyperkube_cloud.openstack.load_balancers.wanted import FORWARDED, TIMEOUTS, Wanted
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object

ACTIVE: Final = frozenset({"ACTIVE"})
SETTLED: Final = frozenset({"ACTIVE", "ERROR"})
GONE: Final = frozenset({"DELETED"})
_KEPT: Final = ("connection_limit", *TIMEOUTS)


def listener_changes(held: Json, wanted: Json) -> Json:
    """Return what a listener is to be changed in."""
    changes = {key: wanted[key] for key in _KEPT if held.get(key) != wanted[key]}
    if set(held.get("allowed_cidrs") or ()) != set(wanted["allowed_cidrs"]):
        changes["allowed_cidrs"] = wanted["allowed_cidrs"]
    if (held.get("default_tls_container_ref") or "") != wanted.get("default_tls_container_ref", ""):
        changes["default_tls_container_ref"] = wanted.get("default_tls_container_ref")
    headers = dict(held.get("insert_headers") or {})
    if (headers.get(FORWARDED) == "true") != (FORWARDED in wanted.get("insert_headers", {})):
        headers.pop(FORWARDED, None)
        changes["insert_headers"] = {**headers, **wanted.get("insert_headers", {})}
    tags = list(held.get("tags") or ())
    if not set(wanted["tags"]) <= set(tags):
        changes["tags"] = [*tags, *wanted["tags"]]
    return changes


def is_own(listener: Json, name: str, *, owner: bool) -> bool:
    """Tell whether a listener is that Service's; one without tags is the owner's, from before there were any."""
    tags = listener.get("tags") or ()
    return name in tags or (owner and not tags)


def _places(members: Sequence[Mapping[str, object]]) -> set[tuple[object, ...]]:
    return {(each["address"], each["protocol_port"], each.get("monitor_port") or 0) for each in members}


class Octavia:
    """Changes one balancer at a time."""

    def __init__(self, apis: Apis) -> None:
        self._apis = apis

    def active(self, balancer: str) -> Json:
        """Return a balancer once it is active.

        Raises:
            CloudFailed: it is in error, or gone.
            RetryLater: it is still at it.
        """
        path = f"lbaas/loadbalancers/{balancer}"
        found = self._apis.wait(OCTAVIA, path, "loadbalancer", "provisioning_status", ACTIVE)
        if found is None:
            raise CloudFailed(f"load balancer {balancer} is gone")
        return found

    def settled(self, balancer: str) -> None:
        """Wait until a balancer may be deleted: it is active, in error, or gone.

        Raises:
            RetryLater: it is still at it.
        """
        path = f"lbaas/loadbalancers/{balancer}"
        self._apis.wait(OCTAVIA, path, "loadbalancer", "provisioning_status", SETTLED)

    def change(self, balancer: str, method: str, path: str, body: Json | None = None) -> Json:
        """Change a part of a balancer and wait until it is active again."""
        answer: Json = {}
        if method == "DELETE":
            self._apis.delete(OCTAVIA, f"lbaas/{path}")
        else:
            answer = self._apis.call(OCTAVIA, method, f"lbaas/{path}", body)
        self.active(balancer)
        return answer

    def listed(self, kind: str, **query: str) -> list[Json]:
        """Return listeners, pools or members."""
        return self._apis.listed(OCTAVIA, f"lbaas/{kind}", kind.rpartition("/")[2], **query)

    def ensure(self, balancer: Json, wanted: Wanted, nodes: Sequence[Object], *, owner: bool) -> None:
        """Give a balancer just the listeners of a Service, and what belongs to each.

        Raises:
            CloudFailed: another Service has a listener at one of its ports.
        """
        ident = str(balancer["id"])
        left = {(row["protocol"], row["protocol_port"]): row for row in self.listed("listeners", loadbalancer_id=ident)}
        ports = wanted.service["spec"]["ports"]
        for row in ports:
            held = left.get((wanted.protocol(row), int(row["port"])))
            if held is not None and not is_own(held, wanted.name, owner=owner):
                raise CloudFailed(f"the listener port {row['port']} already exists")
        for key in self._obsolete(left, wanted, owner=owner):  # first: one of another protocol may hold a wanted port
            self._delete_listener(ident, left.pop(key))
        for index, row in enumerate(ports):
            held = left.get((wanted.protocol(row), int(row["port"])))
            listener = self._ensure_listener(ident, held, wanted.listener(index, row))
            pool = self._ensure_pool(ident, listener, wanted.pool(index, row))
            self._ensure_monitor(ident, pool, wanted.health_monitor(index, row) if wanted.monitor else None)
            self._ensure_members(ident, pool, wanted.members(row, nodes))

    def update(self, balancer: str, wanted: Wanted, nodes: Sequence[Object]) -> None:
        """Send the traffic of a Service's listeners to these nodes."""
        held = {
            (row["protocol"], row["protocol_port"]): row for row in self.listed("listeners", loadbalancer_id=balancer)
        }
        for row in wanted.service["spec"]["ports"]:
            listener = held.get((wanted.protocol(row), int(row["port"])))
            if listener is None:
                raise CloudFailed(f"load balancer {balancer} does not contain listener for port {row['port']}")
            pool = self._pool_of(listener)
            if pool is None:
                raise CloudFailed(f"load balancer {balancer} does not contain a pool for port {row['port']}")
            self._ensure_members(balancer, pool, wanted.members(row, nodes))

    def delete_own(self, balancer: str, name: str, *, owner: bool) -> None:
        """Delete a Service's listeners from a balancer that others use."""
        for listener in self.listed("listeners", loadbalancer_id=balancer):
            if is_own(listener, name, owner=owner):
                self._delete_listener(balancer, listener)

    def delete(self, balancer: str, *, cascade: bool) -> None:
        """Delete a balancer and wait until it is gone."""
        if not cascade:
            for listener in self.listed("listeners", loadbalancer_id=balancer):
                self._delete_listener(balancer, listener)
        path = f"lbaas/loadbalancers/{balancer}"
        self._apis.delete(OCTAVIA, path, {"cascade": "true"} if cascade else None)
        self._apis.wait(OCTAVIA, path, "loadbalancer", "provisioning_status", GONE)

    def _obsolete(self, held: Mapping[tuple[str, int], Json], wanted: Wanted, *, owner: bool) -> list[tuple[str, int]]:
        kept = {(wanted.protocol(row), int(row["port"])) for row in wanted.service["spec"]["ports"]}
        return [key for key, row in held.items() if key not in kept and is_own(row, wanted.name, owner=owner)]

    def _delete_listener(self, balancer: str, listener: Json) -> None:
        pool = self._pool_of(listener)
        if pool is not None:
            self.change(balancer, "DELETE", f"pools/{pool['id']}")
        self.change(balancer, "DELETE", f"listeners/{listener['id']}")

    def _pool_of(self, listener: Json) -> Json | None:
        ident = listener.get("default_pool_id")
        return self._apis.find(OCTAVIA, f"lbaas/pools/{ident}", "pool") if ident else None

    def _ensure_listener(self, balancer: str, held: Json | None, wanted: Json) -> Json:
        if held is None:
            body = {"listener": {**wanted, "loadbalancer_id": balancer}}
            return dict(self.change(balancer, "POST", "listeners", body)["listener"])
        if changes := listener_changes(held, wanted):
            self.change(balancer, "PUT", f"listeners/{held['id']}", {"listener": changes})
        return held

    def _ensure_pool(self, balancer: str, listener: Json, wanted: Json) -> Json:
        held = self._pool_of(listener)
        if held is not None and held["protocol"] != wanted["protocol"]:
            self.change(balancer, "DELETE", f"pools/{held['id']}")
            held = None
        if held is None:
            body = {"pool": {**wanted, "listener_id": listener["id"]}}
            return dict(self.change(balancer, "POST", "pools", body)["pool"])
        sticks, should = held.get("session_persistence") or {}, wanted.get("session_persistence") or {}
        changes: Json = {}
        if sticks.get("type") != should.get("type"):
            changes["session_persistence"] = should or None
        if held.get("lb_algorithm") != wanted["lb_algorithm"]:
            changes["lb_algorithm"] = wanted["lb_algorithm"]
        if changes:
            self.change(balancer, "PUT", f"pools/{held['id']}", {"pool": changes})
        return held

    def _ensure_monitor(self, balancer: str, pool: Json, wanted: Json | None) -> None:
        ident = pool.get("healthmonitor_id")
        held = self._apis.find(OCTAVIA, f"lbaas/healthmonitors/{ident}", "healthmonitor") if ident else None
        if held is not None and (wanted is None or held["type"] != wanted["type"]):
            self.change(balancer, "DELETE", f"healthmonitors/{held['id']}")
            held = None
        if wanted is None:
            return
        if held is None:
            body = {"healthmonitor": {**wanted, "pool_id": pool["id"]}}
            self.change(balancer, "POST", "healthmonitors", body)
            return
        numbers = ("delay", "timeout", "max_retries", "max_retries_down")
        if changes := {key: wanted[key] for key in numbers if held.get(key) != wanted[key]}:
            self.change(balancer, "PUT", f"healthmonitors/{held['id']}", {"healthmonitor": changes})

    def _ensure_members(self, balancer: str, pool: Json, wanted: Sequence[Json]) -> None:
        path = f"pools/{pool['id']}/members"
        if _places(self.listed(path)) != _places(wanted):
            self.change(balancer, "PUT", path, {"members": [*wanted]})
