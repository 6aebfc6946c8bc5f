"""Tokens of service accounts."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hyperkube_api.core.service_accounts.token import create_token

from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.kinds.resources import NODES, PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import ApiError, Invalid

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).parents[1] / "calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)


def a_pod(**more):
    meta = {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "a"}}
    return {"metadata": meta, "spec": {"serviceAccountName": "sa"}, "status": {"phase": "Running"}, **more}


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
    services = ApiServices(token_signer=signer, service_account_issuers=("https://issuer",))

    answer = create_token(calls.a_call(stored, name="sa", body={"spec": spec}, services=services))

    assert answer["status"] == {"token": "token", "expirationTimestamp": "2026-01-01T00:00:00Z"}
    assert answer["spec"]["audiences"] == ["https://issuer"]
    assert (signer.claims["seconds"], signer.claims["bound"]["metadata"]["name"]) == (3600, "p")


def test_a_token_lives_ten_minutes_at_least():
    account = {"metadata": {"name": "sa", "namespace": "ns"}}
    call = calls.a_call(
        calls.Stored((SERVICE_ACCOUNTS, account)),
        name="sa",
        body={"spec": {"expirationSeconds": 5}},
        services=ApiServices(token_signer=Signer()),
    )

    with pytest.raises(Invalid, match="less than 10 minutes"):
        create_token(call)


ACCOUNT = {"metadata": {"name": "sa", "namespace": "ns", "uid": "s"}}


def ask(reference, *more, **request):
    stored, signer = calls.Stored((SERVICE_ACCOUNTS, ACCOUNT), (PODS, a_pod()), *more), Signer()
    body = {**request, "spec": {"boundObjectRef": reference}}
    create_token(calls.a_call(stored, name="sa", body=body, services=ApiServices(token_signer=signer)))
    return signer.claims


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ({}, "cannot bind token to object of type /, Kind="),
        ({"kind": "ConfigMap", "apiVersion": "v1"}, "cannot bind token to object of type /v1, Kind=ConfigMap"),
        ({"kind": "Pod", "apiVersion": "x/v1"}, "cannot bind token to object of type x/v1, Kind=Pod"),
        ({"kind": "Pod", "apiVersion": "v1"}, "Name parameter required."),
        ({"kind": "Pod", "name": "p", "uid": "x"}, 'on Pod "p": the UID in the bound object reference (x) does not'),
    ],
)
def test_a_token_is_bound_to_what_it_can_be_bound_to(reference, text):
    with pytest.raises(ApiError) as error:
        ask(reference)

    assert text in error.value.message


def test_a_pod_of_another_account_binds_no_token():
    other = {"metadata": {"name": "q", "namespace": "ns", "uid": "q"}, "spec": {"serviceAccountName": "sb"}}

    with pytest.raises(ApiError, match="pod running with different serviceaccount name"):
        ask({"kind": "Pod", "name": "q"}, (PODS, other))


@pytest.mark.parametrize("exists", [True, False])
def test_a_token_of_a_running_pod_names_its_node(exists):
    node = {"metadata": {"name": "n", "uid": "nu"}}
    pod = {"metadata": {"name": "q", "namespace": "ns", "uid": "q"},
           "spec": {"serviceAccountName": "sa", "nodeName": "n"}}  # fmt: skip

    claims = ask({"kind": "Pod", "name": "q"}, (PODS, pod), *([(NODES, node)] if exists else []))

    assert claims["node"] == (node if exists else {"metadata": {"name": "n"}})


def test_a_request_names_its_account_or_none():
    with pytest.raises(Invalid, match="must match the service account name if specified"):
        ask(None, metadata={"name": "x"})


def test_a_request_may_name_the_uid_of_its_account():
    with pytest.raises(ApiError) as error:
        ask(None, metadata={"uid": "x"})

    text = "the UID in the token request (x) does not match the UID of the service account (s)"
    assert (error.value.code, error.value.message.endswith(f'TokenRequest.authentication.k8s.io "sa": {text}')) == (
        409,
        True,
    )


def test_the_answer_shows_the_uid_of_the_account():
    stored = calls.Stored((SERVICE_ACCOUNTS, ACCOUNT))
    services = ApiServices(token_signer=Signer())

    answer = create_token(calls.a_call(stored, name="sa", body={"spec": {}}, services=services))

    assert answer["metadata"]["uid"] == "s"
