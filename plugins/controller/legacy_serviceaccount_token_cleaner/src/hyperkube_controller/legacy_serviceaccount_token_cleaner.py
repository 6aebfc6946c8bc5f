"""legacy-serviceaccount-token-cleaner: tokens in secrets that were not used for a year go, with a warning of a year.

Meant are tokens that were made for every account by itself: those that the account's ``secrets`` list. One that is old,
unused and mounted by no pod is first labelled invalid, after which the API server refuses it; taking the label off
makes it good again. When it has borne the label for the same time, it is deleted. How long that is says
``--legacy-service-account-token-clean-up-period``; nothing happens before uses have been tracked for as long.
Source: kubernetes ``pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from hyperkube_lib.pod_references import pod_references
from hyperkube_lib.service_account_tokens import INVALID_SINCE, LAST_USED, TRACKING, TRACKING_KEY

from hyperkube.client.actions import Action, Again, Delete, Patch, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import Conflict, NotFound, UsageError
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    resource_version_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105  a type's name
SYNC_SECONDS = 24 * 3600.0
_OPTION = "legacy-service-account-token-clean-up-period"
_DEFAULT_SECONDS = 365 * 24 * 3600.0
_ACCOUNT_NAME, _ACCOUNT_UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
_LATER = [Again(SYNC_SECONDS)]


def mounted_secrets(pod: Object) -> Iterator[str]:
    """Yield the names of all secrets that a pod refers to."""
    yield from (name for kind, name in pod_references(pod) if kind == "secrets")


def is_date(text: str) -> bool:
    """Tell whether a text is a day as the labels write it."""
    try:
        datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return False
    return len(text) == len("2006-01-02")  # strptime takes days and months of one digit, too


def tracked_since(config: Object) -> datetime | None:
    """Return the first whole day of which all uses are known, or None when the ConfigMap does not say."""
    text = str((config.get("data") or {}).get(TRACKING_KEY) or "")
    if not is_date(text):
        return None
    return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=1)


def is_listed(secret: Object, account: Object | None) -> bool:
    """Tell whether an account is the secret's, and lists it: then it was made by itself."""
    if account is None or not annotations_of(secret).get(_ACCOUNT_NAME):
        return False
    uid = annotations_of(secret).get(_ACCOUNT_UID, "")
    if uid and uid != uid_of(account):
        return False
    return any(entry.get("name") == name_of(secret) for entry in account.get("secrets") or ())


def decide(secret: Object, now: datetime, period: timedelta, *, is_mounted: bool) -> list[Action]:
    """Return what becomes of a token that was made by itself and whose uses have been tracked for long enough."""
    labels = labels_of(secret)
    keep_from = (now - period).strftime("%Y-%m-%d")
    if is_being_deleted(secret) or parse_time(metadata(secret)["creationTimestamp"]) >= now - period:
        return [*_LATER]
    last_used = labels.get(LAST_USED)
    if last_used is not None and (not is_date(last_used) or last_used >= keep_from):
        return [*_LATER]
    if is_mounted:
        return [*_LATER]
    invalid = labels.get(INVALID_SINCE, "")
    if not is_date(invalid):
        patch = {"metadata": {"uid": uid_of(secret), "labels": {INVALID_SINCE: now.strftime("%Y-%m-%d")}}}
        return [Patch(SECRETS, name_of(secret), patch, namespace_of(secret)), *_LATER]
    if invalid >= keep_from:
        return [*_LATER]
    return [Delete.of(SECRETS, secret, {"preconditions": {"resourceVersion": resource_version_of(secret)}})]


class Settings(Record):
    """For how many seconds an unused token stays, and stays marked."""

    legacy_service_account_token_clean_up_period: float = _DEFAULT_SECONDS


class LegacyServiceaccountTokenCleaner(Plugin):
    """Marks and deletes unused tokens."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop, which looks at each token once a day.

        Raises:
            UsageError: the period is not positive.
        """
        self._period = timedelta(seconds=self.settings(Settings).legacy_service_account_token_clean_up_period)
        if self._period <= timedelta():
            raise UsageError(f"{_OPTION} must be positive")
        self._accounts = self.informers.informer(SERVICE_ACCOUNTS)
        self._secrets = self.informers.informer(SECRETS)
        self._pods = self.informers.informer(PODS)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)

        def seen(secret: Object) -> None:
            if secret.get("type") == TOKEN_TYPE:
                loop.enqueue(secret)

        self._secrets.add_handler(seen, lambda _old, new: seen(new))
        return loop

    def _sync(self, key: str) -> float | None:
        namespace, name = split_key(key)
        secret = self._secrets.get(namespace, name)
        if secret is None:
            return None
        now = self.context.clock.now()
        since = self._tracked_since()
        account = self._accounts.get(namespace, annotations_of(secret).get(_ACCOUNT_NAME, ""))
        if since is None or now < since + self._period or not is_listed(secret, account):
            return SYNC_SECONDS
        mounted = any(name in mounted_secrets(pod) for pod in self._pods.list(namespace))
        try:
            return perform(self.client, None, decide(secret, now, self._period, is_mounted=mounted))
        except Conflict:
            return SYNC_SECONDS  # it was just used or changed it

    def _tracked_since(self) -> datetime | None:
        try:
            return tracked_since(self.client.get(CONFIG_MAPS, TRACKING, "kube-system"))
        except NotFound:
            return None
