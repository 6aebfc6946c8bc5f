"""Tokens of service accounts."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hyperkube_api.core.service_accounts.token import create_token

from hyperkube.kinds.resources import PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import Invalid

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).parents[1] / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def a_pod(**more):
    meta = {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "a"}}
    return {"metadata": meta, "spec": {}, "status": {"phase": "Running"}, **more}


class Signer:
    def __init__(self):
        self.claims = {}

    def issue(self, **claims):
        self.claims = claims
        return "token", datetime(2026, 1, 1, tzinfo=UTC)


def test_a_token_is_issued_for_the_account_and_its_pod():
    account = {"metadata": {"name": "sa", "namespace": "ns", "uid": "s"}}
    stored, signer = calls.Stored((SERVICE_ACCOUNTS, account), (PODS, a_pod())), Signer()
    spec = {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}}
    options = {"service-account-signer": signer, "service-account-issuer": "https://issuer"}

    answer = create_token(calls.a_call(stored, name="sa", body={"spec": spec}, options=options))

    assert answer["status"] == {"token": "token", "expirationTimestamp": "2026-01-01T00:00:00Z"}
    assert answer["spec"]["audiences"] == ["https://issuer"]
    assert (signer.claims["seconds"], signer.claims["bound"]["metadata"]["name"]) == (3600, "p")


def test_a_token_lives_ten_minutes_at_least():
    account = {"metadata": {"name": "sa", "namespace": "ns"}}
    call = calls.a_call(
        calls.Stored((SERVICE_ACCOUNTS, account)),
        name="sa",
        body={"spec": {"expirationSeconds": 5}},
        options={"service-account-signer": Signer()},
    )

    with pytest.raises(Invalid, match="less than 10 minutes"):
        create_token(call)
