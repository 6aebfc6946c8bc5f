"""The proxy's options as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hyperkube.machinery.record import Record
from hyperkube.plugin.defaults import default_plugin
from hyperkube.plugin.flags import FlagValues


class ListenAddress(NamedTuple):
    """An address to serve on."""

    host: str
    port: int


class ProxyOptions(Record):
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
            healthz=_listen_address(values, "healthz"),
            metrics=_listen_address(values, "metrics"),
            profiling=values["profiling"],
            gates=values["feature-gates"],
            values=values.with_values({"proxy-mode": mode}),
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
