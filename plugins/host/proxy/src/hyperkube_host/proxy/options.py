"""The proxy's options as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperkube.plugin.defaults import default_plugin
from hyperkube.plugin.flags import FlagValues


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """An address to serve on."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """See ``kube-proxy --help``.

    Attributes:
        node_name: empty when it is not given; then no traffic counts as local to the node.
        mode: the proxier plugin.
        healthz, metrics: None when the port is not served.
        values: the values of all flags, for the settings of plugins and for ``/configz``.
    """

    node_name: str
    mode: str
    healthz: ListenAddress | None
    metrics: ListenAddress | None
    profiling: bool
    gates: Mapping[str, bool]
    values: FlagValues

    @classmethod
    def of(cls, values: FlagValues) -> ProxyOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: no proxier is named, and none is the default.
        """
        mode = values["proxy-mode"] or default_plugin("proxier", "proxy-mode")
        return cls(
            node_name=values["hostname-override"],
            mode=mode,
            healthz=listen_address(values["healthz-bind-address"], values["healthz-port"]),
            metrics=listen_address(values["metrics-bind-address"], values["metrics-port"]),
            profiling=values["profiling"],
            gates=values["feature-gates"],
            values=values.with_values({"proxy-mode": mode}),
        )


def listen_address(address: str, port: int) -> ListenAddress | None:
    """Return where to listen: a port within the address wins; None if the flag has port 0 or there is no address."""
    if not port or not address:
        return None
    host, _, own = address.rpartition(":")
    if host and own.isdecimal() and (":" not in host or host.startswith("[")):
        address, port = host, int(own)
    return ListenAddress(address.strip("[]"), port)
