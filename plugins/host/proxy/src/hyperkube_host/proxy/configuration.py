"""KubeProxyConfiguration: the file of ``--config``, and the flags that its fields mean.

What the file says counts more than flags on the command line, except for the node's name and the log; a field that is
not there has its default.
Source: kubernetes ``pkg/proxy/apis/config/v1alpha1``, ``cmd/kube-proxy/app/options.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.plugin.flags import Flag, FlagValues

API_VERSION = "kubeproxy.config.k8s.io/v1alpha1"
KIND = "KubeProxyConfiguration"
FLAG_OF = {
    "bindAddress": "bind-address",
    "bindAddressHardFail": "bind-address-hard-fail",
    "clientConnection.burst": "kube-api-burst",
    "clientConnection.contentType": "kube-api-content-type",
    "clientConnection.kubeconfig": "kubeconfig",
    "clientConnection.qps": "kube-api-qps",
    "clusterCIDR": "cluster-cidr",
    "configSyncPeriod": "config-sync-period",
    "conntrack.maxPerCore": "conntrack-max-per-core",
    "conntrack.min": "conntrack-min",
    "conntrack.tcpBeLiberal": "conntrack-tcp-be-liberal",
    "conntrack.tcpCloseWaitTimeout": "conntrack-tcp-timeout-close-wait",
    "conntrack.tcpEstablishedTimeout": "conntrack-tcp-timeout-established",
    "conntrack.udpStreamTimeout": "conntrack-udp-timeout-stream",
    "conntrack.udpTimeout": "conntrack-udp-timeout",
    "detectLocal.bridgeInterface": "pod-bridge-interface",
    "detectLocal.interfaceNamePrefix": "pod-interface-name-prefix",
    "detectLocalMode": "detect-local-mode",
    "enableProfiling": "profiling",
    "featureGates": "feature-gates",
    "healthzBindAddress": "healthz-bind-address",
    "hostnameOverride": "hostname-override",
    "metricsBindAddress": "metrics-bind-address",
    "mode": "proxy-mode",
    "nodePortAddresses": "nodeport-addresses",
    "oomScoreAdj": "oom-score-adj",
}
"""Field → the flag that means the same."""
_OF_MODE = {
    "masqueradeAll": "masquerade-all",
    "minSyncPeriod": "iptables-min-sync-period",
    "syncPeriod": "iptables-sync-period",
}
"""Fields of the section of the proxier's mode that a flag of the proxy means."""
_SECTIONS = frozenset({"iptables", "ipvs", "nftables", "winkernel"})
_STRAY = frozenset({"logging", "portRange", "showHiddenMetricsForVersion", "windowsRunAsService"})
"""Top fields that nothing here depends on."""
_GIVEN_WINS = frozenset({"hostname-override"})
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def configured(flags: Iterable[Flag], values: FlagValues) -> tuple[FlagValues, Mapping[str, Any]]:
    """Return the values with what the file of ``--config`` says, and what it says to the proxier itself.

    Raises:
        UsageError: the file cannot be read, or a field is unknown or cannot be.
    """
    path = values["config"]
    if not path:
        return values, {}
    try:
        obj = _load(Path(path).read_text(encoding="utf-8"))
        found, settings = from_object(obj)
    except (OSError, ValueError, UsageError) as error:
        raise UsageError(f"--config={path}: {' '.join(str(error).split())}") from error
    known = {flag.name: flag for flag in flags}
    kept = {name: values[name] for name in values.given if name in _GIVEN_WINS}
    read: dict[str, Any] = {}
    for name, value in {**found, **kept}.items():
        try:
            read[name] = known[name].kind.convert(value)
        except ValueError as error:
            raise UsageError(f"--config={path}: {name}: {error}") from error
    # What the file leaves out has its default, also where a flag was given for it.
    left_out = {name: known[name].default_value for name in {*FLAG_OF.values(), *_OF_MODE.values()} - found.keys()}
    for name in ("kubeconfig", *kept):
        left_out.pop(name, None)
    given = (values.given - left_out.keys()) | read.keys()
    return FlagValues({**values, **left_out, **read}, given), settings


def from_object(obj: Object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of flags that a KubeProxyConfiguration means, and the settings of its proxier.

    Raises:
        UsageError: another kind, or an unknown field.
    """
    if obj.get("apiVersion") != API_VERSION or obj.get("kind") != KIND:
        wanted = f"kind {KIND!r} of {API_VERSION!r}"
        raise UsageError(f"kind {obj.get('kind')!r} of apiVersion {obj.get('apiVersion')!r} is not {wanted}")
    flags: dict[str, Any] = {}
    for path, value in _leaves(obj):
        top = path.partition(".")[0]
        if path in FLAG_OF:
            flags[FLAG_OF[path]] = ",".join(value) if isinstance(value, list) else value
        elif top not in _SECTIONS | _STRAY | {"apiVersion", "kind", "metadata"}:
            raise UsageError(f"unknown field {path!r}")
    settings: dict[str, Any] = {}
    for name, value in (obj.get(obj.get("mode") or "") or {}).items():
        if name in _OF_MODE:
            flags[_OF_MODE[name]] = value
        elif value is not None:
            settings[_WORD.sub("_", name).lower()] = value
    return {name: value for name, value in flags.items() if value is not None}, settings


def to_object(values: Mapping[str, Any]) -> Object:
    """Return the values of flags as a KubeProxyConfiguration."""
    obj: Object = {"apiVersion": API_VERSION, "kind": KIND}
    for path, flag in FLAG_OF.items():
        _put(obj, path, values[flag])
    mode = values["proxy-mode"]
    if mode in _SECTIONS:
        for name, flag in _OF_MODE.items():
            _put(obj, f"{mode}.{name}", values[flag])
    return obj


def write_configuration(path: str, values: Mapping[str, Any]) -> None:
    """Write the file that means these values.

    Raises:
        UsageError: it cannot be written.
    """
    import yaml

    try:
        Path(path).write_text(yaml.safe_dump(to_object(values)), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _load(text: str) -> Object:
    import yaml

    try:
        obj = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(str(error)) from error
    if not isinstance(obj, dict):
        raise UsageError("it holds no object")
    return obj


def _leaves(obj: Object, prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Yield path and value of each field; what a flag means as a whole is one value."""
    for name, value in obj.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict) and path not in FLAG_OF:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _put(obj: Object, path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for parent in parents:
        obj = obj.setdefault(parent, {})
    obj[last] = list(value) if isinstance(value, tuple) else value
