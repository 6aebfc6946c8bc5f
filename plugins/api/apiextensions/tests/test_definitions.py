"""Every rule that a definition may break, with the texts of Kubernetes."""

from base64 import b64encode

import pytest
from hyperkube_api.apiextensions.defaults import default_definition
from hyperkube_api.apiextensions.strategy import CustomResourceDefinitionStrategy
from hyperkube_api.apiextensions.validation.definitions import validate_definition

OBJ, STR = {"type": "object"}, {"type": "string"}
LABEL = "a DNS-1035 label must consist of lower case alphanumeric characters or '-'"
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of"
APPROVAL = "metadata.annotations[api-approved.kubernetes.io]"
UNAPPROVED = {"api-approved.kubernetes.io": "unapproved, only a test"}


def version(name="v1", *, storage=True, schema=OBJ, **more):
    found = {"name": name, "served": True, "storage": storage, **more}
    return {**found, "schema": {"openAPIV3Schema": schema}} if schema is not None else found


def crd(*versions, names=None, stored=("v1",), annotations=None, **spec):
    versions = versions or (version(),)
    spec = {"group": "example.com", "scope": "Namespaced", "names": {"plural": "as", "kind": "A"}, **spec}
    spec = {name: value for name, value in spec.items() if value is not None}
    spec["names"] = {**spec["names"], **(names or {})}
    meta = {"name": f"{spec['names'].get('plural', '')}.{spec.get('group', '')}", "annotations": annotations or {}}
    obj = {
        "metadata": meta,
        "spec": {**spec, "versions": list(versions)},
        "status": {"storedVersions": list(stored)},
    }
    default_definition(obj)
    return obj


def two(**second):
    return version(), version("v2", storage=False, schema={**OBJ, "description": "other"}, **second)


def webhook(**client):
    client = client or {"url": "https://example.com/x"}
    return {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}


def reviews(*names):
    found = webhook()
    found["webhook"]["conversionReviewVersions"] = list(names)
    return found


def scale(spec=".spec.replicas", status=".status.replicas", selector=None):
    paths = {"specReplicasPath": spec, "statusReplicasPath": status}
    return version(
        subresources={"scale": {**paths, **({"labelSelectorPath": selector} if selector is not None else {})}}
    )


def column(**more):
    return version(additionalPrinterColumns=[{"name": "N", "type": "string", "jsonPath": ".spec.a", **more}])


def fields(*paths, schema=None):
    properties = {
        "spec": {
            **OBJ,
            "properties": {"s": STR, "i": {"type": "integer"}, "o": OBJ, "m": {**OBJ, "additionalProperties": STR}},
        }
    }
    return version(
        schema=schema or {**OBJ, "properties": properties}, selectableFields=[{"jsonPath": p} for p in paths]
    )


GOOD = {
    "one version": crd(),
    "two versions": crd(*two()),
    "cluster scoped": crd(scope="Cluster"),
    "short names and categories": crd(names={"shortNames": ["x", "y-z"], "categories": ["all"]}),
    "a deprecated version": crd(version(deprecated=True, deprecationWarning="use v2")),
    "a deprecated version without a warning": crd(version(deprecated=True)),
    "a webhook": crd(conversion=webhook()),
    "a webhook by service": crd(conversion=webhook(service={"namespace": "n", "name": "s", "path": "/x"})),
    "a webhook that trusts nobody yet": crd(conversion=webhook(url="https://a.b", caBundle=b64encode(b"x").decode())),
    "a webhook that knows later reviews too": crd(conversion=reviews("v2", "v1beta1")),
    "scale": crd(scale(selector=".status.selector")),
    "a selector in the spec": crd(scale(selector=".spec.selector")),
    "columns of all types": crd(
        version(
            additionalPrinterColumns=[
                {"name": kind, "type": kind, "jsonPath": ".a", "priority": 1}
                for kind in ("integer", "number", "string", "boolean", "date")
            ]
        )
    ),
    "columns of all formats": crd(
        version(
            additionalPrinterColumns=[
                {"name": form, "type": "string", "format": form, "jsonPath": ".a"}
                for form in ("int32", "int64", "float", "double", "byte", "date", "date-time", "password")
            ]
        )
    ),
    "selectable fields": crd(fields(".spec.s", ".spec.i")),
    "a community group with a reason": crd(group="a.k8s.io", annotations=UNAPPROVED),
    "a community group with a URL": crd(
        group="a.kubernetes.io", annotations={"api-approved.kubernetes.io": "https://github.com/x/pull/1"}
    ),
    "a group that only looks like one": crd(group="ak8s.io"),
    "a status subresource": crd(version(subresources={"status": {}})),
}


@pytest.mark.parametrize("obj", [pytest.param(obj, id=name) for name, obj in GOOD.items()])
def test_a_definition_may_say(obj):
    assert [str(error) for error in validate_definition(obj)] == []


BAD = [
    # Group, scope and name.
    (crd(group=""), ["spec.group: Required value"]),
    (crd(group="Example.com"), [f'spec.group: Invalid value: "Example.com": {SUBDOMAIN}']),
    (crd(group="example"), ['spec.group: Invalid value: "example": should be a domain with at least one dot']),
    (crd(scope=""), ["spec.scope: Required value"]),
    (crd(scope="World"), ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"']),
    # Names.
    (crd(names={"plural": ""}), ["spec.names.plural: Required value"]),
    (crd(names={"kind": ""}), [f"spec.names.{name}: Required value" for name in ("singular", "kind", "listKind")]),
    (crd(names={"plural": "a_s"}), [f'spec.names.plural: Invalid value: "a_s": {LABEL}']),
    (crd(names={"singular": "A"}), [f'spec.names.singular: Invalid value: "A": {LABEL}']),
    (
        crd(names={"kind": "A_", "listKind": "B"}),
        [
            'spec.names.singular: Invalid value: "a_"',
            'spec.names.kind: Invalid value: "A_": may have mixed case, but should otherwise match: a DNS',
        ],
    ),
    (crd(names={"listKind": "1"}), ['spec.names.listKind: Invalid value: "1": may have mixed case, but should']),
    (crd(names={"listKind": "A"}), ['spec.names.listKind: Invalid value: "A": kind and listKind may not be the same']),
    (crd(names={"shortNames": ["a", "B"]}), [f'spec.names.shortNames[1]: Invalid value: "B": {LABEL}']),
    (crd(names={"categories": ["a", "B"]}), [f'spec.names.categories[1]: Invalid value: "B": {LABEL}']),
    # Versions.
    (
        crd(version("V1"), stored=("V1",)),
        [f'spec.versions[0].name: Invalid value: "V1": {LABEL}', f'spec.version: Invalid value: "V1": {LABEL}'],
    ),
    (
        crd(version(), version(storage=False)),
        [
            (
                'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,'
                '"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,'
                '"SelectableFields":null},'
            )
        ],
    ),
    (crd(version(storage=False)), ['spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,']),
    (crd(version(), version("v2")), ["spec.versions: Invalid value: ", "status.storedVersions: Invalid value: "]),
    (crd(version(schema=None)), ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
    (
        crd(version(), version("v2", storage=False, schema=None)),
        ["spec.versions[1].schema.openAPIV3Schema: Required value"],
    ),
    (
        crd(version(deprecationWarning="x")),
        ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ),
    (
        crd(version(deprecated=True, deprecationWarning="")),
        ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
    ),
    (
        crd(version(deprecated=True, deprecationWarning="x" * 257)),
        ['spec.versions[0].deprecationWarning: Invalid value: "xxx'],
    ),
    (
        crd(version(deprecated=True, deprecationWarning="é\n")),
        [
            'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain printable UTF-8 characters; non-printable character found at index 2'
        ],
    ),
    # Where a schema is named: beside the versions if they share it, else within its version.
    (crd(version(schema={})), ["spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"]),
    (
        crd(version(schema={}), version("v2", storage=False)),
        ["spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root"],
    ),
    (
        crd(version(schema={}), version("v2", storage=False, schema={})),
        ["spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"],
    ),
    # Columns.
    (crd(column(name="")), ["spec.additionalPrinterColumns[0].name: Required value"]),
    (
        crd(column(type="")),
        ["spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string"],
    ),
    (
        crd(column(type="x")),
        [
            'spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string'
        ],
    ),
    (
        crd(column(format="x")),
        ['spec.additionalPrinterColumns[0].format: Invalid value: "x": must be one of byte,date,date-time,'],
    ),
    (crd(column(jsonPath="")), ["spec.additionalPrinterColumns[0].JSONPath: Required value"]),
    (
        crd(column(jsonPath="a")),
        ['spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .'],
    ),
    (
        crd(version(), {**column(name=""), "name": "v2", "storage": False}),
        ["spec.versions[1].additionalPrinterColumns[0].name: Required value"],
    ),
    # Scale.
    (crd(scale(spec="")), ["spec.subresources.scale.specReplicasPath: Required value"]),
    (
        crd(scale(spec="spec")),
        ['spec.subresources.scale.specReplicasPath: Invalid value: "spec": must be a simple json path starting with .'],
    ),
    (
        crd(scale(spec=".status.x")),
        ['spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec'],
    ),
    (crd(scale(status="")), ["spec.subresources.scale.statusReplicasPath: Required value"]),
    (
        crd(scale(status=".spec.x")),
        ['spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.x": should be a json path under .status'],
    ),
    (
        crd(scale(selector="x")),
        ['spec.subresources.scale.labelSelectorPath: Invalid value: "x": must be a simple json path starting with .'],
    ),
    (
        crd(scale(selector=".x")),
        [
            'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status'
        ],
    ),
    (
        crd(version(), {**scale(spec=""), "name": "v2", "storage": False}),
        ["spec.versions[1].subresources.scale.specReplicasPath: Required value"],
    ),
    # Beside a status subresource.
    (
        crd(version(schema={**OBJ, "minProperties": 1}, subresources={"status": {}})),
        [
            'spec.validation.openAPIV3Schema: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object",'
        ],
    ),
    # Selectable fields.
    (crd(fields("")), ["spec.selectableFields[0].jsonPath: Required value"]),
    (
        crd(fields("spec")),
        ['spec.selectableFields[0].jsonPath: Invalid value: "spec": is an invalid path: expected [ or . but got: spec'],
    ),
    (
        crd(fields(".spec.x")),
        [
            'spec.selectableFields[0].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field'
        ],
    ),
    (
        crd(fields(".spec.")),
        ['spec.selectableFields[0].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path'],
    ),
    (
        crd(fields(".spec['s']")),
        [
            "spec.selectableFields[0].jsonPath: Invalid value: \".spec['s']\": is an invalid path: array notation is not allowed"
        ],
    ),
    (
        crd(fields(".spec.o")),
        [
            'spec.selectableFields[0].jsonPath: Invalid value: ".spec.o": must point to a field of type string, boolean or integer. Enum string'
        ],
    ),
    (crd(fields(".spec.s", ".spec.s")), ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.s"']),
    (
        crd(fields(".metadata.name", schema={**OBJ, "properties": {"metadata": {**OBJ, "properties": {"name": STR}}}})),
        ['spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata'],
    ),
    (
        crd(
            fields(
                *(f".f{index}" for index in range(9)), schema={**OBJ, "properties": {f"f{i}": STR for i in range(9)}}
            )
        ),
        ["spec.selectableFields: Too many: 9: must have at most 8 items"],
    ),
    (
        crd(fields(".spec.x"), version("v2", storage=False)),
        ['spec.versions[0].selectableFields[0].jsonPath: Invalid value: ".spec.x": is an invalid path: does not'],
    ),
    # Conversion.
    (crd(conversion={"strategy": ""}), ["spec.conversion.strategy: Required value"]),
    (
        crd(conversion={"strategy": "X"}),
        ['spec.conversion.strategy: Unsupported value: "X": supported values: "None", "Webhook"'],
    ),
    (
        crd(conversion={**webhook(), "strategy": "None"}),
        [
            f"spec.conversion.{name}: Forbidden: should not be set when strategy is not set to Webhook"
            for name in ("webhookClientConfig", "conversionReviewVersions")
        ],
    ),
    (
        crd(conversion={"strategy": "Webhook"}),
        [
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ],
    ),
    (
        crd(conversion=webhook(caBundle="")),
        ["spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required"],
    ),
    (
        crd(conversion=webhook(url="https://a", service={"namespace": "n", "name": "s"})),
        ["spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required"],
    ),
    (
        crd(conversion=webhook(url="http://a")),
        ["spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme"],
    ),
    (
        crd(conversion=webhook(service={"path": "x", "port": 0})),
        [
            "spec.conversion.webhookClientConfig.service.name: Required value",
            "spec.conversion.webhookClientConfig.service.namespace: Required value",
            "spec.conversion.webhookClientConfig.service.port: Invalid value: 0: port is not valid",
            "spec.conversion.webhookClientConfig.service.path: Invalid value: \"x\": must start with a '/'",
            'spec.conversion.webhookClientConfig.service.path: Invalid value: "x": segment[0] may not be empty',
        ],
    ),
    (crd(conversion=reviews()), ["spec.conversion.conversionReviewVersions: Required value"]),
    (
        crd(conversion=reviews("v2")),
        ['spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
    ),
    (
        crd(conversion=reviews("v1", "v1")),
        ['spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version'],
    ),
    (
        crd(conversion=reviews("v1", "1v")),
        [f'spec.conversion.conversionReviewVersions[1]: Invalid value: "1v": {LABEL}'],
    ),
    # Unknown fields.
    (
        crd(preserveUnknownFields=True),
        [
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        ],
    ),
    (
        crd(preserveUnknownFields=True, conversion=webhook()),
        [
            'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
            "spec.preserveUnknownFields: Invalid value: true",
        ],
    ),
    # Stored versions.
    (crd(stored=()), ["status.storedVersions: Invalid value: []: must have at least one stored version"]),
    (crd(*two(), stored=("v2",)), ['status.storedVersions: Invalid value: ["v2"]: must have the storage version v1']),
    (
        crd(stored=("v1", "v0")),
        [
            'status.storedVersions[1]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in'
        ],
    ),
    # Approval.
    (crd(group="a.k8s.io"), [f"{APPROVAL}: Required value: protected groups must have approval annotation"]),
    (crd(group="k8s.io"), [f"{APPROVAL}: Required value: protected groups must have approval annotation"]),
    *(
        (
            crd(group="a.k8s.io", annotations={"api-approved.kubernetes.io": value}),
            [
                f'{APPROVAL}: Invalid value: "{value}": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason'
            ],
        )
        for value in ("yes", "https://", "example.com/x")
    ),
]


@pytest.mark.parametrize(("obj", "expected"), BAD, ids=[row[1][0][:60] for row in BAD])
def test_a_definition_may_not_say(obj, expected):
    lines = [str(error) for error in validate_definition(obj)]

    assert [line[: len(text)] for line, text in zip(lines, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("as.example.com", []),
        ("bs.example.com", ['must be spec.names.plural+"."+spec.group']),
    ],
)
def test_a_definition_is_named_after_its_resource(name, texts):
    assert CustomResourceDefinitionStrategy().validate_object_name(crd(), name, prefix=False) == texts
