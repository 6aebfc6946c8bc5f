"""A document of version 2 says the same as one of version 3."""

from hyperkube_host.apiserver.aggregation.converted import to_v3

THING = {"$ref": "#/definitions/ext.Thing"}


def test_bodies_answers_and_parameters_find_their_places():
    operation = {
        "operationId": "createThing",
        "consumes": ["application/json", "application/yaml"],
        "produces": ["application/json"],
        "parameters": [
            {"name": "body", "in": "body", "required": True, "schema": THING},
            {"name": "dryRun", "in": "query", "type": "string", "uniqueItems": True, "description": "try"},
            {"$ref": "#/parameters/pretty"},
        ],
        "responses": {"200": {"description": "OK", "schema": THING}, "401": {"description": "no"}},
        "x-kubernetes-action": "post",
    }
    document = {
        "swagger": "2.0",
        "info": {"title": "ext", "version": "v1"},
        "paths": {"/things": {"post": operation, "parameters": [{"name": "ns", "in": "path", "type": "string"}]}},
        "definitions": {"ext.Thing": {"type": "object", "properties": {"more": {"type": "array", "items": THING}}}},
        "parameters": {"pretty": {"name": "pretty", "in": "query", "type": "string"}},
        "securityDefinitions": {"BearerToken": {"type": "apiKey"}},
    }
    new = {"$ref": "#/components/schemas/ext.Thing"}

    made = to_v3(document)

    assert made["openapi"] == "3.0.0"
    assert made["info"] == document["info"]
    assert made["components"] == {
        "schemas": {"ext.Thing": {"type": "object", "properties": {"more": {"type": "array", "items": new}}}},
        "securitySchemes": {"BearerToken": {"type": "apiKey"}},
    }
    item = made["paths"]["/things"]
    assert item["parameters"] == [{"name": "ns", "in": "path", "schema": {"type": "string"}}]
    assert item["post"] == {
        "operationId": "createThing",
        "requestBody": {
            "content": {"application/json": {"schema": new}, "application/yaml": {"schema": new}},
            "required": True,
        },
        "parameters": [
            {"name": "dryRun", "in": "query", "description": "try", "schema": {"type": "string", "uniqueItems": True}},
            {"name": "pretty", "in": "query", "schema": {"type": "string"}},
        ],
        "responses": {
            "200": {"description": "OK", "content": {"application/json": {"schema": new}}},
            "401": {"description": "no"},
        },
        "x-kubernetes-action": "post",
    }


def test_an_empty_document_stays_one():
    assert to_v3({}) == {"openapi": "3.0.0", "info": {}, "paths": {}, "components": {"schemas": {}}}
