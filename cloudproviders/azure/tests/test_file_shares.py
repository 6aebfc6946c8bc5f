"""Azure Files: which account a share goes to, and that whatever is interrupted leaves no second one, and shows no key."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest
from hyperkube_cloud.azure.file_shares import GIB, share_name, share_options
from hyperkube_testing.cloud_faults import Fault
from hyperkube_testing.rest_cloud import RUBBISH, answer

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, DiskRequest, FileShareNotFound
from hyperkube.machinery.errors import HyperkubeError

microsoft, storage = sys.modules["azure_microsoft"], sys.modules["azure_microsoft_storage"]  # as conftest loaded them
KEY = storage.KEY


@pytest.fixture
def again(double, tmp_path):
    """Return what makes the shares of a provider that has just started."""
    return lambda **config: microsoft.provider(microsoft.built(double, tmp_path, **config)).file_shares


@pytest.fixture
def shares(again):
    return again()


def wanted(name="pvc-1", size=GIB, **parameters):
    return DiskRequest(name=name, size=size, parameters=parameters)


def test_a_share_is_named_after_its_volume_in_azures_letters():
    assert share_name("pvc-0A--b-") == "pvc-0a-b"
    assert share_name("p" * 62 + "-x") == "p" * 62


def test_a_share_and_its_account_are_made_and_a_second_request_finds_them(double, shares, again):
    made = shares.create(wanted(size=2 * GIB + 1))
    account = made.id.split("#")[1]

    assert made == again().create(wanted(size=2 * GIB + 1))
    assert made.id == f"shop#{account}#pvc-1#"
    assert made.size == 3 * GIB
    assert made.credentials == {"azurestorageaccountname": account, "azurestorageaccountkey": KEY}
    assert double.names() == ([account], ["pvc-1"])
    (held,) = double.accounts.values()
    assert (held["kind"], held["sku"], held["tags"]) == (
        "StorageV2", {"name": "Standard_LRS"}, {"k8s-azure-created-by": "azure"}
    )  # fmt: skip
    assert account.startswith("f")
    assert len(account) == 24


def test_volumes_of_one_class_share_an_account_and_those_of_another_do_not(double, shares):
    ids = [shares.create(wanted(f"pvc-{number}")).id for number in range(3)]
    premium = shares.create(wanted("pvc-9", skuname="premium_lrs"))

    assert len({each.split("#")[1] for each in ids}) == 1
    assert premium.id.split("#")[1] not in ids[0]
    assert premium.size == 100 * GIB
    assert len(double.accounts) == 2


@pytest.mark.parametrize(
    ("account", "is_taken"),
    [
        ({}, True),
        ({"sku": "Standard_GRS"}, True),
        ({"location": "northeurope"}, False),
        ({"kind": "BlobStorage"}, False),
        ({"tags": {"skip-matching": ""}}, False),
        ({"allowSharedKeyAccess": False}, False),
        ({"isHnsEnabled": True}, False),
        ({"privateEndpointConnections": [{"id": "x"}]}, False),
        ({"provisioningState": "Creating"}, False),
    ],
    ids=["plain", "any-sku", "elsewhere", "no-files", "tagged", "no-keys", "hierarchical", "private", "being-made"],
)
def test_an_account_that_is_there_takes_the_share_if_it_fits(double, shares, account, is_taken):
    double.account("aaa", **account)
    for number in range(5):  # more than a page
        double.account(f"bbb{number}", kind="BlobStorage")

    assert ("#aaa#" in shares.create(wanted()).id) == is_taken


def test_a_share_is_found_in_the_account_that_has_it_though_another_would_be_chosen_now(double, shares):
    double.account("mmm")
    made = shares.create(wanted())
    double.account("aaa")

    assert shares.create(wanted()).id == made.id
    assert double.names()[1] == ["pvc-1"]


def test_what_a_class_names_is_used(double, shares):
    double.account("mine", group="data")
    made = shares.create(wanted(storageaccount="mine", resourcegroup="data", sharename="books", protocol="smb"))

    assert made.id == "data#mine#books#"
    assert shares.resize(made.id, 5 * GIB + 1) == 6 * GIB
    assert shares.resize(made.id, GIB) == 6 * GIB
    for _ in range(2):
        shares.delete(made.id)
    assert double.names() == (["mine"], [])
    with pytest.raises(FileShareNotFound):
        shares.resize(made.id, GIB)


def test_an_id_without_a_group_is_of_the_clusters(double, shares):
    group, account, name, _ = shares.create(wanted()).id.split("#")
    assert group == "shop"

    shares.delete(f"#{account}#{name}#")

    assert double.shares == {}


def test_an_id_that_names_no_account_is_not_taken_for_a_share_that_is_gone(shares):
    with pytest.raises(CloudFailed, match="'my-secret' cannot be the name of a storage account"):
        shares.delete("#my-secret#books#")
    with pytest.raises(CloudFailed, match="cannot be the name of a share"):
        shares.delete("#mine#../../x#")
    shares.delete("no-such-volume")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"protocol": "nfs"}, "protocol 'nfs' is not supported: shares are mounted by 'smb'"),
        ({"skuname": "floppy"}, "floppy is not a supported skuName"),
        ({"colour": "red"}, "invalid parameter 'colour' in storage class"),
        ({"storageaccount": "Mine"}, "'Mine' cannot be the name of a storage account"),
        ({"sharename": "a--b"}, "'a--b' cannot be the name of a share"),
        ({"resourcegroup": "a/b"}, "'a/b' cannot be the name of a resource group"),
    ],
)
def test_what_azure_does_not_have_is_refused_in_one_line(double, shares, parameters, message):
    with pytest.raises(CloudFailed, match=message) as raised:
        shares.create(wanted(**parameters))

    assert "\n" not in str(raised.value)
    assert double.sent == []
    assert share_options({"storageaccounttype": "standard_zrs"}).sku == "Standard_ZRS"


def test_what_azure_refuses_is_said_in_its_words(double, shares):
    with pytest.raises(CloudFailed, match="ResourceNotFound"):
        shares.create(wanted(storageaccount="none"))
    with pytest.raises(CloudFailed, match="ResourceGroupNotFound"):
        shares.create(wanted(resourcegroup="none"))
    made = shares.create(wanted()).id.split("#")[1]
    double.accounts.clear()
    double.taken.add(made)
    with pytest.raises(CloudFailed, match="StorageAccountAlreadyTaken"):
        shares.create(wanted("pvc-2"))


def test_an_account_of_ours_that_was_set_aside_is_not_changed_back(double, shares):
    shares.create(wanted())
    (held,) = double.accounts.values()
    held["tags"]["skip-matching"] = ""

    with pytest.raises(CloudFailed, match="not for volumes any more"):
        shares.create(wanted("pvc-2"))
    assert "skip-matching" in held["tags"]


def test_other_clouds_than_the_public_one_tell_nodes_where_shares_are(again):
    told = again(cloud="AzureChinaCloud").create(wanted()).credentials

    assert told["azurestorageendpointsuffix"] == "core.chinacloudapi.cn"


STEPS = {
    "create": lambda shares: shares.create(wanted()),
    "grow": lambda shares: shares.resize(shares.create(wanted()).id, 4 * GIB),
    "delete": lambda shares: shares.delete(shares.create(wanted()).id),
}


def clean(double):
    double.accounts.clear()
    double.shares.clear()


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)
def test_whatever_happens_at_a_call_there_is_one_account_and_one_share(double, again, fault, name):
    step = STEPS[name]
    step(again())
    end, at, met = double.everything(), 0, True
    while met:
        at += 1
        clean(double)
        with double.faulty(fault, at), suppress(HyperkubeError):
            step(again())
        met = double.met
        step(again())
        assert double.everything() == end, f"{fault.name} at changing call {at}"
    assert at == {"create": 3, "grow": 4, "delete": 4}[name]


@pytest.mark.parametrize("late_name", STEPS)
@pytest.mark.parametrize("name", STEPS)
def test_two_managers_in_turn_make_one_account_and_leave_no_share(double, again, name, late_name):
    at, met = 0, True
    while met:
        at += 1
        clean(double)
        late, leader = again(), again()
        with double.interrupted(at, lambda leader=leader: STEPS[name](leader)), suppress(HyperkubeError):
            STEPS[late_name](late)
        met = double.met
        assert len(double.accounts) == 1
        assert len(double.shares) <= 1
        leader.delete(leader.create(wanted()).id)
        assert double.shares == {}


@pytest.mark.parametrize("rubbish", [each for _, each in RUBBISH], ids=[name for name, _ in RUBBISH])
def test_rubbish_is_neither_a_share_nor_the_word_that_one_is_gone(double, shares, rubbish):
    made = shares.create(wanted())

    with double.answering(rubbish):
        for step in (lambda: shares.create(wanted("pvc-2")), lambda: shares.resize(made.id, 9 * GIB)):
            with pytest.raises(HyperkubeError) as raised:
                step()
            assert not isinstance(raised.value, FileShareNotFound)
    assert double.names()[1] == ["pvc-1"]


@pytest.mark.parametrize(
    "keys",
    [[], [{"keyName": "key1"}], [{"value": ""}], [{"value": [KEY]}], KEY, {"value": KEY}, 7],
    ids=["none", "no-value", "empty", "list", "text", "object", "number"],
)
def test_the_key_is_in_no_error_and_no_description(double, shares, keys):
    made = shares.create(wanted())
    double.keys = keys

    with pytest.raises(CloudFailed) as raised:
        shares.create(wanted())

    assert KEY not in f"{raised.value!r} {raised.value} {made!r} {made}"


def test_a_failing_call_for_the_key_shows_nothing_of_its_answer(double, shares):
    made = shares.create(wanted())
    double.answer_next(answer(200, {"value": [{**next(iter(double.accounts.values()))}]}))
    double.answer_next(answer(200, {**double.shares[next(iter(double.shares))]}))
    double.answer_next(answer(200, b'{"keys": [{"value": "' + KEY.encode()))

    with pytest.raises(CloudUnavailable) as raised:
        shares.create(wanted())

    assert KEY not in f"{raised.value} {raised.value!r} {raised.value.__cause__!r}"
    assert made.credentials["azurestorageaccountkey"] == KEY
