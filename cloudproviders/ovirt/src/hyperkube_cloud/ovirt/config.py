"""The file of ``--cloud-config``: gcfg, as Kubernetes' provider reads it, and how the engine is trusted.

Source: kubernetes 1.5 ``pkg/cloudprovider/providers/ovirt/ovirt.go`` (OVirtApiConfig).
"""

from __future__ import annotations

from hyperkube_lib.cloud_provider.gcfg import fields_of, read_gcfg

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record


class OVirtConfig(Record):
    """``[connection]``, and of ``[filters]`` the search that machines are found by.

    Attributes:
        uri: of the API, ``https://engine.example/ovirt-engine/api``.
        ca_file, insecure: how its certificate is verified; engines have an authority of their own.
        vms: a search as the engine's administration portal has it, empty for all that the user may see.
    """

    uri: str = ""
    username: str = "admin@internal"
    password: str = ""
    ca_file: str = ""
    insecure: bool = False
    vms: str = ""

    def __repr__(self) -> str:
        return f"OVirtConfig(uri={self.uri!r})"  # never what is secret


class _Filters(Record):
    vms: str = ""


class _Connection(Record):
    uri: str = ""
    username: str = OVirtConfig.username
    password: str = ""
    ca_file: str = ""
    insecure: bool = False


def read_config(path: str) -> OVirtConfig:
    """Return what a file says.

    Raises:
        UsageError: there is none, it cannot be read, has an unknown key or no uri: one line that names the file.
    """
    if not path:
        raise UsageError("--cloud-config is missing: ovirt needs a file with [connection] uri, username and password")
    sections = read_gcfg(path, known=("connection", "filters"))
    try:
        connection = fields_of(_Connection, "connection", sections.get(("connection", ""), {}), frozenset())
        filters = fields_of(_Filters, "filters", sections.get(("filters", ""), {}), frozenset())
    except ValueError as error:
        raise UsageError(f"--cloud-config={path!r}: {error}") from error
    if not connection.uri.startswith(("https://", "http://")):
        problem = "is no URL such as https://engine.example/ovirt-engine/api" if connection.uri else "is missing"
        raise UsageError(f"--cloud-config={path!r}: [connection] uri {problem}")
    return OVirtConfig(
        uri=connection.uri.rstrip("/"),
        username=connection.username,
        password=connection.password,
        ca_file=connection.ca_file,
        insecure=connection.insecure,
        vms=filters.vms,
    )
