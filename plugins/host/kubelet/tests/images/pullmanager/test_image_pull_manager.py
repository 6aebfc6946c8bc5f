"""Which pods may use what is on the node already."""

import hashlib

import orjson
import pytest
from hyperkube_host.kubelet.credentialprovider.keyring import SecretSource, ServiceAccountSource, TrackedCredentials
from hyperkube_host.kubelet.images.pullmanager.image_pull_manager import ImagePullManager, merge_credentials
from hyperkube_host.kubelet.images.pullmanager.policy import ImagePullPolicyEnforcer
from hyperkube_host.kubelet.images.pullmanager.records import PullCredentials, PulledRecord, PullRecords

from hyperkube.hookspecs.runtime import Image, RegistryCredentials
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

IMAGE, REF, NAME = "registry.test/app:1", "sha256:abc", "registry.test/app"


def by_secret(name="s", password="pw", uid="u"):
    return TrackedCredentials(RegistryCredentials(username="joe", password=password), SecretSource(uid, "ns", name))


def by_account(uid="sa"):
    login = RegistryCredentials(username="joe", password="pw")
    return TrackedCredentials(login, ServiceAccountSource(uid, "ns", "robot"))


NODE = TrackedCredentials(RegistryCredentials(username="node", password="pw"))


@pytest.fixture
def records(tmp_path):
    return PullRecords(tmp_path)


@pytest.fixture
def manager(records):
    return ImagePullManager(records, ImagePullPolicyEnforcer("NeverVerifyPreloadedImages"), FakeClock())


def pulled(manager, used):
    manager.record_intent(IMAGE)
    manager.record_pulled(IMAGE, REF, used)


def must_pull(manager, *offered, image=IMAGE):
    return manager.must_attempt_pull(image, REF, lambda: offered)


def test_an_image_that_the_kubelet_never_pulled_is_for_all(manager):
    assert must_pull(manager) is False


@pytest.mark.parametrize("used", [None, NODE])
def test_what_the_node_could_pull_is_for_all_pods(manager, used):
    pulled(manager, used)

    assert must_pull(manager) is False


@pytest.mark.parametrize(
    ("offered", "must"),
    [
        pytest.param((), True, id="none"),
        pytest.param((by_secret(),), False, id="the-same"),
        pytest.param((by_secret("other", uid="v"),), False, id="another-secret-with-the-same-login"),
        pytest.param((by_secret(password="renewed"),), False, id="the-secret-was-renewed"),
        pytest.param((by_secret("other", "else", "v"),), True, id="another-login"),
        pytest.param((by_account(),), True, id="an-account"),
    ],
)
def test_what_a_secret_pulled_is_for_those_who_have_it(manager, offered, must):
    pulled(manager, by_secret())

    assert must_pull(manager, *offered) is must


def test_credentials_that_were_found_as_good_are_good_from_then_on(manager, records):
    pulled(manager, by_secret())
    must_pull(manager, by_secret("other", uid="v"))

    assert set(records.get(REF).credentials[NAME].secrets) == {
        SecretSource("u", "ns", "s"),
        SecretSource("v", "ns", "other"),
    }


def test_what_an_account_pulled_is_for_that_account(manager):
    pulled(manager, by_account())

    assert must_pull(manager, by_account()) is False
    assert must_pull(manager, by_account("sb")) is True


def test_another_name_of_the_same_image_has_to_be_shown_too(manager):
    pulled(manager, None)

    assert must_pull(manager, image="mirror.test/app:1") is True


def test_while_it_is_being_pulled_it_is_for_nobody_yet(manager, records):
    manager.record_intent(IMAGE)

    assert must_pull(manager, by_secret()) is True

    manager.record_failed(IMAGE)

    assert records.intents() == []
    assert must_pull(manager) is False


def test_an_intent_stays_until_the_last_pull_ends(manager, records):
    manager.record_intent(IMAGE)
    manager.record_intent(IMAGE)
    manager.record_failed(IMAGE)

    assert records.intents() == [IMAGE]


def test_a_pull_that_a_kubelet_did_not_see_the_end_of_has_to_be_shown(records):
    records.write_intent(IMAGE)
    fresh = ImagePullManager(records, ImagePullPolicyEnforcer("NeverVerifyPreloadedImages"), FakeClock())
    fresh.initialize(lambda: [Image(id=REF, tags=(IMAGE,))])

    assert records.intents() == []
    assert must_pull(fresh, by_secret()) is True


def test_records_are_those_of_kubernetes(manager, tmp_path):
    pulled(manager, by_secret())

    (path,) = (tmp_path / "image_manager" / "pulled").iterdir()
    document = orjson.loads(path.read_bytes())
    assert path.name == f"sha256-{hashlib.sha256(REF.encode()).hexdigest()}"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (document["kind"], document["imageRef"]) == ("ImagePulledRecord", REF)
    (secret,) = document["credentialMapping"][NAME]["kubernetesSecrets"]
    assert (secret["uid"], secret["namespace"], secret["name"]) == ("u", "ns", "s")
    assert "pw" not in path.read_text()


def test_a_broken_record_costs_a_pull(manager, records, tmp_path):
    pulled(manager, None)
    (path,) = (tmp_path / "image_manager" / "pulled").iterdir()
    path.write_text("{")

    assert must_pull(manager) is True
    assert records.records() == []


def test_records_of_images_that_are_gone_are_removed(manager, records):
    records.write(PulledRecord("old", "2020-01-01T00:00:00Z", {}))
    records.write(PulledRecord("kept", "2020-01-01T00:00:00Z", {}))
    records.write(PulledRecord("new", "2021-01-01T00:00:00Z", {}))

    manager.prune(["kept"], "2020-06-01T00:00:00Z")

    assert sorted(record.image_ref for record in records.records()) == ["kept", "new"]


def test_who_may_is_merged():
    one = PullCredentials(secrets={SecretSource("u", "ns", "s"): "h"})
    everyone = PullCredentials(node_pods_accessible=True)

    assert merge_credentials(one, everyone) == everyone
    assert merge_credentials(everyone, one) == everyone
    assert merge_credentials(None, one) == one


@pytest.mark.parametrize(
    ("policy", "image", "by_kubelet", "required"),
    [
        ("NeverVerify", NAME, True, False),
        ("NeverVerifyPreloadedImages", NAME, True, True),
        ("NeverVerifyPreloadedImages", NAME, False, False),
        ("AlwaysVerify", NAME, False, True),
        ("NeverVerifyAllowlistedImages", NAME, False, False),
        ("NeverVerifyAllowlistedImages", "prefix.test/any/app", True, False),
        ("NeverVerifyAllowlistedImages", "prefix.test.evil/app", False, True),
    ],
)
def test_policies(policy, image, by_kubelet, required):
    enforcer = ImagePullPolicyEnforcer(policy, [NAME, "prefix.test/*"])

    assert enforcer.requires_verification(image, pulled_by_kubelet=by_kubelet) is required


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (" a.test/b", "leading/trailing spaces"),
        ("*", "only patterns ending with '/*'"),
        ("/*", "at least registry hostname"),
        ("a.test/*/b", "only patterns ending with '/*'"),
        ("a.test/b:1", "neither tag nor digest"),
        ("a.test/B", "failed to parse as an image name"),
    ],
)
def test_entries_of_the_allow_list(pattern, why):
    with pytest.raises(UsageError) as caught:
        ImagePullPolicyEnforcer("NeverVerifyAllowlistedImages", [pattern])

    assert why in str(caught.value)


def test_an_unknown_policy_is_refused():
    with pytest.raises(UsageError, match="unknown image pull credential verification policy"):
        ImagePullPolicyEnforcer("Sometimes")
