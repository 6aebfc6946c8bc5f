"""The ``--audit-*`` flags: from them to an `Auditor`, or to none, which costs nothing.

Source: kubernetes apiserver ``pkg/server/options/audit.go``.
"""

from __future__ import annotations

import logging
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from hyperkube_host.apiserver.options import AuditOptions

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube_host.apiserver.audit.backends import Backend, LogBackend
    from hyperkube_host.apiserver.pipeline.auditor import Auditor

_FORMATS = ("json", "legacy")


class _Mode(Enum):
    """How a backend is written to, by the flag's value."""

    BATCH = "batch"
    BLOCKING = "blocking"
    BLOCKING_STRICT = "blocking-strict"


class _Writing(NamedTuple):
    """How events get to one backend: at once, or in batches of so many, after so many seconds."""

    mode: _Mode
    buffer: int
    size: int
    wait: float


def auditor_of(options: AuditOptions, clock: Clock, logger: logging.Logger, dial: Dial | None = None) -> Auditor | None:
    """Return what records requests, None when nothing is to be recorded; `dial` connects to the webhook.

    Raises:
        UsageError: a flag or a file is wrong.
    """
    line_format = options.audit_log_format
    if line_format not in _FORMATS:
        raise UsageError(f"invalid audit log format {line_format}, allowed formats are {', '.join(sorted(_FORMATS))!r}")
    to_log, to_webhook = _log_writing(options), _webhook_writing(options)
    if not (options.audit_policy_file or options.audit_log_path or options.audit_webhook_config_file):
        return None
    from hyperkube_host.apiserver.audit.backends import WebhookBackend
    from hyperkube_host.apiserver.audit.policy import EVERYTHING, Policy
    from hyperkube_host.apiserver.pipeline.auditor import Auditor
    from hyperkube_lib.webhooks.review import ReviewClient

    policy = Policy.from_file(options.audit_policy_file) if options.audit_policy_file else None
    if policy is None and options.audit_log_path:
        policy = EVERYTHING  # as in the releases before there were policies
    if not (options.audit_log_path or options.audit_webhook_config_file):
        return None
    if policy is None:
        logger.warning("no audit policy file provided, no events will be recorded")
        return None
    backends: list[tuple[Backend, bool]] = []
    if options.audit_log_path:
        backends.append(_written(_log(options, clock), to_log, clock, logger))
    if options.audit_webhook_config_file:
        reviews = ReviewClient(
            options.audit_webhook_config_file, clock, first_wait=options.audit_webhook_initial_backoff, dial=dial
        )
        backends.append(_written(WebhookBackend(reviews), to_webhook, clock, logger))
    return Auditor(policy, backends, clock, logger)


def _log(options: AuditOptions, clock: Clock) -> LogBackend:
    from hyperkube_host.apiserver.audit.backends import LogBackend, json_line, legacy_line
    from hyperkube_host.apiserver.audit.rotation import RotatedFile

    file = RotatedFile(
        options.audit_log_path,
        clock,
        megabytes=options.audit_log_maxsize,
        backups=options.audit_log_maxbackup,
        days=options.audit_log_maxage,
        compress=options.audit_log_compress,
    )
    return LogBackend(file, legacy_line if options.audit_log_format == "legacy" else json_line)


def _log_writing(options: AuditOptions) -> _Writing:
    return _Writing(
        _mode("log", options.audit_log_mode),
        options.audit_log_batch_buffer_size,
        options.audit_log_batch_max_size,
        options.audit_log_batch_max_wait,
    )


def _webhook_writing(options: AuditOptions) -> _Writing:
    return _Writing(
        _mode("webhook", options.audit_webhook_mode),
        options.audit_webhook_batch_buffer_size,
        options.audit_webhook_batch_max_size,
        options.audit_webhook_batch_max_wait,
    )


def _mode(backend: str, mode: str) -> _Mode:
    try:
        return _Mode(mode)
    except ValueError as error:
        allowed = tuple(one.value for one in _Mode)
        raise UsageError(f"invalid audit {backend} mode {mode}, allowed modes are {allowed!r}") from error


def _written(backend: Backend, how: _Writing, clock: Clock, logger: logging.Logger) -> tuple[Backend, bool]:
    """Return the backend as its mode wants it, and whether requests depend on it."""
    from hyperkube_host.apiserver.audit.backends import Batching

    if how.mode is not _Mode.BATCH:
        return backend, how.mode is _Mode.BLOCKING_STRICT
    return Batching(backend, clock, logger, buffer=how.buffer, size=how.size, wait=how.wait), False
