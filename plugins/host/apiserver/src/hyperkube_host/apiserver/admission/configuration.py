"""The settings of admission plugins: an AdmissionConfiguration file, or the single file of older Kubernetes.

Source: kubernetes apiserver ``pkg/admission/config.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.configuration import check_keys

KIND = "AdmissionConfiguration"
_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1", "apiserver.config.k8s.io/v1alpha1")
_UNVERSIONED = ("ImagePolicyWebhook", "PodNodeSelector")
"""Plugins whose settings may be the whole file, without any kind."""


def settings_of(path: str, enabled: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """Return the settings by plugin name, without their ``apiVersion`` and ``kind``.

    Args:
        path: the value of ``--admission-control-config-file``, empty for none.
        enabled: the plugins that run; settings for others are a mistake that would otherwise go unnoticed.

    Raises:
        UsageError: a file cannot be read, or is wrong.
    """
    if not path:
        return {}
    table = _read(Path(path))
    if "kind" not in table and "apiVersion" not in table:
        return dict.fromkeys(_UNVERSIONED, table)
    if table.get("kind") != KIND or table.get("apiVersion") not in _VERSIONS:
        raise UsageError(
            f"{path!r} holds kind {table.get('kind')!r} of {table.get('apiVersion')!r},"
            f" expected {KIND!r} of {' or '.join(_VERSIONS)}"
        )
    check_keys(table, ("apiVersion", "kind", "plugins"), KIND)
    found: dict[str, Mapping[str, Any]] = {}
    for index, row in enumerate(table.get("plugins") or []):
        entry = check_keys(row, ("name", "path", "configuration"), f"plugins[{index}]")
        name = str(entry.get("name") or "")
        if name in found:
            raise UsageError(f"plugins[{index}]: admission plugin {name!r} is given twice")
        if name not in enabled:
            raise UsageError(f"plugins[{index}]: admission plugin {name!r} is not enabled")
        found[name] = _settings(entry, Path(path).parent)
    return found


def _settings(entry: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return one plugin's settings: what stands inline, or else in the file that is named, relative to the first."""
    table = entry.get("configuration")
    if table is None and entry.get("path"):
        table = _read(folder / str(entry["path"]))
    if not isinstance(table, Mapping | None):
        raise UsageError(f"settings of plugin {entry.get('name')!r} must be an object, not {table!r}")
    return {key: value for key, value in (table or {}).items() if key not in {"apiVersion", "kind"}}


def _read(path: Path) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  safe
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"unable to read admission control configuration from {str(path)!r}: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{str(path)!r} holds no {KIND}")
    return found
