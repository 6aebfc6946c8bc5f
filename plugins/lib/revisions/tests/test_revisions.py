"""Histories: one revision per template, renumbered when an old one comes back."""

import json

import pytest
from hyperkube_lib.revisions import (
    DAEMON_SET_REVISIONS,
    STATEFUL_SET_REVISIONS,
    new_revision,
    sync_update_revision,
    template_of,
    truncate_history,
)

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import CONTROLLER_REVISIONS


def owner(image, *, collisions=None, **spec):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"image": image}]}}
    meta = {"name": "o", "namespace": "d", "uid": "u", "annotations": {"kubernetes.io/change-cause": "a test"}}
    return {
        "metadata": meta,
        "spec": {"template": template, **spec},
        "status": {} if collisions is None else {"collisionCount": collisions},
    }


def history(client, *images):
    """Store a revision for each image, numbered from 1."""
    return client.seed(
        CONTROLLER_REVISIONS,
        *(new_revision(owner(image), DAEMON_SET_REVISIONS, number, 0) for number, image in enumerate(images, 1)),
    )


def test_a_new_template_is_a_new_revision():
    client = FakeClient()
    known = history(client, "v1")

    update, collisions = sync_update_revision(client, owner("v2"), DAEMON_SET_REVISIONS, known)

    assert (update["revision"], collisions) == (2, 0)
    assert template_of(update) == owner("v2")["spec"]["template"]
    assert len(client.objects(CONTROLLER_REVISIONS)) == 2


@pytest.mark.parametrize(
    ("owners", "label"),
    [
        (DAEMON_SET_REVISIONS, "controller-revision-hash"),
        (STATEFUL_SET_REVISIONS, "controller.kubernetes.io/hash"),
    ],
    ids=["daemon set", "stateful set"],
)
def test_a_revision_has_the_labels_of_the_template_and_the_annotations_of_its_owner(owners, label):
    revision = new_revision(owner("v1"), owners, 1, 0)

    digest = revision["metadata"]["name"].removeprefix("o-")
    assert revision["metadata"]["labels"] == {"a": "b", label: digest}
    assert revision["metadata"]["annotations"] == {"kubernetes.io/change-cause": "a test"}


def test_the_keys_of_the_data_are_in_order_at_every_level():
    template = {"spec": {"restartPolicy": "Always", "containers": [{"name": "c", "image": "i"}]}, "metadata": {}}

    revision = new_revision({**owner("v1"), "spec": {"template": template}}, DAEMON_SET_REVISIONS, 1, 0)

    assert json.dumps(revision["data"], separators=(",", ":")) == (
        '{"spec":{"template":{"$patch":"replace","metadata":{},'
        '"spec":{"containers":[{"image":"i","name":"c"}],"restartPolicy":"Always"}}}}'
    )


def test_a_known_latest_template_changes_nothing():
    client = FakeClient()
    known = history(client, "v1")

    update, _ = sync_update_revision(client, owner("v1"), DAEMON_SET_REVISIONS, known)

    assert update is known[0]
    assert client.actions == []


def test_a_template_that_comes_back_is_the_latest_again():
    client = FakeClient()
    known = history(client, "v1", "v2")

    update, _ = sync_update_revision(client, owner("v1"), DAEMON_SET_REVISIONS, known)

    assert update["revision"] == 3
    assert [each["revision"] for each in client.objects(CONTROLLER_REVISIONS)] == [3, 2]


def test_one_that_the_cache_does_not_show_yet_is_found():
    client = FakeClient()
    (stored,) = history(client, "v1")

    update, collisions = sync_update_revision(client, owner("v1"), DAEMON_SET_REVISIONS, [])

    assert (update, collisions) == (stored, 0)


def test_another_template_of_the_same_name_counts_as_a_collision():
    client = FakeClient()
    for collisions in (2, 3):
        taken = new_revision(owner("v2"), DAEMON_SET_REVISIONS, 1, collisions)
        taken["data"] = new_revision(owner("other"), DAEMON_SET_REVISIONS, 1, 0)["data"]
        client.seed(CONTROLLER_REVISIONS, taken)

    update, collisions = sync_update_revision(client, owner("v2", collisions=2), DAEMON_SET_REVISIONS, [])

    assert collisions == 4
    assert update["metadata"]["name"] == new_revision(owner("v2"), DAEMON_SET_REVISIONS, 1, 4)["metadata"]["name"]


@pytest.mark.parametrize(
    ("limit", "live", "live_count", "gone"),
    [
        pytest.param(1, [], False, [1, 2, 3], id="the oldest go"),
        pytest.param(4, [], False, [], id="as many as are kept"),
        pytest.param(0, [], False, [1, 2, 3, 4], id="none is kept"),
        pytest.param(1, [1], False, [2, 3], id="one in use stays beside those that are kept"),
        pytest.param(1, [1], True, [2, 3, 4], id="one in use is among those that are kept"),
        pytest.param(-1, [], False, [], id="no limit"),
    ],
)
def test_the_oldest_go_beyond_the_limit_unless_they_are_in_use(limit, live, live_count, gone):
    revisions = history(FakeClient(), "v1", "v2", "v3", "v4")
    used = {revisions[number - 1]["metadata"]["name"] for number in live}

    deletions = truncate_history(owner("v9", revisionHistoryLimit=limit), revisions, used, live_count=live_count)

    names = [revision["metadata"]["name"] for revision in revisions]
    assert [names.index(deletion.name) + 1 for deletion in deletions] == gone
