"""Objects of the past, found by a list at a revision."""

from types import SimpleNamespace

import orjson
import pytest
from hyperkube_command.at import read_at, shown

from hyperkube.client.discovery import ApiResource
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupVersionResource

CONFIG_MAPS = ApiResource(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True, verbs=("list",))
ANSWER = {"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "a", "namespace": "web"}}]}


class Recorded:
    """A client that gives one answer and keeps what it was asked."""

    def __init__(self, status, body):
        self._response = SimpleNamespace(status=status, body=orjson.dumps(body))
        self.asked = []

    def request(self, method, path, *, query, headers):
        self.asked.append((method, path, query))
        return self._response


def read(client, **words):
    given = {"namespace": "web", "fields": "", "labels": "", "table": False, **words}
    return read_at(client, CONFIG_MAPS, 7, **given)


def test_a_list_is_asked_for_exactly_that_revision():
    client = Recorded(200, ANSWER)

    assert read(client, labels="app=web") == ANSWER
    assert client.asked == [
        (
            "GET",
            "/api/v1/namespaces/web/configmaps",
            {"resourceVersion": "7", "resourceVersionMatch": "Exact", "labelSelector": "app=web"},
        )
    ]


def test_a_compacted_revision_is_a_clear_error():
    with pytest.raises(UsageError, match="revision 7 has been compacted"):
        read(Recorded(410, {"message": "too old"}))


def test_a_single_object_is_printed_with_its_kind():
    text = shown(ANSWER, CONFIG_MAPS, "json", single=True, with_namespace=False)

    assert orjson.loads(text) == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": ANSWER["items"][0]["metadata"]}


def test_a_table_names_the_namespaces_when_it_shows_several():
    table = {
        "columnDefinitions": [{"name": "Name", "priority": 0}, {"name": "Source", "priority": 1}],
        "rows": [{"cells": ["a", "x"], "object": {"metadata": {"namespace": "web"}}}],
    }

    assert shown(table, CONFIG_MAPS, "table", single=False, with_namespace=True) == "NAMESPACE   NAME\nweb         a"
