"""What has become of one ``podCertificate`` source, and what is to be done next: decided here, done by the manager.

::

                          ┌─────────── issued ◄──────────┐
                          ▼                              │
    nothing ──► requested ──► issued ──► issued and requested anew
                    │                            │
                    └──► denied or failed ◄──────┘        (for good)

Source: kubernetes ``pkg/kubelet/podcertificate/podcertificatemanager.go`` (credState, handleProjection).
"""

from __future__ import annotations

from dataclasses import field, replace
from datetime import datetime, timedelta

from hyperkube_host.kubelet.podcertificate.private_keys import clean_certificate_chain

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.times import parse_time

ASSUME_DELETED = timedelta(minutes=10)
"""How long a request that does not show up in the informer may be on its way still."""
REFRESH_OVERDUE = timedelta(minutes=10)
"""How long after ``beginRefreshAt`` a certificate counts as overdue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A key with its certificates, as the pod has them; `overdue_told` and `expired_told`: there was an event."""

    private_key: bytes = field(repr=False)
    chain: bytes
    begin_refresh_at: datetime
    not_after: datetime
    overdue_told: bool = False
    expired_told: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """A request that waits for its signer; not seen by `abandon_at`, it was deleted."""

    private_key: bytes = field(repr=False)
    name: str
    abandon_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The signer's last word: `kind` is Denied or Failed."""

    kind: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The state of one source."""

    issued: Issued | None = None
    requested: Requested | None = None
    refused: Refused | None = None

    def bundle(self) -> tuple[bytes, bytes]:
        """Return private key and certificates, both PEM.

        Raises:
            VolumeFailed: there are none, or there will be none.
        """
        if self.refused is not None:
            state, why = self.refused, ("denied" if self.refused.kind == "Denied" else "failed")
            shown = f"reason={quote(state.reason)} message={quote(state.message)}"
            raise VolumeFailed(f"PodCertificateRequest was permanently {why}: {shown}")
        if self.issued is None:
            raise VolumeFailed("credential bundle is not issued yet")
        return self.issued.private_key, self.issued.chain

    def metrics_state(self, now: datetime) -> str:
        """Return the label ``state`` of ``kubelet_podcertificate_states``."""
        if self.refused is not None:
            return "denied" if self.refused.kind == "Denied" else "failed"
        if self.issued is None:
            return "not_yet_issued"
        if now > self.issued.not_after:
            return "expired"
        return "overdue_for_refresh" if now > self.issued.begin_refresh_at + REFRESH_OVERDUE else "fresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A warning about the pod."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What follows from a look at a source.

    Attributes:
        credentials: the state from now on.
        request: whether a new key is to be made and a certificate requested for it.
        events: to be recorded.
        problem: why the source is to be looked at again after its back-off, empty for none.
    """

    credentials: Credentials
    request: bool = False
    events: tuple[Event, ...] = ()
    problem: str = ""


def decide(known: Credentials, request: Object | None, key: str, now: datetime, jitter: timedelta) -> Step:
    """Return the next step.

    Args:
        known: the state so far.
        request: the PodCertificateRequest that is waited for, None if the informer does not have it.
        key: NAMESPACE/NAME of that request.
        now: the wall time.
        jitter: up to five minutes, so that pods that were made together do not refresh together.
    """
    if known.refused is not None:
        return Step(credentials=known)
    if known.requested is None:
        if known.issued is None:
            return Step(credentials=known, request=True)
        if now < known.issued.begin_refresh_at:
            return Step(credentials=known)
        issued, events = _late(known.issued, now)
        return Step(credentials=replace(known, issued=issued), request=True, events=events)
    if request is None:
        # The informer may lag behind, or the request may be gone: only time tells which.
        if now > known.requested.abandon_at:
            gone = f"PodCertificateRequest {quote(key)} appears to have been deleted"
            return Step(credentials=replace(known, requested=None), problem=gone)
        text = f"podcertificaterequest.certificates.k8s.io {quote(known.requested.name)} not found"
        return Step(credentials=known, problem=f"while getting PodCertificateRequest {quote(key)}: {text}")
    return _answered(known.requested, request, jitter) or _waiting(known, now)


def _answered(requested: Requested, request: Object, jitter: timedelta) -> Step | None:
    """Return what follows from the signer's answer, None while there is none."""
    status = request.get("status") or {}
    for condition in status.get("conditions") or ():
        kind, reason, message = (str(condition.get(member) or "") for member in ("type", "reason", "message"))
        if kind in {"Denied", "Failed"}:
            what = "was denied" if kind == "Denied" else "failed"
            name = f"{namespace_of(request)}/{name_of(request)}"
            text = f"PodCertificateRequest {name} {what}, reason={quote(reason)}, message={quote(message)}"
            refused = Refused(kind=kind, reason=reason, message=message)
            return Step(credentials=Credentials(refused=refused), events=(Event(reason=kind, message=text),))
        if kind == "Issued":
            issued = Issued(
                private_key=requested.private_key,
                chain=clean_certificate_chain(status["certificateChain"]),
                begin_refresh_at=parse_time(status["beginRefreshAt"]) + jitter,
                not_after=parse_time(status["notAfter"]),
            )
            return Step(credentials=Credentials(issued=issued))
    return None


def _waiting(known: Credentials, now: datetime) -> Step:
    if known.issued is None:
        return Step(credentials=known)
    issued, events = _late(known.issued, now)
    return Step(credentials=replace(known, issued=issued), events=events)


def _late(issued: Issued, now: datetime) -> tuple[Issued, tuple[Event, ...]]:
    """Return what is to be told, once, of a certificate that should have been replaced."""
    events: list[Event] = []
    if now > issued.begin_refresh_at + REFRESH_OVERDUE and not issued.overdue_told:
        events.append(Event(reason="CertificateOverdueForRefresh", message="PodCertificate refresh overdue"))
        issued = replace(issued, overdue_told=True)
    if now > issued.not_after and not issued.expired_told:
        events.append(Event(reason="CertificateExpired", message="PodCertificate expired"))
        issued = replace(issued, expired_told=True)
    return issued, tuple(events)
