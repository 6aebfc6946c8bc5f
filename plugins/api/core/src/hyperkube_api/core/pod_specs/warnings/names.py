"""Warnings for names of pods and workloads that do not fit a host name.

Source: kubernetes pkg/registry/core/pod/strategy.go and the strategies of the workloads.
"""

from __future__ import annotations

from hyperkube.machinery import names
from hyperkube.machinery.objects import Object, name_of

_ADVICE = "which can result in surprising behavior; a DNS label is recommended"


def pod_name_warnings(pod: Object) -> list[str]:
    """Return the warning for a pod; one whose name is still to be generated is fine."""
    return _name_warnings(name_of(pod), "the Pod's hostname") if name_of(pod) else []


def workload_name_warnings(obj: Object) -> list[str]:
    """Return the warning for a workload whose pods are named after it."""
    return _name_warnings(name_of(obj), "Pod names and hostnames")


def _name_warnings(name: str, used_in: str) -> list[str]:
    errors = names.dns1123_label(name)
    return [f"metadata.name: this is used in {used_in}, {_ADVICE}: [{' '.join(errors)}]"] if errors else []
