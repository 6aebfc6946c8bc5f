"""How the kubelet's API and its ports are served."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin.flags import FlagValues

AUTHORIZATION_MODES = ("Webhook", "AlwaysAllow")


class ServerOptions(Record):
    """The kubelet's API and its ports."""

    enabled: bool
    address: str
    port: int
    read_only_port: int
    cadvisor_port: int
    healthz_address: str
    healthz_port: int
    debugging_handlers: bool
    stream_idle_seconds: float
    cert_dir: Path
    tls_cert_file: str
    tls_private_key_file: str
    tls_min_version: str
    tls_cipher_suites: tuple[str, ...]
    permit_port_sharing: bool
    rotates_client_certificate: bool
    rotates_server_certificate: bool
    anonymous: bool
    client_ca_file: str
    token_webhook: bool
    authorization_mode: str
    gates: Mapping[str, bool]

    @property
    def is_serving(self) -> bool:
        """Whether the HTTPS API is served."""
        return self.enabled and self.port != 0

    @classmethod
    def of(cls, values: FlagValues) -> ServerOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: an unknown authorization mode.
        """
        mode = values["authorization-mode"]
        if mode not in AUTHORIZATION_MODES:
            known = ", ".join(AUTHORIZATION_MODES)
            raise UsageError(f"--authorization-mode={mode!r} is none of the kubelet's: {known}")
        return cls(
            enabled=values["enable-server"],
            address=values["address"],
            port=values["port"],
            read_only_port=values["read-only-port"],
            cadvisor_port=values["cadvisor-port"],
            healthz_address=values["healthz-bind-address"],
            healthz_port=values["healthz-port"],
            debugging_handlers=values["enable-debugging-handlers"],
            stream_idle_seconds=max(0.0, values["streaming-connection-idle-timeout"]),
            cert_dir=Path(values["cert-dir"] or Path(values["root-dir"]) / "pki"),
            tls_cert_file=values["tls-cert-file"],
            tls_private_key_file=values["tls-private-key-file"],
            tls_min_version=values["tls-min-version"] or "VersionTLS12",
            tls_cipher_suites=values["tls-cipher-suites"],
            permit_port_sharing=values["permit-port-sharing"],
            rotates_client_certificate=values["rotate-certificates"],
            rotates_server_certificate=values["rotate-server-certificates"],
            anonymous=values["anonymous-auth"],
            client_ca_file=values["client-ca-file"],
            token_webhook=values["authentication-token-webhook"],
            authorization_mode=mode,
            gates=values["feature-gates"],
        )
