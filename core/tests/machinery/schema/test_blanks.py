"""Bytes that are there but empty are kept, and not shown."""

import pytest

from hyperkube.machinery.schema import compile_schema

pytest.importorskip("hyperkube_api.admissionregistration.v1", reason="needs types that have such members")

HOOKS = "hyperkube_api.admissionregistration.v1:ValidatingWebhookConfiguration"
EMPTY = {"metadata": {}, "webhooks": [{"name": "a", "clientConfig": {"caBundle": ""}}, {"name": "b"}]}


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        pytest.param(HOOKS, {("webhooks", "clientConfig", "caBundle")}, id="in-a-list"),
        pytest.param(
            "hyperkube_api.apiextensions.v1:CustomResourceDefinition",
            {("spec", "conversion", "webhook", "clientConfig", "caBundle")},
            id="beside-a-recursive-schema",
        ),
        pytest.param("hyperkube_api.apiregistration.v1:APIService", {("spec", "caBundle")}, id="plain"),
        pytest.param("hyperkube_api.core.v1:Secret", set(), id="a-map-of-bytes-is-shown"),
    ],
)
def test_a_kind_says_where_its_empty_bytes_are_not_shown(schema, places):
    assert compile_schema(schema).blanks.places == places


def test_decoding_keeps_what_is_there_but_empty():
    given = {"metadata": {}, "webhooks": [{"name": "a", "clientConfig": {"caBundle": ""}}]}

    assert compile_schema(HOOKS).decode(given)[0]["webhooks"][0]["clientConfig"] == {"caBundle": ""}


def test_what_is_shown_leaves_it_out_and_shares_the_rest():
    shown = compile_schema(HOOKS).blanks.shown(EMPTY)

    assert shown["webhooks"] == [{"name": "a", "clientConfig": {}}, {"name": "b"}]
    assert shown["webhooks"][1] is EMPTY["webhooks"][1]
    assert EMPTY["webhooks"][0]["clientConfig"] == {"caBundle": ""}


def test_an_object_without_such_members_is_itself():
    obj = {"metadata": {}, "webhooks": [{"name": "a", "clientConfig": {"caBundle": "QQ=="}}]}

    assert compile_schema(HOOKS).blanks.shown(obj) is obj


def test_json_is_read_only_where_the_member_is_in_it():
    blanks = compile_schema(HOOKS).blanks

    assert (
        blanks.shown_body(b'{"webhooks":[{"clientConfig":{"caBundle":""}}]}') == b'{"webhooks":[{"clientConfig":{}}]}'
    )
    assert blanks.shown_body(b'not "caBundle" json') == b'not "caBundle" json'
