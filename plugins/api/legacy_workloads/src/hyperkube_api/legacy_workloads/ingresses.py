"""Older versions of Ingresses: a backend has ``serviceName`` and ``servicePort``.

Source: kubernetes v1.21 pkg/apis/networking/v1beta1/{conversion,defaults}.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperkube_api.meta.older_versions import Differences

from hyperkube.machinery.objects import Object

_Backend = Callable[[Object], Object]


def _newer_backend(backend: Object) -> Object:
    kept = {name: value for name, value in backend.items() if name not in {"serviceName", "servicePort"}}
    name, port = backend.get("serviceName"), backend.get("servicePort")
    if not name and port is None:
        return kept
    shown: Object = {} if port is None else {"port": _newer_port(port)}
    return {"service": {"name": name or "", **shown}, **kept}


def _newer_port(port: Any) -> Object:
    return {"name": port} if isinstance(port, str) else {"number": port}


def _older_backend(backend: Object) -> Object:
    kept = {name: value for name, value in backend.items() if name != "service"}
    service = backend.get("service")
    if service is None:
        return kept
    port = service.get("port") or {}
    shown: Object = {"serviceName": service["name"]} if service.get("name") else {}
    if port.get("name"):
        shown["servicePort"] = port["name"]
    elif "number" in port or "port" in service:
        shown["servicePort"] = port.get("number") or 0
    return {**shown, **kept}


def _shifted(ingress: Object, old: str, new: str, backend: _Backend) -> Object:
    spec: Object = {}
    for name, value in (ingress.get("spec") or {}).items():
        if name == old:
            spec[new] = backend(value) if value is not None else None
        elif name == "rules":
            spec[name] = [_rule(rule, backend) for rule in value or ()] if value is not None else None
        else:
            spec[name] = value
    return {**ingress, "spec": spec}


def _rule(rule: Object, backend: _Backend) -> Object:
    http = rule.get("http")
    if not http or not http.get("paths"):
        return rule
    paths = [{**path, "backend": backend(path.get("backend") or {})} for path in http["paths"]]
    return {**rule, "http": {**http, "paths": paths}}


def newer_ingress(ingress: Object) -> Object:
    """Return an ingress with the backends of networking.k8s.io/v1."""
    return _shifted(ingress, "backend", "defaultBackend", _newer_backend)


def older_ingress(ingress: Object) -> Object:
    """Return an ingress with the backends of v1beta1."""
    return _shifted(ingress, "defaultBackend", "backend", _older_backend)


def default_ingress(ingress: Object) -> None:
    """Fill in the path type ``ImplementationSpecific``."""
    for rule in (ingress.get("spec") or {}).get("rules") or ():
        for path in (rule.get("http") or {}).get("paths") or ():
            if path.get("pathType") is None:
                path["pathType"] = "ImplementationSpecific"


INGRESS = Differences(newer=newer_ingress, older=older_ingress, default=default_ingress)
