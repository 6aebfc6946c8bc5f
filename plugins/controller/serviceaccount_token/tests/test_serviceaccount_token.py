"""The serviceaccount-token controller: a token for each secret that asks for one, while its account is there."""

from base64 import b64decode

import jwt
import pytest
from hyperkube_controller.serviceaccount_token import ServiceaccountToken
from hyperkube_lib.serving.certificates import signing_key

from hyperkube.kinds.resources import SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def account(uid="u1"):
    return {"kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "d", "uid": uid}}


def secret(kind="kubernetes.io/service-account-token", **annotations):
    annotations = {"kubernetes.io/service-account.name": "robot", **annotations}
    return {"kind": "Secret", "metadata": {"name": "s", "namespace": "d", "annotations": annotations}, "type": kind}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pki")
    (folder / "sa.key").write_bytes(signing_key()[0])
    (folder / "ca.crt").write_bytes(b"the CA")
    return {"service_account_private_key_file": str(folder / "sa.key"), "root_ca_file": str(folder / "ca.crt")}


def run(settings, *secrets, accounts=None):
    rig = ControllerRig(ServiceaccountToken, settings=settings)
    rig.client.seed(SERVICE_ACCOUNTS, *([account()] if accounts is None else accounts))
    rig.client.seed(SECRETS, *secrets)
    rig.settle()
    return rig


class TestContract(ControllerContract):
    plugin = ServiceaccountToken

    @pytest.fixture(autouse=True)
    def _key(self, settings, monkeypatch):
        monkeypatch.setattr(type(self), "settings", settings)

    def populate(self, rig):
        rig.client.seed(SERVICE_ACCOUNTS, account())
        rig.client.seed(SECRETS, secret())


def test_a_secret_gets_its_token(settings):
    (found,) = run(settings, secret()).client.objects(SECRETS)

    data = {key: b64decode(value).decode() for key, value in found["data"].items()}
    claims = jwt.decode(data["token"], options={"verify_signature": False})
    assert claims["sub"] == "system:serviceaccount:d:robot"
    assert claims["kubernetes.io/serviceaccount/secret.name"] == "s"
    assert (data["ca.crt"], data["namespace"]) == ("the CA", "d")
    assert found["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == "u1"


def test_a_token_stays_as_it_is(settings):
    given = {**secret(**{"kubernetes.io/service-account.uid": "u1"}), "data": {"token": "b2xk"}}

    (found,) = run(settings, given).client.objects(SECRETS)

    assert found["data"]["token"] == "b2xk"


def test_a_namespace_that_its_author_wrote_is_kept(settings):
    (found,) = run(settings, {**secret(), "data": {"namespace": "b3RoZXI="}}).client.objects(SECRETS)

    assert found["data"]["namespace"] == "b3RoZXI="
    assert found["data"]["token"]


def test_another_authority_is_replaced_and_a_whole_secret_is_not_written(settings):
    stale = {**secret(), "data": {"token": "b2xk", "namespace": "ZA==", "ca.crt": "b2xk"}}
    rig = run(settings, stale)
    (found,) = rig.client.objects(SECRETS)
    assert b64decode(found["data"]["ca.crt"]) == b"the CA"
    written = len(rig.client.actions)

    rig.client.patch(SECRETS, "s", {"metadata": {"annotations": {"kubernetes.io/service-account.uid": None}}}, "d")
    rig.settle()

    assert [verb for verb, *_ in rig.client.actions[written:]] == ["patch"]


@pytest.mark.parametrize(
    ("uid", "left"), [("u1", ["kept"]), ("u0", ["s", "kept"])], ids=["its-account", "another-of-that-name"]
)
def test_a_deleted_secret_is_taken_off_the_accounts_list(settings, uid, left):
    lists = {**account(), "secrets": [{"name": "s"}, {"name": "kept"}]}
    rig = run(settings, secret(**{"kubernetes.io/service-account.uid": uid}), accounts=[lists])
    if uid == "u1":
        rig.client.delete(SECRETS, "s", "d")

    rig.settle()

    assert rig.client.objects(SECRETS) == []
    (found,) = rig.client.objects(SERVICE_ACCOUNTS)
    assert [entry["name"] for entry in found["secrets"]] == left


@pytest.mark.parametrize(
    ("accounts", "annotations"),
    [((), {}), ((account("u2"),), {"kubernetes.io/service-account.uid": "u1"})],
    ids=["gone", "another one of that name"],
)
def test_a_secret_goes_with_its_account(settings, accounts, annotations):
    assert run(settings, secret(**annotations), accounts=accounts).client.objects(SECRETS) == []


def test_a_deleted_account_takes_its_secrets_along(settings):
    rig = run(settings, secret())

    rig.client.delete(SERVICE_ACCOUNTS, "robot", "d")
    rig.settle()

    assert rig.client.objects(SECRETS) == []


def test_other_secrets_are_left_alone(settings):
    (found,) = run(settings, secret("Opaque"), accounts=()).client.objects(SECRETS)

    assert "data" not in found


def test_without_a_key_nothing_happens():
    (found,) = run({}, secret()).client.objects(SECRETS)

    assert "data" not in found


def test_a_missing_key_file_is_an_error():
    with pytest.raises(UsageError, match="cannot read '/nowhere'"):
        ControllerRig(ServiceaccountToken, settings={"service_account_private_key_file": "/nowhere"})
