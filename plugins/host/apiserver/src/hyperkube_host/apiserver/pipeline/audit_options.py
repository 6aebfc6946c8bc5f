"""The ``--audit-*`` flags: from them to an `Auditor`, or to none, which costs nothing.

Source: kubernetes apiserver ``pkg/server/options/audit.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from hyperkube_host.apiserver.audit.backends import (
    Backend,
    Batching,
    LogBackend,
    WebhookBackend,
    json_line,
    legacy_line,
)
from hyperkube_host.apiserver.audit.policy import EVERYTHING, Policy
from hyperkube_host.apiserver.audit.rotation import RotatedFile
from hyperkube_host.apiserver.pipeline.auditor import Auditor
from hyperkube_lib.webhooks.review import ReviewClient

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError

_MODE = {"audit-log": "blocking", "audit-webhook": "batch"}
_MODES = ("batch", "blocking", "blocking-strict")
_BUFFER, _WAIT_SECONDS, _BACKOFF_SECONDS = 10_000, 30.0, 10.0
_SIZES = {"audit-log": 1, "audit-webhook": 400}
_FORMATS = {"json": json_line, "legacy": legacy_line}


def auditor_of(options: Mapping[str, Any], clock: Clock, logger: logging.Logger) -> Auditor | None:
    """Return what records requests, None when nothing is to be recorded.

    Raises:
        UsageError: a flag or a file is wrong.
    """
    path = str(options.get("audit-log-path") or "")
    webhook = str(options.get("audit-webhook-config-file") or "")
    policy_file = str(options.get("audit-policy-file") or "")
    line_format = str(options.get("audit-log-format") or "json")
    if line_format not in _FORMATS:
        raise UsageError(f"invalid audit log format {line_format}, allowed formats are {', '.join(sorted(_FORMATS))!r}")
    modes = {prefix: _mode(options, prefix) for prefix in _MODE}
    policy = Policy.from_file(policy_file) if policy_file else None
    if policy is None and path and line_format == "legacy":
        policy = EVERYTHING  # that form is older than policies
    if not (path or webhook):
        return None
    if policy is None:
        logger.warning("no audit policy file provided, no events will be recorded")
        return None
    backends: list[tuple[Backend, bool]] = []
    if path:
        file = RotatedFile(
            path,
            clock,
            megabytes=int(options.get("audit-log-maxsize") or 0),
            backups=int(options.get("audit-log-maxbackup") or 0),
            days=int(options.get("audit-log-maxage") or 0),
            compress=bool(options.get("audit-log-compress")),
        )
        log = LogBackend(file, _FORMATS[line_format])
        backends.append(_in_mode(log, "audit-log", modes["audit-log"], options, clock, logger))
    if webhook:
        wait = options.get("audit-webhook-initial-backoff")
        reviews = ReviewClient(webhook, clock, first_wait=_BACKOFF_SECONDS if wait is None else float(wait))
        hook = WebhookBackend(reviews)
        backends.append(_in_mode(hook, "audit-webhook", modes["audit-webhook"], options, clock, logger))
    return Auditor(policy, backends, clock, logger)


def _mode(options: Mapping[str, Any], prefix: str) -> str:
    mode = str(options.get(f"{prefix}-mode") or _MODE[prefix])
    if mode not in _MODES:
        raise UsageError(f"invalid audit {prefix.removeprefix('audit-')} mode {mode}, allowed modes are {_MODES!r}")
    return mode


def _in_mode(
    backend: Backend, prefix: str, mode: str, options: Mapping[str, Any], clock: Clock, logger: logging.Logger
) -> tuple[Backend, bool]:
    """Return the backend as its mode wants it, and whether requests depend on it."""
    if mode != "batch":
        return backend, mode == "blocking-strict"
    wait = options.get(f"{prefix}-batch-max-wait")
    return (
        Batching(
            backend,
            clock,
            logger,
            buffer=int(options.get(f"{prefix}-batch-buffer-size") or _BUFFER),
            size=int(options.get(f"{prefix}-batch-max-size") or _SIZES[prefix]),
            wait=_WAIT_SECONDS if wait is None else float(wait),
        ),
        False,
    )
