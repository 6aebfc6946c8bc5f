"""A container's environment variables: services, envFrom, and env with its references.

Sources: kubernetes ``pkg/kubelet/kubelet_pods.go`` (makeEnvironmentVariables), ``pkg/kubelet/envvars/envvars.go``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping

from hyperkube_host.kubelet.container.expansion import expand
from hyperkube_host.kubelet.kuberuntime.env_file import parse_env_file, read_below
from hyperkube_lib.pod_fields import FieldUnknown, field_value, resource_value

from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.field import quote
from hyperkube.machinery.names import relaxed_env_var_name
from hyperkube.machinery.objects import Object, name_of, namespace_of

GetKeyed = Callable[[str, str], Object]


class ConfigFailed(Exception):
    """A container's configuration refers to what is not there; shown as CreateContainerConfigError."""


PRIVILEGED_PORTS = 1024
"""Ports below this one need a privilege to be bound."""


def service_variables(services: Iterable[Object], port_offset: int = 0) -> dict[str, str]:
    """Return ``NAME_SERVICE_HOST`` and the older Docker-link variables of services that have a cluster address.

    Args:
        services: the services.
        port_offset: what is added to ports below 1024, where those cannot be bound.
    """
    found: dict[str, str] = {}
    for service in services:
        spec = service.get("spec") or {}
        address = spec.get("clusterIP", "")
        ports = spec.get("ports") or []
        if not address or address == "None" or not ports:
            continue
        prefix = name_of(service).upper().replace("-", "_")
        host = f"[{address}]" if ":" in address else address
        found[f"{prefix}_SERVICE_HOST"] = address
        found[f"{prefix}_SERVICE_PORT"] = str(_served_port(ports[0], port_offset))
        for port in ports:
            if port.get("name"):
                name = f"{prefix}_SERVICE_PORT_{port['name'].upper().replace('-', '_')}"
                found[name] = str(_served_port(port, port_offset))
        for index, port in enumerate(ports):
            protocol, served = port.get("protocol") or "TCP", _served_port(port, port_offset)
            url = f"{protocol.lower()}://{host}:{served}"
            if index == 0:
                found[f"{prefix}_PORT"] = url
            link = f"{prefix}_PORT_{port['port']}_{protocol}"
            found |= {link: url, f"{link}_PROTO": protocol.lower(), f"{link}_PORT": str(served)}
            found[f"{link}_ADDR"] = address
    return found


def _served_port(port: Object, offset: int) -> int:
    number = int(port["port"])
    return number + offset if number < PRIVILEGED_PORTS else number


def services_for(
    namespace: str, services: Iterable[Object], *, links: bool, master_namespace: str = "default"
) -> list[Object]:
    """Return the services whose variables a pod gets: its namespace's unless switched off, and the API server's.

    The latter is the Service ``kubernetes`` of `master_namespace`, unless the pod's namespace has one with an address.
    Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (getServiceEnvVarMap).
    """
    found: dict[str, Object] = {}
    for service in services:
        name = name_of(service)
        if (service.get("spec") or {}).get("clusterIP", "") in {"", "None"}:
            continue
        if namespace_of(service) == master_namespace and name == "kubernetes":
            found.setdefault(name, service)
        elif links and namespace_of(service) == namespace:
            found[name] = service
    return list(found.values())


class Environment:
    """Builds the variables of one container."""

    def __init__(
        self,
        pod: Object,
        container: Object,
        *,
        services: Iterable[Object],
        port_offset: int = 0,
        master_namespace: str = "default",
        ips: Mapping[str, str],
        allocatable: Mapping[str, str],
        get_config_map: GetKeyed,
        get_secret: GetKeyed,
        volumes: Mapping[str, str] | None = None,
    ) -> None:
        """Take what the values may refer to; the two functions raise NotFound, `volumes` is name → path."""
        self._volumes = volumes or {}
        self._pod = pod
        self._container = container
        self._services = services
        self._port_offset = port_offset
        self._master_namespace = master_namespace
        self._ips = ips
        self._allocatable = allocatable
        self._get = {"ConfigMap": get_config_map, "Secret": get_secret}

    def build(self) -> dict[str, str]:
        """Return name → value: the container's own over envFrom over services.

        Raises:
            ConfigFailed: a source that is not optional is missing.
        """
        values: dict[str, str] = {}
        for source in self._container.get("envFrom") or []:
            values |= self._from(source)
        links = self._pod["spec"].get("enableServiceLinks", True) is not False
        services = services_for(
            namespace_of(self._pod), self._services, links=links, master_namespace=self._master_namespace
        )
        ambient = service_variables(services, self._port_offset)
        for variable in self._container.get("env") or []:
            value = self._value(variable, {**ambient, **values})
            if value is not None:
                values[variable["name"]] = value
        return {**ambient, **values}

    def _from(self, source: Object) -> dict[str, str]:
        for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            if key in source:
                data = self._data(kind, source[key])
                prefix = source.get("prefix", "")
                named = {prefix + name: value for name, value in data.items()}
                return {name: value for name, value in named.items() if not relaxed_env_var_name(name)}
        return {}

    def _data(self, kind: str, reference: Object) -> dict[str, str]:
        try:
            obj = self._get[kind](namespace_of(self._pod), reference["name"])
        except NotFound as error:
            if reference.get("optional"):
                return {}
            raise ConfigFailed(error.message) from error
        return data_of(kind, obj)

    def _value(self, variable: Object, known: Mapping[str, str]) -> str | None:
        source = variable.get("valueFrom")
        if not source:
            return expand(variable.get("value") or "", known)
        try:
            if "fieldRef" in source:
                return field_value(source["fieldRef"]["fieldPath"], self._pod, self._ips)
            if "resourceFieldRef" in source:
                return resource_value(source["resourceFieldRef"], self._named(source), self._allocatable)
        except FieldUnknown as error:
            raise ConfigFailed(str(error)) from error
        if "fileKeyRef" in source:
            return self._from_file(source["fileKeyRef"])
        kind = "ConfigMap" if "configMapKeyRef" in source else "Secret"
        reference = source.get("configMapKeyRef") or source.get("secretKeyRef")
        if reference is None:
            raise ConfigFailed(f"env {variable['name']!r}: valueFrom has no source that this kubelet knows")
        data = self._data(kind, reference)
        if reference["key"] in data:
            return data[reference["key"]]
        if reference.get("optional"):
            return None
        where = f"{namespace_of(self._pod)}/{reference['name']}"
        raise ConfigFailed(f"couldn't find key {reference['key']} in {kind} {where}")

    def _from_file(self, reference: Object) -> str | None:
        """Return the value of a key of a file in a volume; the file must be there even if the key is optional."""
        folder = self._volumes.get(reference["volumeName"])
        if folder is None:
            raise ConfigFailed(f"failed to find volume {quote(reference['volumeName'])} for the file key reference")
        path, key = reference["path"], reference["key"]
        try:
            text = read_below(folder, path).decode()
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise ConfigFailed(f"couldn't parse env file: open {folder}/{path}: {str(why).lower()}") from error
        try:
            values = parse_env_file(text)
        except ValueError as error:
            raise ConfigFailed(f"couldn't parse env file: {error}") from error
        if key not in values and not reference.get("optional"):
            raise ConfigFailed(f"environment variable key {quote(key)} not found in file {quote(path)}")
        return values.get(key)

    def _named(self, source: Object) -> Object:
        name = source["resourceFieldRef"].get("containerName")
        if not name:
            return self._container
        every = [*self._pod["spec"]["containers"], *(self._pod["spec"].get("initContainers") or [])]
        for container in every:
            if container["name"] == name:
                found: Object = container
                return found
        raise ConfigFailed(f"container {name} not found")


def data_of(kind: str, obj: Object) -> dict[str, str]:
    """Return the text data of a ConfigMap, or the decoded data of a Secret."""
    if kind == "ConfigMap":
        return dict(obj.get("data") or {})
    data = obj.get("data") or {}
    return {key: base64.b64decode(value).decode(errors="replace") for key, value in data.items()}
