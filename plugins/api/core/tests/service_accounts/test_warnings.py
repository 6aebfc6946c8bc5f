"""Warnings for service accounts."""

from hyperkube_api.core.service_accounts.warnings import service_account_warnings

MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"


def test_service_accounts():
    account = {"metadata": {"annotations": {MOUNTABLE: "true"}}}
    text = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"

    assert service_account_warnings(account, None) == [f"metadata.annotations[{MOUNTABLE}]: {text}"]
    assert service_account_warnings(account, {}) == [f"metadata.annotations[{MOUNTABLE}]: {text}"]
    assert service_account_warnings(account, account) == []
    assert service_account_warnings({}, None) == []
