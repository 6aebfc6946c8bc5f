"""How a service is created and updated: addresses and node ports are allocated, fields that do not apply are dropped.

Source: kubernetes pkg/registry/core/service/strategy.go and storage/{storage,alloc}.go.
"""

from __future__ import annotations

from hyperkube_api.core.services.allocator import NotAllocated, ServiceAllocator, family_of, node_ports
from hyperkube_api.core.services.defaults import default_service
from hyperkube_api.core.services.ip_families import SERVICE, init_families, normalize_cluster_ips
from hyperkube_api.core.services.validation import (
    validate_service,
    validate_service_status_update,
    validate_service_update,
)
from hyperkube_api.core.services.warnings import service_warnings
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call, Finish
from hyperkube.machinery.errors import InternalError, Invalid
from hyperkube.machinery.field import ROOT, FieldError, invalid
from hyperkube.machinery.names import dns1123_label
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_AUTO_IPS = "service-ips"
_AUTO_PORTS = "service-ports"


class ServiceStrategy(StatusStrategy):
    """A service: a stable address before pods that come and go."""

    allow_create_on_update = True
    returns_deleted_object = True

    def __init__(self, addresses: ServiceAllocator) -> None:
        self._addresses = addresses

    def default(self, obj: Object) -> None:
        """Fill in type, affinity, ports and policies."""
        default_service(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Choose families, addresses and node ports; they are claimed when the service is stored."""
        normalize_cluster_ips(obj, None)
        init_families(obj, None, self._addresses.families(call))
        self._choose(call, obj, None)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep what was given out, drop what no longer applies, choose what is newly needed."""
        _patch_allocated(obj["spec"], old["spec"])
        normalize_cluster_ips(obj, old)
        init_families(obj, old, self._addresses.families(call))
        _drop_unneeded(obj["spec"], old["spec"])
        self._choose(call, obj, old)

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a DNS label."""
        return dns1123_label(name.rstrip("-") + "a" if prefix and name.endswith("-") else name)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the specification as a whole."""
        return validate_service(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that addresses stayed."""
        return validate_service_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check a load balancer's report."""
        return validate_service_status_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of deprecated and ignored fields."""
        return service_warnings(obj)

    def begin_create(self, call: Call, obj: Object) -> Finish | None:
        """Claim the addresses and ports that were chosen, others if another request was quicker."""
        return self._claim(call, obj, None)

    def begin_update(self, call: Call, obj: Object, old: Object) -> Finish | None:
        """Claim what is new; release what is gone once the update is stored."""
        return self._claim(call, obj, old)

    def after_delete(self, call: Call, obj: Object) -> None:
        """Give back addresses and node ports."""
        for address in _addresses_of(obj):
            self._addresses.release_ip(call, address)
        for port in node_ports(obj):
            self._addresses.release_port(call, port)

    def _choose(self, call: Call, obj: Object, old: Object | None) -> None:
        self._choose_ips(call, obj, old)
        try:
            self._choose_ports(call, obj, old)
        except NotAllocated as error:
            raise InternalError.because(f"failed to allocate a nodePort: {error}") from error

    def _choose_ips(self, call: Call, obj: Object, old: Object | None) -> None:
        spec = obj["spec"]
        chosen: list[str] = []
        call.data[_AUTO_IPS] = chosen
        if spec.get("type") == "ExternalName" or (spec.get("clusterIPs") or [""])[0] == "None":
            return
        addresses = list(spec.get("clusterIPs") or [])
        kept = _addresses_of(old) if old is not None else []
        for address in addresses:
            if address not in kept:
                self._check_ip(call, obj, address)
        for family in (spec.get("ipFamilies") or [])[len(addresses) :]:
            address = self._next_ip(call, family)
            addresses.append(address)
            chosen.append(address)
        spec["clusterIPs"], spec["clusterIP"] = addresses, addresses[0]

    def _next_ip(self, call: Call, family: str) -> str:
        try:
            return self._addresses.choose_ip(call, family)
        except NotAllocated as error:
            raise InternalError.because(f"failed to allocate a serviceIP: {error}") from error

    def _check_ip(self, call: Call, obj: Object, address: str) -> None:
        try:
            self._addresses.check_ip(call, address)
        except NotAllocated as error:
            raise _no_address(obj, address, error) from error

    def _choose_ports(self, call: Call, obj: Object, old: Object | None) -> None:
        spec = obj["spec"]
        mine = set(node_ports(old)) if old is not None else set()
        chosen: set[int] = set()
        call.data[_AUTO_PORTS] = chosen
        if _needs_node_ports(spec):
            self._choose_service_ports(call, obj, mine, chosen)
        if _needs_health_port(spec):
            if not spec.get("healthCheckNodePort"):
                spec["healthCheckNodePort"] = self._addresses.choose_port(call, mine | chosen | set(node_ports(obj)))
                chosen.add(spec["healthCheckNodePort"])
            elif spec["healthCheckNodePort"] not in mine:
                self._check_port(call, obj, _SPEC.child("healthCheckNodePort"), spec["healthCheckNodePort"])

    def _choose_service_ports(self, call: Call, obj: Object, mine: set[int], chosen: set[int]) -> None:
        """Give each port a node port; the same port number over two protocols shares one."""
        spec = obj["spec"]
        ports = spec.get("ports") or []
        allocate = spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts") is not False
        by_port = {port["port"]: port["nodePort"] for port in reversed(ports) if port.get("nodePort")}
        checked: set[int] = set()
        for index, port in enumerate(ports):
            number = port.get("nodePort") or 0
            if number and number not in mine and number not in checked:
                self._check_port(call, obj, _SPEC.child("ports").index(index).child("nodePort"), number)
                checked.add(number)
            elif not number and allocate:
                number = by_port.get(port["port"]) or self._addresses.choose_port(
                    call, {*mine, *chosen, *by_port.values()}
                )
                if number not in by_port.values():
                    chosen.add(number)
                port["nodePort"] = by_port[port["port"]] = number

    def _check_port(self, call: Call, obj: Object, path: object, port: int) -> None:
        try:
            self._addresses.check_port(call, port)
        except NotAllocated as error:
            problem = invalid(path, port, str(error))  # type: ignore[arg-type]  # a Path
            raise Invalid.about(SERVICE, obj["metadata"].get("name") or "", [problem]) from error

    def _claim(self, call: Call, obj: Object, old: Object | None) -> Finish | None:
        had_ips = set(_addresses_of(old)) if old is not None else set()
        had_ports = set(node_ports(old)) if old is not None else set()
        new_ips: list[str] = []
        new_ports: list[int] = []

        def finish(stored: bool) -> None:
            for port in new_ports:
                self._addresses.settle_port(call, port, stored=stored)
            for address in new_ips if not stored else had_ips - set(_addresses_of(obj)):
                self._addresses.release_ip(call, address)
            if stored:
                for port in had_ports - set(node_ports(obj)):
                    self._addresses.release_port(call, port)

        try:
            for address in [item for item in _addresses_of(obj) if item not in had_ips]:
                new_ips.append(self._claim_ip(call, obj, address))  # noqa: PERF401  a failure undoes what came before
            for port in dict.fromkeys(item for item in node_ports(obj) if item not in had_ports):
                new_ports.append(self._claim_port(call, obj, port))  # noqa: PERF401  likewise
        except BaseException:
            finish(False)
            raise
        return finish if new_ips or new_ports or had_ips or had_ports else None

    def _claim_ip(self, call: Call, obj: Object, address: str) -> str:
        try:
            self._addresses.claim_ip(call, address, obj)
        except NotAllocated as error:
            if address not in call.data.get(_AUTO_IPS, ()):
                raise _no_address(obj, address, error) from error
            other = self._next_ip(call, family_of(address))
            call.data[_AUTO_IPS].append(other)
            spec = obj["spec"]
            spec["clusterIPs"] = [other if item == address else item for item in spec["clusterIPs"]]
            spec["clusterIP"] = spec["clusterIPs"][0]
            return self._claim_ip(call, obj, other)
        return address

    def _claim_port(self, call: Call, obj: Object, port: int) -> int:
        try:
            self._addresses.claim_port(call, port)
        except NotAllocated as error:
            if port not in call.data.get(_AUTO_PORTS, ()):
                problem = invalid(_SPEC.child("ports").index(0).child("nodePort"), port, str(error))
                raise Invalid.about(SERVICE, obj["metadata"].get("name") or "", [problem]) from error
            try:
                other = self._addresses.claim_any_port(call, node_ports(obj))
            except NotAllocated as full:
                raise InternalError.because(f"failed to allocate a nodePort: {full}") from full
            call.data[_AUTO_PORTS].add(other)
            spec = obj["spec"]
            for item in spec.get("ports") or ():
                if item.get("nodePort") == port:
                    item["nodePort"] = other
            if spec.get("healthCheckNodePort") == port:
                spec["healthCheckNodePort"] = other
            return other
        return port


def _no_address(obj: Object, address: str, error: NotAllocated) -> Invalid:
    text = f"failed to allocate IP {address}: {error}"
    problem = invalid(_SPEC.child("clusterIPs"), obj["spec"].get("clusterIPs"), text)
    return Invalid.about(SERVICE, obj["metadata"].get("name") or "", [problem])


def _addresses_of(service: Object | None) -> list[str]:
    """Return the addresses that a service holds: none if it is headless or an alias."""
    spec = (service or {}).get("spec") or {}
    if spec.get("type") == "ExternalName":
        return []
    return [address for address in spec.get("clusterIPs") or () if address not in {"", "None"}]


def _needs_ip(spec: Object) -> bool:
    return spec.get("type") != "ExternalName"


def _needs_node_ports(spec: Object) -> bool:
    return spec.get("type") in {"NodePort", "LoadBalancer"}


def _needs_health_port(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _is_external(spec: Object) -> bool:
    kind = spec.get("type")
    return kind in {"NodePort", "LoadBalancer"} or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def _patch_allocated(spec: Object, old: Object) -> None:
    """Fill in what was given out and the client did not send back."""
    if _needs_ip(old) and _needs_ip(spec):
        for member in ("clusterIP", "clusterIPs"):
            if not spec.get(member) and old.get(member):
                spec[member] = old[member]
    if _needs_node_ports(old) and _needs_node_ports(spec):
        old_ports = {port.get("name", ""): port.get("nodePort") or 0 for port in old.get("ports") or ()}
        used = {port.get("nodePort") for port in spec.get("ports") or ()} & set(old_ports.values())
        for port in spec.get("ports") or ():
            known = old_ports.get(port.get("name", ""), 0)
            if not port.get("nodePort") and known and known not in used:
                port["nodePort"] = known
    if _needs_health_port(old) and _needs_health_port(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = old.get("healthCheckNodePort") or 0


def _drop_unneeded(spec: Object, old: Object) -> None:
    """Drop what the new type has no use for, unless the client changed it, too."""
    if _needs_ip(old) and not _needs_ip(spec):
        if spec.get("clusterIPs") == old.get("clusterIPs"):
            spec.pop("clusterIP", None)
            spec.pop("clusterIPs", None)
        for member in ("ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"):
            _drop_same(spec, old, member)
    if _needs_node_ports(old) and not _needs_node_ports(spec) and _same_node_ports(spec, old):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    if _needs_health_port(old) and not _needs_health_port(spec):
        _drop_same(spec, old, "healthCheckNodePort")
    if old.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        _drop_same(spec, old, "allocateLoadBalancerNodePorts")
        _drop_same(spec, old, "loadBalancerClass")
    if _is_external(old) and not _is_external(spec):
        _drop_same(spec, old, "externalTrafficPolicy")


def _drop_same(spec: Object, old: Object, member: str) -> None:
    if spec.get(member) == old.get(member):
        spec.pop(member, None)


def _same_node_ports(spec: Object, old: Object) -> bool:
    wanted = {port.get("nodePort") for port in spec.get("ports") or () if port.get("nodePort")}
    return wanted <= {port.get("nodePort") for port in old.get("ports") or ()}
