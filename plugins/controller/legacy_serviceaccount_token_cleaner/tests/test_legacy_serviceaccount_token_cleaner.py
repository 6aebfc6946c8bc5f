"""The legacy-serviceaccount-token-cleaner: which tokens are marked, which go, and which stay."""

import pytest
from hyperkube_controller.legacy_serviceaccount_token_cleaner import LegacyServiceaccountTokenCleaner, mounted_secrets
from hyperkube_lib.service_account_tokens import INVALID_SINCE, LAST_USED, TRACKING

from hyperkube.kinds.resources import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

DAY = 24 * 3600.0
YEAR = {"legacy_service_account_token_clean_up_period": 365 * DAY}


def secret(labels=None, created="2028-01-01T00:00:00Z", name="token", account="sa"):
    annotations = {"kubernetes.io/service-account.name": account, "kubernetes.io/service-account.uid": "u"}
    meta = {"name": name, "namespace": "ns", "uid": "s", "creationTimestamp": created, "labels": labels or {}}
    return {"type": "kubernetes.io/service-account-token", "metadata": {**meta, "annotations": annotations}}


def account(*secrets):
    listed = [{"name": name} for name in secrets or ("token",)]
    return {"metadata": {"name": "sa", "namespace": "ns", "uid": "u"}, "secrets": listed}


def tracking(since="2028-06-01"):
    return {"metadata": {"name": TRACKING, "namespace": "kube-system"}, "data": {"since": since}}


def seed(client, *secrets, accounts=None, pods=(), since=None):
    client.seed(SERVICE_ACCOUNTS, *([account()] if accounts is None else accounts))
    client.seed(PODS, *pods)
    client.seed(CONFIG_MAPS, *([tracking()] if since is None else since))
    client.seed(SECRETS, *secrets)


def world(*secrets, **more):
    rig = ControllerRig(LegacyServiceaccountTokenCleaner, settings=YEAR)  # its clock begins on 2030-01-01
    seed(rig.client, *secrets, **more)
    rig.settle()
    return rig


def labels(rig):
    return [found["metadata"].get("labels", {}) for found in rig.client.objects(SECRETS)]


class TestContract(ControllerContract):
    plugin = LegacyServiceaccountTokenCleaner
    settings = YEAR

    def populate(self, rig):
        seed(rig.client, secret())


def test_an_unused_token_is_marked_first_and_deleted_as_long_afterwards():
    rig = world(secret())
    assert labels(rig) == [{INVALID_SINCE: "2030-01-01"}]

    rig.advance(364 * DAY)
    assert len(rig.client.objects(SECRETS)) == 1
    rig.advance(2 * DAY)

    assert rig.client.objects(SECRETS) == []


def test_a_label_that_was_taken_off_begins_anew():
    rig = world(secret())
    rig.advance(300 * DAY)
    (found,) = rig.client.objects(SECRETS)
    rig.client.update(SECRETS, {**found, "metadata": {**found["metadata"], "labels": {LAST_USED: "2030-10-20"}}})
    rig.settle()

    rig.advance(100 * DAY)

    assert labels(rig) == [{LAST_USED: "2030-10-20"}]


@pytest.mark.parametrize(
    ("secrets", "more"),
    [
        ([secret(created="2029-06-01T00:00:00Z")], {}),
        ([secret({LAST_USED: "2029-01-02"})], {}),
        ([secret({LAST_USED: "yesterday"})], {}),
        ([secret()], {"accounts": [account("another")]}),
        ([secret(account="gone")], {}),
        ([secret()], {"since": [tracking("2029-06-01")]}),
        ([secret()], {"since": [tracking("some day")]}),
        ([secret()], {"since": []}),
        (
            [secret()],
            {"pods": [{"metadata": {"name": "p", "namespace": "ns"},
                       "spec": {"volumes": [{"name": "v", "secret": {"secretName": "token"}}]}}]},
        ),
        ([{**secret(), "type": "Opaque"}], {}),
    ],
    ids=["young", "used", "odd label", "not listed", "no account", "tracked too briefly", "odd date", "not tracked",
         "mounted", "no token"],
)  # fmt: skip
def test_these_stay_as_they_are(secrets, more):
    before = [found["metadata"].get("labels", {}) for found in secrets]

    assert labels(world(*secrets, **more)) == before


def test_all_ways_to_use_a_secret_are_seen():
    pod = {
        "spec": {
            "imagePullSecrets": [{"name": "a"}],
            "initContainers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "b"}}}]}],
            "containers": [{"envFrom": [{"secretRef": {"name": "c"}}]}],
            "volumes": [
                {"secret": {"secretName": "d"}},
                {"projected": {"sources": [{"secret": {"name": "e"}}]}},
                {"azureFile": {"secretName": "f"}},
                {"csi": {"nodePublishSecretRef": {"name": "g"}}},
                {"cephfs": {"secretRef": {"name": "h"}}},
            ],
        }
    }

    assert set(mounted_secrets(pod)) - {""} == set("abcdefgh")


def test_the_period_must_be_positive():
    options = {"legacy_service_account_token_clean_up_period": 0.0}

    with pytest.raises(UsageError, match="must be positive"):
        ControllerRig(LegacyServiceaccountTokenCleaner, settings=options).settle()
