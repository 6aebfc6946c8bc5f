"""An account that enforces its mountable secrets does so for every way in which a pod names one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from attacked_world import ACCOUNTS, PODS, Call, World, pod

ENV = {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "{}", "key": "k"}}}]}
FROM = {"envFrom": [{"secretRef": {"name": "{}"}}]}
REST = 'secret.secretName="unused" is not allowed because service account strict does not reference that secret'


def filled(part, name):
    if isinstance(part, dict):
        return {key: filled(value, name) for key, value in part.items()}
    return [filled(one, name) for one in part] if isinstance(part, list) else part.format(name)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("mountable"))
    annotations = {"kubernetes.io/enforce-mountable-secrets": "true"}
    world.make(ACCOUNTS, {"metadata": {"name": "strict", "annotations": annotations}, "secrets": [{"name": "s"}]})
    world.make(PODS, pod("there", serviceAccountName="strict"))
    yield world
    world.close()


@pytest.mark.parametrize(("environment", "how"), [(ENV, "envVar A"), (FROM, "envFrom")], ids=["env", "envFrom"])
class TestEveryContainer:
    @pytest.mark.parametrize(("member", "title"), [("containers", "container"), ("initContainers", "init container")])
    def test_of_a_new_pod(self, world, environment, how, member, title):
        for name, status in (("s", 201), ("unused", 403)):
            container = {"name": "x", "image": "i", **filled(environment, name)}
            spec = {member: [container], "serviceAccountName": "strict"}
            answer = world.ask(Call("admin", "POST", PODS, {**pod("", **spec), "metadata": {"generateName": "p-"}}))

            assert answer.status == status, answer.body
        assert f"{title} x with {how} referencing {REST}" in answer.json["message"]

    def test_that_comes_later(self, world, environment, how):
        for name, status in (("s", 200), ("unused", 403)):
            container = {
                "name": f"x-{name}-{how[:4].lower()}-{how[-1].lower()}",
                "image": "i",
                **filled(environment, name),
            }
            patch = {"spec": {"ephemeralContainers": [container]}}
            headers = {"Content-Type": "application/strategic-merge-patch+json"}
            answer = world.ask(Call("admin", "PATCH", f"{PODS}/there/ephemeralcontainers", patch, headers))

            assert answer.status == status, answer.body
        assert f"ephemeral container {container['name']} with {how} referencing {REST}" in answer.json["message"]


@pytest.mark.parametrize(
    "volume",
    [
        {"secret": {"secretName": "{}"}},
        {"projected": {"sources": [{"secret": {"name": "{}"}}]}},
        {"csi": {"driver": "d.example", "nodePublishSecretRef": {"name": "{}"}}},
    ],
    ids=lambda volume: next(iter(volume)),
)
def test_every_volume_of_a_pod(world, volume):
    for name, status in (("s", 201), ("unused", 403)):
        spec = {"volumes": [{"name": "v", **filled(volume, name)}], "serviceAccountName": "strict"}
        answer = world.ask(Call("admin", "POST", PODS, {**pod("", **spec), "metadata": {"generateName": "v-"}}))

        assert answer.status == status, answer.body
    assert 'name="unused" is not allowed' in answer.json["message"].replace("secretName", "name")
