"""EncryptionConfiguration: the file of ``--encryption-provider-config``.

Source: kubernetes apiserver ``pkg/apis/apiserver/v1/types_encryption.go``, ``pkg/apis/apiserver/validation``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperkube_host.apiserver.encryption.providers import CIPHERS, Cipher, Identity, KeyedProvider, Provider

from hyperkube.hookspecs.storage import ValueProvider
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupResource

ProviderFactory = Callable[[str, Mapping[str, Any]], ValueProvider | None]
"""Makes a provider that a plugin has of its name and settings."""

KINDS = {("apiserver.config.k8s.io/v1", "EncryptionConfiguration"), ("v1", "EncryptionConfig")}
"""The kind, and what it was called up to 1.12."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Resources, by name or pattern, and the providers that they have, the one that writes first."""

    resources: tuple[str, ...]
    providers: tuple[Provider, ...]

    def applies(self, resource: GroupResource) -> bool:
        """Tell whether a resource is one of them: ``secrets``, ``deployments.apps``, ``*.apps``, ``*.`` or ``*.*``."""
        return any(name in self.resources for name in (str(resource), f"*.{resource.group}", "*.*"))


class EncryptionRules:
    """What a configuration says; the first rule that applies to a resource is its own."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._known: dict[GroupResource, tuple[Provider, ...]] = {}

    def helped(self) -> list[ValueProvider]:
        """Return the providers that plugins made."""
        providers = [provider for rule in self._rules for provider in rule.providers]
        return [provider for provider in providers if not isinstance(provider, KeyedProvider | Identity)]

    def providers(self, resource: GroupResource) -> tuple[Provider, ...]:
        """Return the providers of a resource; none for one that is not encrypted."""
        found = self._known.get(resource)
        if found is None:
            found = next((rule.providers for rule in self._rules if rule.applies(resource)), ())
            self._known[resource] = found
        return found


def read_configuration(path: str, helped: ProviderFactory | None = None) -> EncryptionRules:
    """Return what the file of ``--encryption-provider-config`` says.

    Args:
        path: the file.
        helped: makes the providers that plugins have, by name and settings; None where there are none.

    Raises:
        UsageError: it cannot be read or is wrong; the text names the place, never a key.
    """
    import yaml

    try:
        document = yaml.safe_load(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"encryption configuration {path!r} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"encryption configuration {path!r} is not YAML") from error
    try:
        return EncryptionRules(_rules(document, helped))
    except _Wrong as error:
        raise UsageError(f"encryption configuration {path!r}: {error}") from error


class _Wrong(ValueError):
    """Something in the file; the text begins with its place."""


def _rules(document: Any, helped: ProviderFactory | None) -> list[Rule]:
    if not isinstance(document, dict) or (document.get("apiVersion"), document.get("kind")) not in KINDS:
        raise _Wrong("must be an EncryptionConfiguration of apiserver.config.k8s.io/v1")
    rules = []
    for number, item in enumerate(_list(document, "resources")):
        place = f"resources[{number}]"
        names = _list(item, "resources", place)
        providers = _list(item, "providers", place)
        for name in names:
            _check_resource(name, f"{place}.resources")
        rules.append(
            Rule(
                tuple(names),
                tuple(
                    _provider(one, f"{place}.providers[{place_in}]", helped) for place_in, one in enumerate(providers)
                ),
            )
        )
    return rules


def _list(item: Any, name: str, place: str = "") -> list[Any]:
    value = item.get(name) if isinstance(item, Mapping) else None
    if not isinstance(value, list) or not value:
        raise _Wrong(f"{place}{'.' if place else ''}{name}: at least one is required")
    return value


def _check_resource(name: Any, place: str) -> None:
    if not isinstance(name, str) or not name or name != name.lower():
        raise _Wrong(f"{place}: {name!r} is not a resource such as 'secrets' or 'deployments.apps', in lower case")
    if name == "*":
        raise _Wrong(f"{place}: use '*.' to encrypt all resources of the core group or '*.*' to encrypt all resources")
    if "/" in name:
        raise _Wrong(f"{place}: {name!r} names a subresource, which is stored with its resource")


def _provider(item: Any, place: str, helped: ProviderFactory | None) -> Provider:
    if not isinstance(item, dict) or len(item) != 1:
        raise _Wrong(f"{place}: exactly one provider is required ({', '.join([*CIPHERS, 'identity'])})")
    ((name, settings),) = item.items()
    if name == "identity":
        return Identity()
    if name == "kms":
        return _helped(name, settings, place, helped)
    if name not in CIPHERS:
        raise _Wrong(f"{place}: {name!r} is not a provider ({', '.join([*CIPHERS, 'identity', 'kms'])})")
    keys: dict[str, Cipher] = {}
    for number, key in enumerate(_list(settings, "keys", place)):
        label, cipher = _key(name, key, f"{place}.{name}.keys[{number}]")
        if label in keys:
            raise _Wrong(f"{place}.{name}.keys[{number}]: there is a key {label!r} already")
        keys[label] = cipher
    return KeyedProvider(name, keys)


def _helped(name: str, settings: Any, place: str, helped: ProviderFactory | None) -> Provider:
    if not isinstance(settings, Mapping):
        raise _Wrong(f"{place}.{name}: its settings are required")
    try:
        made = helped(name, settings) if helped is not None else None
    except UsageError as error:
        raise _Wrong(f"{place}.{error}") from error
    if made is None:
        raise _Wrong(f"{place}: no plugin provides {name!r}")
    return made


def _key(provider: str, key: Any, place: str) -> tuple[str, Cipher]:
    label = key.get("name") if isinstance(key, Mapping) else None
    if not isinstance(label, str) or not label or ":" in label:
        raise _Wrong(f"{place}.name: a name without a colon is required")
    try:
        secret = base64.b64decode(str(key.get("secret") or ""), validate=True)
    except binascii.Error:
        raise _Wrong(f"{place}.secret: secrets must be base64 encoded") from None
    cipher = CIPHERS[provider]
    if len(secret) not in cipher.sizes:
        sizes = ", ".join(map(str, cipher.sizes))
        raise _Wrong(
            f"{place}.secret: secret is not of the expected length, got {len(secret)}, expected one of [{sizes}]"
        )
    return label, cipher(secret)
