"""The file of ``--image-credential-provider-config``: which program knows credentials for which images.

A folder holds several, which are read in the order of their names.

Source: kubernetes ``pkg/credentialprovider/plugin/config.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from hyperkube.machinery.durations import DurationError, parse_duration
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

FLAG = "image-credential-provider-config"
GROUP = "kubelet.config.k8s.io"
VERSIONS = tuple(f"credentialprovider.kubelet.k8s.io/{version}" for version in ("v1", "v1alpha1", "v1beta1"))
CACHE_TYPES = ("ServiceAccount", "Token")
_SUFFIXES = frozenset({".json", ".yaml", ".yml"})


class TokenAttributes(Record):
    """What a program is told of the pod's service account."""

    audience: str
    cache_type: str
    require_service_account: bool
    required_annotations: tuple[str, ...] = ()
    optional_annotations: tuple[str, ...] = ()


class CredentialProvider(Record):
    """One program; `cache_seconds` counts where its answer does not say how long it is good."""

    name: str
    match_images: tuple[str, ...]
    cache_seconds: float
    api_version: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    token: TokenAttributes | None = None


def read_providers(path: Path) -> tuple[CredentialProvider, ...]:
    """Return the programs that a file, or the files of a folder, name.

    Raises:
        UsageError: a file cannot be read, or is not valid.
    """
    found: list[CredentialProvider] = []
    for file in _files(path):
        for entry in _entries(file):
            problems = list(_problems(entry, [provider.name for provider in found]))
            if problems:
                raise UsageError(f"--{FLAG}: failed to validate credential provider config: {problems[0]}")
            found.append(_provider(entry))
    if not found:
        raise UsageError(f"--{FLAG}: providers: Required value: at least 1 item in plugins is required")
    return tuple(found)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise UsageError(f"--{FLAG}: unable to access path {str(path)!r}: no such file or directory")
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file() and file.suffix in _SUFFIXES)
    if not files:
        raise UsageError(f"--{FLAG}: no configuration files found in directory {str(path)!r}")
    return files


def _entries(file: Path) -> list[Mapping[str, Any]]:
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"--{FLAG}: unable to read file {str(file)!r}: {error}") from error
    kind = document.get("kind") if isinstance(document, dict) else None
    group = str(document.get("apiVersion", "")).partition("/")[0] if isinstance(document, dict) else ""
    if kind != "CredentialProviderConfig" or group != GROUP:
        raise UsageError(f"--{FLAG}: {str(file)!r} is no CredentialProviderConfig of {GROUP}/v1")
    entries = document.get("providers") or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"--{FLAG}: {str(file)!r}: providers must be a list of objects")
    return entries


def _problems(entry: Mapping[str, Any], known: list[str]) -> Iterator[str]:
    name, version = str(entry.get("name") or ""), entry.get("apiVersion")
    if not name or "/" in name or " " in name or name in {".", ".."}:
        yield f'providers.name: Invalid value: "{name}": provider name cannot be empty, a path, or contain spaces'
    if name in known:
        yield f'providers.name: Duplicate value: "{name}"'
    if version not in VERSIONS:
        supported = ", ".join(f'"{version}"' for version in VERSIONS)
        yield f'providers.apiVersion: Unsupported value: "{version or ""}": supported values: {supported}'
    images = entry.get("matchImages") or []
    if not images:
        yield "providers.matchImages: Required value: at least 1 item in matchImages is required"
    for image in images:
        try:
            urlsplit(f"https://{image}")
        except ValueError as error:
            yield f'providers.matchImages: Invalid value: "{image}": match image is invalid: {error}'
    yield from _duration_problems(entry.get("defaultCacheDuration"))
    if entry.get("tokenAttributes") is not None:
        yield from _token_problems(entry["tokenAttributes"], version)


def _duration_problems(value: Any) -> Iterator[str]:
    path = "providers.defaultCacheDuration"
    if value is None:
        yield f"{path}: Required value"
        return
    try:
        if parse_duration(str(value)) < 0:
            yield f'{path}: Invalid value: "{value}": must be greater than or equal to 0'
    except DurationError as error:
        yield f'{path}: Invalid value: "{value}": {error}'


def _token_problems(token: Mapping[str, Any], version: Any) -> Iterator[str]:
    path = "providers.tokenAttributes"
    required = token.get("requiredServiceAccountAnnotationKeys") or []
    both = set(required) & set(token.get("optionalServiceAccountAnnotationKeys") or [])
    if not token.get("serviceAccountTokenAudience"):
        yield f"{path}.serviceAccountTokenAudience: Required value"
    if token.get("requireServiceAccount") is None:
        yield f"{path}.requireServiceAccount: Required value"
    if version != VERSIONS[0]:
        yield f"{path}: Forbidden: tokenAttributes is only supported for {VERSIONS[0]} API version"
    if token.get("requireServiceAccount") is False and required:
        why = "requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set"
        yield f"{path}.requiredServiceAccountAnnotationKeys: Forbidden: {why}"
    if both:
        yield f"{path}: Invalid value: {sorted(both)}: annotation keys cannot be both required and optional"
    if token.get("cacheType") not in CACHE_TYPES:
        supported = ", ".join(f'"{name}"' for name in CACHE_TYPES)
        value = token.get("cacheType") or ""
        yield f'{path}.cacheType: Unsupported value: "{value}": supported values: {supported}'


def _provider(entry: Mapping[str, Any]) -> CredentialProvider:
    token = entry.get("tokenAttributes")
    return CredentialProvider(
        name=str(entry["name"]),
        match_images=tuple(entry["matchImages"]),
        cache_seconds=parse_duration(str(entry["defaultCacheDuration"])),
        api_version=str(entry["apiVersion"]),
        args=tuple(str(word) for word in entry.get("args") or ()),
        env=tuple((str(row["name"]), str(row.get("value", ""))) for row in entry.get("env") or ()),
        token=None
        if token is None
        else TokenAttributes(
            audience=str(token["serviceAccountTokenAudience"]),
            cache_type=str(token["cacheType"]),
            require_service_account=bool(token["requireServiceAccount"]),
            required_annotations=tuple(token.get("requiredServiceAccountAnnotationKeys") or ()),
            optional_annotations=tuple(token.get("optionalServiceAccountAnnotationKeys") or ()),
        ),
    )
