import json

import pytest

from hyperkube.apiserver.authorizers import Chosen, authorizers_of
from hyperkube.machinery.errors import UsageError


@pytest.fixture
def read(tmp_path):
    def reader(*rows, modes=(), **options):
        path = tmp_path / "authorization.json"
        config = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
        path.write_text(json.dumps({**config, "authorizers": list(rows)}))
        return authorizers_of({"authorization-config": str(path), **options}, modes)

    return reader


def test_modes_are_plugins_in_order():
    assert authorizers_of({}, ["Node", "RBAC"]) == [Chosen("Node", "Node"), Chosen("RBAC", "RBAC")]
    assert authorizers_of({}, []) == [Chosen("AlwaysAllow", "AlwaysAllow")]


def test_a_file_may_name_several_webhooks_between_the_others(read):
    chosen = read(
        {"type": "Webhook", "name": "first", "webhook": {"timeout": "1s"}},
        {"type": "RBAC"},
        {"type": "Webhook", "name": "second", "webhook": {"timeout": "2s"}},
    )

    assert chosen == [
        Chosen("Webhook", "first", {"timeout": "1s"}),
        Chosen("RBAC", "RBAC"),
        Chosen("Webhook", "second", {"timeout": "2s"}),
    ]


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([], {}, "at least one"),
        ([{"type": "RBAC"}, {"type": "RBAC"}], {}, "'RBAC' is given twice"),
        ([{"name": "x"}], {}, "type is required"),
        ([{"type": "RBAC", "webhook": {}}], {}, "may only be specified"),
        ([{"type": "Webhook", "name": "x"}], {}, "webhook is required"),
        ([{"type": "Webhook", "name": "A b", "webhook": {"timeout": "1s"}}], {}, "must be a DNS subdomain"),
        ([{"type": "RBAC", "nmae": "x"}], {}, "unknown field 'nmae'"),
        ([{"type": "RBAC"}], {"modes": ("RBAC",)}, "can not be specified when"),
        ([{"type": "RBAC"}], {"authorization-webhook-config-file": "/x"}, "can not be specified when"),
    ],
    ids=repr,
)
def test_a_wrong_file_is_refused(read, rows, more, message):
    with pytest.raises(UsageError, match=message):
        read(*rows, **more)
