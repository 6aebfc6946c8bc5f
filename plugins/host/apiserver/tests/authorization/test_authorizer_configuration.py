import json
import re

import pytest
from hyperkube_host.apiserver import options
from hyperkube_host.apiserver.authorization.configuration import AuthorizerConfiguration, authorizers_of

from hyperkube.machinery.errors import UsageError

pytest.importorskip("hyperkube_authz.rbac", reason="needs the authorizers that it names")

RBAC = {"type": "RBAC", "name": "rbac"}


@pytest.fixture
def read(tmp_path):
    def reader(*rows, modes=(), **more):
        path = tmp_path / "authorization.json"
        config = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
        path.write_text(json.dumps({**config, "authorizers": list(rows)}))
        return authorizers_of(
            options.read(
                options.AuthorizationOptions,
                {"authorization-config": str(path), "authorization-mode": modes, **more},
            )
        )

    return reader


def test_modes_are_plugins_in_order():
    modes = options.read(options.AuthorizationOptions, {"authorization-mode": ["Node", "RBAC"]})
    none = options.read(options.AuthorizationOptions, {})

    assert authorizers_of(modes) == [AuthorizerConfiguration("Node", "Node"), AuthorizerConfiguration("RBAC", "RBAC")]
    assert authorizers_of(none) == [AuthorizerConfiguration("AlwaysAllow", "AlwaysAllow")]


def test_a_file_may_name_several_webhooks_between_the_others(read):
    chosen = read(
        {"type": "Webhook", "name": "first", "webhook": {"timeout": "1s"}},
        {"type": "RBAC", "name": "rbac"},
        {"type": "Webhook", "name": "second", "webhook": {"timeout": "2s"}},
    )

    assert chosen == [
        AuthorizerConfiguration("Webhook", "first", {"timeout": "1s"}),
        AuthorizerConfiguration("RBAC", "rbac"),
        AuthorizerConfiguration("Webhook", "second", {"timeout": "2s"}),
    ]


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([], {}, "authorizers: Required value: at least one authorization mode must be defined"),
        ([RBAC, {**RBAC, "name": "again"}], {}, 'authorizers[1].type: Duplicate value: "RBAC"'),
        ([{"name": "x"}], {}, "authorizers[0].type: Required value"),
        (
            [{"type": "Nope", "name": "x"}],
            {},
            'authorizers[0].type: Unsupported value: "Nope": supported values: "ABAC"',
        ),
        ([{"type": "RBAC"}], {}, "authorizers[0].name: Required value"),
        ([RBAC, {"type": "Node", "name": "rbac"}], {}, 'authorizers[1].name: Duplicate value: "rbac"'),
        (
            [{**RBAC, "webhook": {"timeout": "1s"}}],
            {},
            'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
        ),
        ([{"type": "Webhook", "name": "x"}], {}, "authorizers[0].webhook: Required value: required when type=Webhook"),
        (
            [{"type": "Webhook", "name": "A b", "webhook": {"timeout": "1s"}}],
            {},
            'authorizers[0].name: Invalid value: "A b": authorizer name is invalid: a lowercase RFC 1123 subdomain',
        ),
        ([{}, {"type": "RBAC"}], {}, "[authorizers[0].type: Required value, authorizers[1].name: Required value]"),
        ([{**RBAC, "nmae": "x"}], {}, "unknown field 'nmae'"),
        ([RBAC], {"modes": ("RBAC",)}, "--authorization-config can not be specified when --authorization-mode or"),
        ([RBAC], {"authorization-webhook-config-file": "/x"}, "--authorization-webhook-* flags are defined"),
    ],
    ids=repr,
)
def test_a_wrong_file_is_refused(read, rows, more, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        read(*rows, **more)
