"""How a service account is created and updated.

Source: kubernetes pkg/registry/core/serviceaccount/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.service_accounts.warnings import service_account_warnings

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.objects import Object


class ServiceAccountStrategy(Strategy):
    """An identity for pods."""

    returns_deleted_object = True

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of the deprecated annotation that enforces mountable secrets."""
        return service_account_warnings(obj, old)
