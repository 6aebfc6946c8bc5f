"""Histories: one revision per template, renumbered when an old one comes back."""

import json

from hyperkube_lib.revisions import surplus, template_of, track

from hyperkube.client.actions import Create, Delete, Update


def owner(image, **spec):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"image": image}]}}
    return {"metadata": {"name": "o", "namespace": "d", "uid": "u"}, "spec": {"template": template, **spec}}


def made(image, number):
    return {**track(owner(image), "apps/v1", "DaemonSet", []).update, "revision": number}


def test_a_new_template_is_a_new_revision():
    history = track(owner("v2"), "apps/v1", "DaemonSet", [made("v1", 1)])

    (action,) = history.actions
    assert isinstance(action, Create)
    assert history.update["revision"] == 2
    assert template_of(history.update) == owner("v2")["spec"]["template"]


def test_the_keys_of_the_data_are_in_order_at_every_level():
    template = {"spec": {"restartPolicy": "Always", "containers": [{"name": "c", "image": "i"}]}, "metadata": {}}

    revision = track({**owner("v1"), "spec": {"template": template}}, "apps/v1", "DaemonSet", []).update

    assert json.dumps(revision["data"], separators=(",", ":")) == (
        '{"spec":{"template":{"$patch":"replace","metadata":{},'
        '"spec":{"containers":[{"image":"i","name":"c"}],"restartPolicy":"Always"}}}}'
    )


def test_a_known_latest_template_changes_nothing():
    assert track(owner("v1"), "apps/v1", "DaemonSet", [made("v1", 1)]).actions == ()


def test_a_template_that_comes_back_is_the_latest_again():
    history = track(owner("v1"), "apps/v1", "DaemonSet", [made("v1", 1), made("v2", 2)])

    assert isinstance(history.actions[0], Update)
    assert history.update["revision"] == 3


def test_the_oldest_go_beyond_the_limit_unless_they_are_in_use():
    revisions = [made(f"v{number}", number) for number in range(1, 5)]
    live = {revisions[0]["metadata"]["name"]}

    actions = surplus(owner("v9", revisionHistoryLimit=1), revisions, live)

    assert [action.name for action in actions if isinstance(action, Delete)] == [
        revision["metadata"]["name"] for revision in revisions[1:3]
    ]
