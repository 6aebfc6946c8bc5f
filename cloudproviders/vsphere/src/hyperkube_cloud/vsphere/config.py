"""The file of ``--cloud-config``: gcfg, as Kubernetes' own provider had it, or the YAML of cloud-provider-vsphere.

Source: kubernetes ``legacy-cloud-providers/vsphere/vsphere.go`` (VSphereConfig); cloud-provider-vsphere
``pkg/common/config``, ``pkg/cloudprovider/vsphere/config``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from hyperkube_lib.cloud_provider.gcfg import Section, Values, fields_of, parse_gcfg

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

CONTROLLERS: Final = ("pvscsi", "lsiLogic-sas", "lsiLogic")
FAMILIES: Final = ("ipv4", "ipv6")
Options = TypeVar("Options", bound=Record)
_KNOWN: Final = ("global", "virtualcenter", "network", "disk", "workspace", "labels", "nodes")
_THUMBPRINT: Final = re.compile(r"[0-9A-Fa-f]{2}(?:(:?[0-9A-Fa-f]{2}){19}|(:?[0-9A-Fa-f]{2}){31})")
_OF_NSX: Final = re.compile(r"loadbalancer(class)?|route|nsxt")
_WITHOUT_EFFECT: Final = frozenset(
    {"soap-roundtrip-count", "api-disable", "api-binding", "vm-name", "secret-not-managed"}
)
"""Keys that say what is found out here, or done by the hosts for all clouds."""
_YAML_SECTIONS: Final = {"vcenter": "virtualcenter"}


class VCenterConfig(Record):
    """One vCenter, ``[VirtualCenter "server"]``; what it does not say, ``[Global]`` says.

    Attributes:
        datacenters: those that are searched for machines; all, without any.
        thumbprint: of its certificate, which then needs no authority.
        secret_name, secret_namespace, secrets_directory: where user and password stand in place of the file.
        ip_family: of the addresses that nodes get, the first one first.
    """

    server: str = ""
    user: str = ""
    password: str = ""
    port: str = ""
    datacenters: tuple[str, ...] = ()
    insecure_flag: bool = False
    ca_file: str = ""
    thumbprint: str = ""
    secret_name: str = ""
    secret_namespace: str = ""
    secrets_directory: str = ""
    ip_family: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"VCenterConfig(server={self.server!r})"  # never what is secret

    @property
    def url(self) -> str:
        """Where it is, without a path; a stand-in may be named by a URL."""
        if "://" in self.server:
            return self.server.rstrip("/")
        host = f"[{self.server}]" if ":" in self.server and not self.server.startswith("[") else self.server
        return f"https://{host}:{self.port or 443}"

    @property
    def families(self) -> tuple[str, ...]:
        """Kinds of addresses, in their order."""
        return tuple(family.lower() for family in self.ip_family) or FAMILIES[:1]


class _Global(VCenterConfig):
    """``[Global]``: what holds for all vCenters, or the only one with its storage, as until 1.8."""

    datacenter: str = ""
    datastore: str = ""
    working_dir: str = ""
    vm_uuid: str = ""


class Workspace(Record):
    """``[Workspace]``: where disks are made, and machines that serve to make them."""

    server: str = ""
    datacenter: str = ""
    folder: str = ""
    default_datastore: str = ""
    resourcepool_path: str = ""


class Nodes(Record):
    """``[Nodes]``: which of a machine's addresses are the cluster's, and which the world's."""

    internal_network_subnet_cidr: tuple[str, ...] = ()
    external_network_subnet_cidr: tuple[str, ...] = ()
    internal_vm_network_name: str = ""
    external_vm_network_name: str = ""
    exclude_internal_network_subnet_cidr: tuple[str, ...] = ()
    exclude_external_network_subnet_cidr: tuple[str, ...] = ()


class Labels(Record):
    """``[Labels]``: the categories of the tags that tell a host's zone and region."""

    zone: str = ""
    region: str = ""


class _Network(Record):
    public_network: str = ""


class _Disk(Record):
    scsicontrollertype: str = CONTROLLERS[0]


class VSphereConfig(Record):
    """All of it.

    Attributes:
        vcenters: in the file's order; the one that `workspace` names is among them.
        public_network: the network whose addresses nodes get, all of them, in place of what `nodes` says.
        vm_uuid: of the machine that this runs on; read from its firmware without it.
    """

    vcenters: tuple[VCenterConfig, ...] = ()
    workspace: Workspace = Workspace()
    nodes: Nodes = Nodes()
    labels: Labels = Labels()
    public_network: str = ""
    controller: str = CONTROLLERS[0]
    vm_uuid: str = ""


def read_config(path: str) -> VSphereConfig:
    """Return what a file says; no file says nothing.

    Raises:
        UsageError: it cannot be read, or has an unknown key: one line that names the file.
    """
    if not path:
        return VSphereConfig()
    import yaml

    try:
        text = Path(path).read_text(encoding="utf-8")
        sections = parse_gcfg(text) if _is_gcfg(text) else _of_yaml(text)
        return _checked(sections)
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = str(error).splitlines()[0] if isinstance(error, yaml.YAMLError) else str(error)
        raise UsageError(f"--cloud-config={path!r}: {problem}") from error


def _is_gcfg(text: str) -> bool:
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and line[0] not in ";#"), "").startswith("[")


def _of_yaml(text: str) -> dict[Section, Values]:
    import yaml

    told = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe
    if not isinstance(told, Mapping):
        raise ValueError("is neither sections nor an object of YAML")  # noqa: TRY004 - a mistake in a file
    found: dict[Section, Values] = {}
    for key, content in told.items():
        kind = _YAML_SECTIONS.get(str(key).lower(), str(key).lower())
        if kind == "virtualcenter":
            found |= {(kind, str(name)): _values(name, rows) for name, rows in _object(key, content).items()}
        else:
            found[kind, ""] = _values(key, content)
    return found


def _object(key: object, content: Any) -> Mapping[str, Any]:
    if content is not None and not isinstance(content, Mapping):
        raise ValueError(f"{key}: {type(content).__name__} is no object")
    return content or {}


def _values(key: object, content: Any) -> Values:
    rows: Values = {}
    for name, value in _object(key, content).items():
        if value is not None:
            each = value if isinstance(value, list) else [value]
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", str(name)).lower()
            rows[words] = [str(one).lower() if isinstance(one, bool) else str(one) for one in each]
    return rows


def _checked(sections: Mapping[Section, Values]) -> VSphereConfig:
    for kind, _name in sections:
        if _OF_NSX.fullmatch(kind):
            raise ValueError(f"[{kind}] is not supported: balancers and routes of NSX-T are its own controllers' work")
        if kind not in _KNOWN:
            raise ValueError(f"unknown section [{kind}] (known: {', '.join(f'[{each}]' for each in _KNOWN)})")

    def section(shape: type[Options], kind: str) -> Options:
        return fields_of(shape, kind.capitalize(), sections.get((kind, ""), {}), _WITHOUT_EFFECT)

    shared = section(_Global, "global")
    vcenters = _vcenters(sections, shared)
    return VSphereConfig(
        vcenters=vcenters,
        workspace=_workspace(section(Workspace, "workspace"), shared, vcenters),
        nodes=_with_subnets(section(Nodes, "nodes")),
        labels=section(Labels, "labels"),
        public_network=section(_Network, "network").public_network,
        controller=_controller(section(_Disk, "disk")),
        vm_uuid=shared.vm_uuid,
    )


def _vcenters(sections: Mapping[Section, Values], shared: _Global) -> tuple[VCenterConfig, ...]:
    named = [
        _completed(fields_of(VCenterConfig, f'VirtualCenter "{name}"', values, _WITHOUT_EFFECT), name, shared)
        for (kind, name), values in sections.items()
        if kind == "virtualcenter"
    ]
    if shared.server and shared.server not in {each.server for each in named}:
        named.append(_completed(VCenterConfig(), shared.server, shared))
    if not named:
        raise ValueError('names no vCenter: a section [VirtualCenter "server"] does')
    return tuple(named)


def _workspace(told: Workspace, shared: _Global, vcenters: Sequence[VCenterConfig]) -> Workspace:
    """Return where disks are made; as until 1.8 ``[Global]`` says, where the section does not."""
    of_global = Workspace(
        server=shared.server,
        datacenter=shared.datacenter,
        folder=shared.working_dir,
        default_datastore=shared.datastore,
    )
    if not told.server and shared.datacenter:
        told = of_global.replace(**{name: value for name, value in vars(told).items() if value})
    if told.server and told.server not in {each.server for each in vcenters}:
        raise ValueError(f"[Workspace] server: {told.server!r} is none of the vCenters")
    if told.server and not told.datacenter:
        raise ValueError("[Workspace] datacenter is missing")
    return told


def _with_subnets(nodes: Nodes) -> Nodes:
    for name in (name for name in Nodes.field_names if name.endswith("cidr")):
        for each in getattr(nodes, name):
            ipaddress.ip_network(each, strict=False)
    return nodes


def _controller(disk: _Disk) -> str:
    if disk.scsicontrollertype not in CONTROLLERS:
        raise ValueError(f"[Disk] scsicontrollertype: {disk.scsicontrollertype!r} is none of {', '.join(CONTROLLERS)}")
    return disk.scsicontrollertype


def _completed(one: VCenterConfig, name: str, shared: _Global) -> VCenterConfig:
    """Return a vCenter with what is said for all; its name is where it is, unless it says that itself."""
    told = {field: getattr(one, field) or getattr(shared, field) for field in VCenterConfig.field_names}
    told["server"] = one.server or name
    if not told["datacenters"] and shared.datacenter:
        told["datacenters"] = (shared.datacenter,)
    made = VCenterConfig(**told)
    if not made.server:
        raise ValueError("a [VirtualCenter] has no server")
    if made.thumbprint and not _THUMBPRINT.fullmatch(made.thumbprint):
        raise ValueError(f"thumbprint of vCenter {made.server!r} is none of SHA-1 or SHA-256, in hexadecimal")
    if unknown := set(made.families) - set(FAMILIES):
        raise ValueError(f"ip-family: {min(unknown)!r} is neither ipv4 nor ipv6")
    if not made.secrets_directory and not (made.secret_name and made.secret_namespace):
        for field in ("user", "password"):
            if not getattr(made, field):
                raise ValueError(f"{field} of vCenter {made.server!r} is missing, and no secret is named")
    return made
