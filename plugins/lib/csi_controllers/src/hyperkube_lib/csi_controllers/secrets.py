"""The secrets of calls: storage and snapshot classes name them, by templates, in parameters ``csi.storage.k8s.io/…``.

Source: github.com/kubernetes-csi/external-provisioner ``pkg/controller/controller.go`` (getSecretReference), and
external-snapshotter ``pkg/utils/util.go`` (GetSecretReference).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from enum import Enum

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.names import dns1123_subdomain
from hyperkube.machinery.objects import Object

PREFIX = "csi.storage.k8s.io/"
_TOKEN = re.compile(r"\$\{([^{}]*)\}")
_DEFAULT = "secret"


class SecretKind(Enum):
    """What a secret is for, by the word in its parameters."""

    PROVISIONER = "provisioner-secret"
    CONTROLLER_PUBLISH = "controller-publish-secret"
    NODE_STAGE = "node-stage-secret"
    NODE_PUBLISH = "node-publish-secret"
    CONTROLLER_EXPAND = "controller-expand-secret"
    NODE_EXPAND = "node-expand-secret"
    SNAPSHOTTER = "snapshotter-secret"
    SNAPSHOTTER_LIST = "snapshotter-list-secret"

    @property
    def shown(self) -> str:
        """The kind as messages name it."""
        return "".join(word.capitalize() for word in self.value.removesuffix("-secret").split("-"))


KEYS = frozenset(
    f"{PREFIX}{word}-{part}"
    for word in (*(kind.value for kind in SecretKind), _DEFAULT)
    for part in ("name", "namespace")
)
"""All parameters that name secrets; drivers do not get them."""


def resolve_template(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its tokens ``${NAME}`` replaced.

    Raises:
        VolumeFailed: a token is unknown.
    """
    unknown = sorted({token for token in _TOKEN.findall(template) if token not in values})
    if unknown:
        shown = " ".join(f'"{token}"' for token in unknown)
        raise VolumeFailed(f"invalid tokens: [{shown}]")
    return _TOKEN.sub(lambda match: values[match.group(1)], template)


def secret_reference(
    kind: SecretKind, parameters: Mapping[str, str], names: Mapping[str, str], namespaces: Mapping[str, str]
) -> Object:
    """Return name and namespace of a secret, empty if the parameters name none.

    Args:
        kind: what it is for.
        parameters: of the class.
        names: token → value in its name.
        namespaces: token → value in its namespace.

    Raises:
        VolumeFailed: only one of the two is given, or a template leads to no name.
    """
    words = [kind.value] if kind in {SecretKind.SNAPSHOTTER, SecretKind.SNAPSHOTTER_LIST} else [kind.value, _DEFAULT]
    for word in words:
        keys = (f"{PREFIX}{word}-name", f"{PREFIX}{word}-namespace")
        name, namespace = (parameters.get(key) for key in keys)
        if name is None and namespace is None:
            continue
        if not name or not namespace:
            raise VolumeFailed(f"either name and namespace for {kind.shown} secrets specified, Both must be specified")
        found = {"name": _resolved(keys[0], name, names), "namespace": _resolved(keys[1], namespace, namespaces)}
        for part, key, template in (("name", keys[0], name), ("namespace", keys[1], namespace)):
            if dns1123_subdomain(found[part]):
                text = f'{key}: "{template}" resolved to "{found[part]}" which is not a valid secret {part}'
                raise VolumeFailed(text.replace("secret namespace", "namespace name"))
        return found
    return {}


def _resolved(key: str, template: str, values: Mapping[str, str]) -> str:
    try:
        return resolve_template(template, values)
    except VolumeFailed as error:
        raise VolumeFailed(f'error resolving {key}: "{template}": {error}') from error


def secret_data(client: Client, reference: Mapping[str, str]) -> dict[str, str]:
    """Return what is in a secret, as drivers get it; nothing for an empty reference.

    Raises:
        VolumeFailed: it cannot be read, or has a value that no call can carry: CSI's are UTF-8.
    """
    if not reference:
        return {}
    name, namespace = reference["name"], reference["namespace"]
    try:
        secret = client.get(SECRETS, name, namespace)
    except (ApiError, ConnectionError) as error:
        raise VolumeFailed(f"error getting secret {name} in namespace {namespace}: {error}") from error
    try:
        return {key: base64.b64decode(value).decode() for key, value in (secret.get("data") or {}).items()}
    except UnicodeDecodeError:
        # Not chained: the failure's own text shows a piece of the value.
        raise VolumeFailed(f"secret {name} in namespace {namespace}: a value is not UTF-8") from None
