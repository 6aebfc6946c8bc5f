"""The columns of tables: described by what they say themselves, else by the field that they show."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.serializer.tables import ColumnDefinitions, shown_as, table

from hyperkube.hookspecs.api import Column, ResourceSpec, Subresource
from hyperkube.hookspecs.descriptions import TypeDescription
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource

pytest.importorskip("hyperkube_api.core.v1", reason="describes types of the core API group")
pytest.importorskip("hyperkube_api.rbac.v1", reason="describes types of the RBAC API group")

NODE = "hyperkube_api.core.v1:Node"
BINDING = "hyperkube_api.rbac.v1:RoleBinding"


class Known:
    """Descriptions of some fields."""

    source = "a test"
    asked: int = 0

    def types(self, names):
        self.asked += 1
        texts = {
            "io.k8s.api.core.v1.NodeSystemInfo": TypeDescription(
                "", {"osImage": "About the image.", "bootID": "About the boot. This field is immutable."}
            ),
            "io.k8s.api.rbac.v1.RoleBinding": TypeDescription(
                "", {"roleRef": "About the role. This field is immutable."}
            ),
        }
        return {name: text for name, text in texts.items() if name in names}

    def parameters(self, wanted):
        return {}


def served(*columns, schema="hyperkube_api.core.v1:Pod"):
    return ServedResource(
        ResourceSpec(
            resource=GroupVersionResource("", "v1", "things"),
            kind=GroupVersionKind("", "v1", "Thing"),
            singular="thing",
            namespaced=False,
            verbs=("list",),
            schema=schema,
            columns=columns,
        ),
        None,
    )


@pytest.fixture
def known():
    return Known()


@pytest.fixture
def definitions(known):
    return ColumnDefinitions(lambda: known)


def texts(found):
    return {each["name"]: each["description"] for each in found}


def test_a_column_with_a_text_of_its_own_keeps_it(definitions, known):
    found = definitions.of(served(Column("Ready", description="Mine.", field="status.phase")))

    assert texts(found) == {"Ready": "Mine."}
    assert known.asked == 0


def test_a_column_is_described_as_the_field_that_it_shows(definitions):
    column = Column("OS-Image", priority=1, field="status.nodeInfo.osImage")

    found = definitions.of(served(column, schema=NODE))

    assert found == [
        {"name": "OS-Image", "type": "string", "format": "", "description": "About the image.", "priority": 1}
    ]


def test_a_field_that_nobody_knows_more_of_is_described_by_its_schema(definitions):
    assert texts(ColumnDefinitions().of(served(Column("Phase", field="status.phase"))))["Phase"]


def test_another_version_may_be_printed_than_is_served(definitions):
    column = Column("OS-Image", field=f"{NODE}/status.nodeInfo.osImage")

    assert texts(definitions.of(served(column))) == {"OS-Image": "About the image."}


def test_name_and_age_show_metadata_whatever_the_kind(definitions):
    found = texts(definitions.of(served(Column("Name", format="name"), Column("Age"), schema=object())))

    assert all(found.values())


def test_a_column_that_shows_no_field_has_no_text(definitions):
    assert texts(definitions.of(served(Column("Up")))) == {"Up": ""}


def test_a_resource_is_looked_up_once(definitions, known):
    thing = served(Column("OS-Image", field="status.nodeInfo.osImage"), schema=NODE)

    assert definitions.of(thing) is definitions.of(thing)
    assert known.asked == 1

    definitions.of(served(Column("Again", field="status.nodeInfo.osImage"), schema=NODE))
    assert known.asked == 1


def test_a_binding_says_of_its_role_what_the_beta_version_said(definitions):
    found = definitions.of(served(Column("Role", field="roleRef"), schema=BINDING))
    others = definitions.of(served(Column("Boot", field="status.nodeInfo.bootID"), schema=NODE))

    assert texts(found) == {"Role": "About the role."}
    assert texts(others) == {"Boot": "About the boot. This field is immutable."}


def shaped(traits, *objects):
    spec = replace(
        served(Column("Name", format="name")).spec, cells=lambda obj, now: [obj["metadata"]["name"]], **traits
    )
    made = table(ServedResource(spec, None), objects, {}, datetime.now(UTC), include="None", version="v1", columns=None)
    return made["rows"]


def test_a_row_has_the_conditions_that_its_kind_knows():
    one, other = ({"metadata": {"name": name}} for name in ("a", "b"))
    said = [{"type": "Completed", "status": "True", "reason": "R", "message": "m"}]

    rows = shaped({"row_conditions": lambda obj: said if obj is one else []}, one, other)

    assert rows == [{"cells": ["a"], "conditions": said, "object": None}, {"cells": ["b"], "object": None}]


def test_rows_come_in_the_order_of_their_kind():
    objects = [{"metadata": {"name": name}} for name in ("b", "c", "a")]

    assert [row["cells"] for row in shaped({}, *objects)] == [["b"], ["c"], ["a"]]
    assert [row["cells"] for row in shaped({"row_order": lambda obj: obj["metadata"]["name"]}, *objects)] == [
        ["a"],
        ["b"],
        ["c"],
    ]


def test_a_subresource_may_have_columns_of_its_own():
    kind = GroupVersionKind("", "v1", "Part")
    own = Subresource(
        name="own", kind=kind, verbs=("get",), columns=(Column("Size"),), cells=lambda obj, now: [obj["size"]]
    )
    like = Subresource(name="like", kind=kind, verbs=("get",))
    parent = ServedResource(replace(served(Column("Name")).spec, subresources=(own, like)), None)

    rows = table(
        shown_as(parent, "own"), [{"size": 3}], {}, datetime.now(UTC), include="None", version="v1", columns=None
    )["rows"]

    assert rows == [{"cells": [3], "object": None}]
    assert shown_as(parent, "like") is parent
    assert shown_as(parent, "") is parent
