"""The proxy's options as typed values."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hyperkube_host.proxy.conntrack.sysctls import ConntrackOptions
from hyperkube_host.proxy.flags import FAMILIES
from hyperkube_host.proxy.validation import validate
from hyperkube_lib.proxy_rules.local_detector import LocalDetectorSettings
from hyperkube_lib.proxy_rules.node_port_addresses import PRIMARY

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin.defaults import default_plugin
from hyperkube.plugin.flags import FlagValues
from hyperkube.plugin.loader import installed

IPTABLES, IPVS, NFTABLES = "iptables", "ipvs", "nftables"
IPVS_TABLE = "/proc/net/ip_vs"


class ListenAddress(NamedTuple):
    """An address to serve on."""

    host: str
    port: int


class ProxyOptions(Record):
    """See ``kube-proxy --help``.

    Attributes:
        node_name: the host's name unless another is given.
        mode: the proxier plugin.
        settings: what the configuration file has for that plugin, by its settings' names.
        healthz, metrics: None when the port is not served.
        node_port_addresses: ranges, or the word `primary`.
        sync_seconds: how often is looked whether the rules are still there.
        min_sync_seconds: how long from one sync to the next on average, at least.
        values: the values of all flags, for the settings of plugins and for ``/configz``.
    """

    node_name: str
    mode: str
    settings: Mapping[str, Any]
    healthz: ListenAddress | None
    metrics: ListenAddress | None
    bind_address: str
    node_port_addresses: tuple[str, ...]
    sync_seconds: float
    min_sync_seconds: float
    conntrack: ConntrackOptions
    profiling: bool
    gates: Mapping[str, bool]
    values: FlagValues

    @classmethod
    def of(cls, values: FlagValues, settings: Mapping[str, Any] | None = None) -> ProxyOptions:
        """Return the options that the values of flags make.

        Args:
            values: of all flags.
            settings: what the configuration file has for the proxier.

        Raises:
            UsageError: no proxier is named, and none is the default; this node has no IPVS; or a value cannot be.
        """
        mode = values["proxy-mode"] or (
            default_plugin("proxier", "proxy-mode") if values["legacy-userspace-proxy"] else IPTABLES
        )
        check_mode(mode)
        values = values.with_values({"proxy-mode": mode})
        if mode == NFTABLES and not values["nodeport-addresses"]:
            values = values.with_values({"nodeport-addresses": (PRIMARY,)})
        detection = LocalDetectorSettings(
            detect_local_mode=values["detect-local-mode"],
            cluster_cidr=tuple(values["cluster-cidr"]),
            pod_bridge_interface=values["pod-bridge-interface"],
            pod_interface_name_prefix=values["pod-interface-name-prefix"],
        )
        detection.check()
        healthz, metrics = _listen_address(values, "healthz"), _listen_address(values, "metrics")
        validate(values, healthz, metrics)
        return cls(
            node_name=values["hostname-override"].strip().lower() or socket.gethostname().lower(),
            mode=mode,
            settings=dict(settings or {}),
            healthz=healthz,
            metrics=metrics,
            bind_address=values["bind-address"],
            node_port_addresses=tuple(values["nodeport-addresses"]),
            sync_seconds=values["iptables-sync-period"],
            min_sync_seconds=values["iptables-min-sync-period"],
            conntrack=_conntrack(values),
            profiling=values["profiling"],
            gates=values["feature-gates"],
            values=values,
        )


def check_mode(mode: str) -> None:
    """Refuse a mode that this node cannot have.

    Raises:
        UsageError: IPVS, of which neither the kernel's part nor a proxier is here.
    """
    if mode != IPVS or mode in installed(FAMILIES[0]):
        return
    lacking = "no proxier of it is installed" if Path(IPVS_TABLE).exists() else "this kernel has none"
    raise UsageError(f"--proxy-mode={IPVS}: {lacking}; use one of {', '.join(sorted(installed(FAMILIES[0])))}")


def _conntrack(values: FlagValues) -> ConntrackOptions:
    return ConntrackOptions(
        max_per_core=values["conntrack-max-per-core"],
        minimum=values["conntrack-min"],
        tcp_established_seconds=values["conntrack-tcp-timeout-established"],
        tcp_close_wait_seconds=values["conntrack-tcp-timeout-close-wait"],
        tcp_be_liberal=values["conntrack-tcp-be-liberal"],
        udp_seconds=values["conntrack-udp-timeout"],
        udp_stream_seconds=values["conntrack-udp-timeout-stream"],
    )


def _listen_address(values: FlagValues, what: str) -> ListenAddress | None:
    """Return where the flags of a port say to listen; of the port's and the address's the given one counts."""
    address, port = values[f"{what}-bind-address"], values[f"{what}-port"]
    port_alone = f"{what}-port" in values.given and f"{what}-bind-address" not in values.given
    return listen_address(address, port, port_wins=port_alone)


def listen_address(address: str, port: int, *, port_wins: bool = False) -> ListenAddress | None:
    """Return where to listen; None if the flag has port 0 or there is no address.

    Args:
        address: may have a port of its own.
        port: of the flag for ports.
        port_wins: whether that counts more than a port within the address.
    """
    if not port or not address:
        return None
    host, _, own = address.rpartition(":")
    if host and own.isdecimal() and (":" not in host or host.startswith("[")):
        address, port = host, port if port_wins else int(own)
    return ListenAddress(address.strip("[]"), port)
