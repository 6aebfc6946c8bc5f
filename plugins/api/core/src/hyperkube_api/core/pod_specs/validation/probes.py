"""Probes and lifecycle hooks of containers.

Source: kubernetes pkg/apis/core/validation (validateProbe, validateHandler).
"""

from __future__ import annotations

from hyperkube_api.meta.validation import counts, port

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

ONE_HANDLER = "may not specify more than 1 handler type"
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
WINDOWS_SIGNALS = ("SIGKILL", "SIGTERM")
_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def validate_probe(path: Path, probe: Object | None, grace: int) -> list[FieldError]:
    """Check a probe of any sort."""
    if probe is None:
        return []
    errors = _handlers(path, probe, HANDLERS, grace) + counts(path, probe, *_NUMBERS)
    seconds = probe.get("terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        errors.append(invalid(path.child("terminationGracePeriodSeconds"), seconds, "must be greater than 0"))
    return errors


def validate_restarting_probe(path: Path, probe: Object | None, grace: int) -> list[FieldError]:
    """Check a liveness or startup probe: one success is enough."""
    errors = validate_probe(path, probe, grace)
    if probe is not None and probe.get("successThreshold") not in {1, None, 0}:
        errors.append(invalid(path.child("successThreshold"), probe["successThreshold"], "must be 1"))
    return errors


def validate_readiness_probe(path: Path, probe: Object | None, grace: int) -> list[FieldError]:
    """Check a readiness probe: it kills nothing."""
    errors = validate_probe(path, probe, grace)
    if probe is not None and probe.get("terminationGracePeriodSeconds") is not None:
        at = path.child("terminationGracePeriodSeconds")
        errors.append(invalid(at, probe["terminationGracePeriodSeconds"], "must not be set for readinessProbes"))
    return errors


def validate_lifecycle(path: Path, lifecycle: Object | None, grace: int, pod_os: Object | None) -> list[FieldError]:
    """Check the hooks around a container's life, and the signal that ends it."""
    if lifecycle is None:
        return []
    errors: list[FieldError] = []
    for member in ("postStart", "preStop"):
        if lifecycle.get(member) is not None:
            errors += _handlers(path.child(member), lifecycle[member], HOOK_HANDLERS, grace)
    signal = lifecycle.get("stopSignal")
    return errors if signal is None else errors + _signal(path.child("stopSignal"), signal, pod_os)


def _signal(path: Path, signal: str, pod_os: Object | None) -> list[FieldError]:
    if pod_os is None:
        return [forbidden(path, "may not be set for containers with empty `spec.os.name`")]
    system = pod_os.get("name")
    if system not in {"linux", "windows"}:  # reported where it is said
        return []
    from hyperkube_api.core.v1_pods import Lifecycle

    every: tuple[str, ...] = getattr(Lifecycle().fields["stopSignal"], "enum", ())
    known = WINDOWS_SIGNALS if system == "windows" else sorted(every)
    return [] if signal in known else [not_supported(path, signal, known)]


def _handlers(path: Path, holder: Object, members: tuple[str, ...], grace: int) -> list[FieldError]:
    errors: list[FieldError] = []
    found = 0
    for member in members:
        action = holder.get(member)
        if action is None:
            continue
        if found:
            errors.append(forbidden(path.child(member), ONE_HANDLER))
        else:
            errors += _handler(path.child(member), member, action, grace)
        found += 1
    if not found:
        errors.append(required(path, "must specify a handler type"))
    return errors


def _handler(path: Path, member: str, action: Object, grace: int) -> list[FieldError]:
    if member == "exec":
        return [] if action.get("command") else [required(path.child("command"))]
    if member == "httpGet":
        return _http_get(path, action)
    if member == "tcpSocket":
        return port(path.child("port"), action.get("port"))
    if member == "grpc":
        return port(path.child("port"), action.get("port") or 0)
    seconds = action.get("seconds") or 0
    if 0 <= seconds <= grace:
        return []
    return [invalid(path, seconds, f"must be non-negative and less than terminationGracePeriodSeconds ({grace})")]


def _http_get(path: Path, action: Object) -> list[FieldError]:
    errors = [] if action.get("path") else [required(path.child("path"))]
    errors += port(path.child("port"), action.get("port"))
    if action.get("scheme") not in {"HTTP", "HTTPS"}:
        errors.append(not_supported(path.child("scheme"), action.get("scheme") or "", ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        errors += [invalid(path.child("httpHeaders"), name, text) for text in names.http_header_name(name)]
    return errors
