"""The contract of API groups holds for a small one, and what breaks a promise fails."""

import os
from pathlib import Path

import pytest
from hyperkube_testing.api import ApiContract

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.plugin import Plugin


def gadgets(group: str = "things.example", **words: object) -> ResourceSpec:
    members: dict[str, object] = {"schema": dict, "storage_prefix": "things.example/gadgets", "verbs": ("get", "list")}
    return ResourceSpec(
        resource=GroupVersionResource(group, "v1", "gadgets"),
        kind=GroupVersionKind("things.example", "v1", "Gadget"),
        singular="gadget",
        namespaced=True,
        **(members | words),
    )


class Things(Plugin):
    resources: tuple[ResourceSpec, ...] = (gadgets(),)

    @hookimpl
    def api_group_versions(self) -> list[ApiGroupVersion]:
        return [ApiGroupVersion(group="things.example", version="v1", resources=self.resources)]


class TestASmallGroup(ApiContract):
    plugin = Things

    @pytest.fixture(autouse=True)
    def _imported_by_another_process(self, monkeypatch):
        root = Path(__file__).parents[__name__.count(".")]
        monkeypatch.setenv("PYTHONPATH", str(root), prepend=os.pathsep)


@pytest.mark.parametrize(
    ("resources", "test"),
    [
        ((), "test_it_serves_something"),
        ((gadgets(), gadgets()), "test_each_resource_is_in_one_spec_only"),
        ((gadgets("other.example"),), "test_specs_stand_under_their_own_group_and_version"),
        ((gadgets(verbs=("fetch",)),), "test_every_spec_is_named_completely"),
        ((gadgets(storage_prefix=""),), "test_what_is_kept_says_where_and_what_is_not_says_who_answers"),
        ((gadgets(schema="hyperkube.machinery.objects:Gadget"),), "test_its_schemas_exist"),
    ],
    ids=["nothing", "twice", "another group", "unknown verb", "neither kept nor answered", "no such schema"],
)
def test_a_broken_promise_fails(resources, test):
    class Broken(Things):
        pass

    Broken.resources = resources
    contract = ApiContract()
    contract.plugin = Broken

    with pytest.raises(AssertionError):
        getattr(contract, test)()


def test_a_schema_that_is_imported_with_the_plugin_fails(monkeypatch, tmp_path):
    (tmp_path / "eager_schemas.py").write_text("class Gadget:\n    pass\n")
    (tmp_path / "eager_group.py").write_text(
        "import eager_schemas\n"
        "class Eager:\n"
        "    def __init__(self, context):\n"
        "        pass\n"
        "    def api_group_versions(self):\n"
        "        return []\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    class Eager(Things):
        resources = (gadgets(schema="eager_schemas:Gadget"),)

    Eager.__module__ = "eager_group"
    contract = ApiContract()
    contract.plugin = Eager

    with pytest.raises(AssertionError, match="eager_schemas"):
        contract.test_its_schemas_are_not_imported_before_they_are_used()
