"""Definitions of custom resources as Kubernetes stores them: to this day as ``apiextensions.k8s.io/v1beta1``.

There, what all versions share stands beside them. Source: kubernetes apiextensions-apiserver
``pkg/apis/apiextensions/v1beta1/conversion.go``, ``pkg/apis/apiextensions/v1/conversion.go``.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object

OLD, NEW = "apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1"
_SHARED = {
    "validation": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
}


def from_v1beta1(stored: Object) -> Object:
    """Return a stored definition as one of ``apiextensions.k8s.io/v1``."""
    spec = dict(stored["spec"])
    shared = {name: spec.pop(name) for name in _SHARED if spec.get(name)}
    single = spec.pop("version", "")
    versions = spec.get("versions") or [{"name": single, "served": True, "storage": True}]
    spec["versions"] = [_version(version, shared) for version in versions]
    if not spec.get("preserveUnknownFields"):
        spec.pop("preserveUnknownFields", None)
    spec["conversion"] = _conversion(spec.get("conversion") or {"strategy": "None"})
    return {**stored, "apiVersion": NEW, "spec": spec}


def _version(version: Object, shared: Object) -> Object:
    new = {**{_SHARED[name]: value for name, value in shared.items()}, **version}
    if "additionalPrinterColumns" in new:
        new["additionalPrinterColumns"] = [
            {("jsonPath" if name == "JSONPath" else name): value for name, value in column.items()}
            for column in new["additionalPrinterColumns"]
        ]
    return new


def _conversion(conversion: Object) -> Object:
    webhook = {
        name: conversion[old]
        for old, name in (("webhookClientConfig", "clientConfig"), ("conversionReviewVersions",) * 2)
        if conversion.get(old)
    }
    new = {"strategy": conversion["strategy"]}
    return {**new, "webhook": webhook} if webhook and conversion["strategy"] == "Webhook" else new
