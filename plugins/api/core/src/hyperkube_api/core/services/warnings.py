"""Warnings for services.

Source: kubernetes pkg/api/service/warnings.go.
"""

from __future__ import annotations

from hyperkube_api.core.ip_warnings import cidr_warnings, ip_warnings

from hyperkube.machinery.field import ROOT, Path
from hyperkube.machinery.objects import Object, annotations_of

_HINTS = "service.kubernetes.io/topology-aware-hints"
_MODE = "service.kubernetes.io/topology-mode"
_HEADLESS = "None"
_NAME = "ExternalName"
_SPEC = ROOT.child("spec")


def service_warnings(service: Object) -> list[str]:
    """Return the warnings for a service, in the order of Kubernetes."""
    spec = service.get("spec") or {}
    found: list[str] = []
    if _HINTS in annotations_of(service):
        found.append(f"annotation {_HINTS} is deprecated, please use {_MODE} instead")
    found += _cluster_ips(spec)
    found += _external_ips(spec)
    if spec.get("loadBalancerIP"):
        found += ip_warnings(_SPEC.child("loadBalancerIP"), spec["loadBalancerIP"])
    for index, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        found += cidr_warnings(_SPEC.child("loadBalancerSourceRanges").index(index), text)
    found += _names(spec)
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def _each(path: Path, addresses: list[str]) -> list[str]:
    return [text for index, address in enumerate(addresses) for text in ip_warnings(path.index(index), address)]


def _cluster_ips(spec: Object) -> list[str]:
    if _is_headless(spec):
        return _ignored_when_headless(spec)
    unset = _cluster_ip(spec) in {"", _HEADLESS}
    return [] if unset else _each(_SPEC.child("clusterIPs"), spec.get("clusterIPs") or [])


def _external_ips(spec: Object) -> list[str]:
    addresses = spec.get("externalIPs") or []
    found = _each(_SPEC.child("externalIPs"), addresses)
    if addresses and not _is_headless(spec) and spec.get("type") != _NAME:
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    return found


def _names(spec: Object) -> list[str]:
    if spec.get("type") != _NAME:
        return [f'spec.externalName is ignored when spec.type is not "{_NAME}"'] if spec.get("externalName") else []
    return [f'spec.externalIPs is ignored when spec.type is "{_NAME}"'] if spec.get("externalIPs") else []


def _is_headless(spec: Object) -> bool:
    return spec.get("type") in {"ClusterIP", None} and _cluster_ip(spec) == _HEADLESS


def _cluster_ip(spec: Object) -> str:
    return str(spec.get("clusterIP") or (spec.get("clusterIPs") or [""])[0])


def _ignored_when_headless(spec: Object) -> list[str]:
    found: list[str] = []
    if spec.get("loadBalancerIP"):
        found.append("spec.loadBalancerIP is ignored for headless services")
    if spec.get("externalIPs"):
        found.append("spec.externalIPs is ignored for headless services")
    if spec.get("sessionAffinity") not in {None, "", "None"}:
        found.append("spec.SessionAffinity is ignored for headless services")
    return found
