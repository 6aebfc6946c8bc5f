import json

import pytest
from hyperkube_host.apiserver.admission.configuration import settings_of

from hyperkube.machinery.errors import UsageError

ENABLED = ("PodSecurity", "EventRateLimit")


@pytest.fixture
def read(tmp_path):
    def reader(*plugins, **more):
        path = tmp_path / "admission.yaml"
        head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration"}
        path.write_text(json.dumps({**head, "plugins": list(plugins), **more}))
        return settings_of(str(path), ENABLED)

    return reader


def test_settings_stand_inline_or_in_a_file_beside(read, tmp_path):
    (tmp_path / "limits.yaml").write_text("apiVersion: x/v1\nkind: Configuration\nlimits: [1]\n")

    found = read(
        {"name": "PodSecurity", "configuration": {"apiVersion": "y/v1", "kind": "Z", "defaults": {"enforce": "baseline"}}},
        {"name": "EventRateLimit", "path": "limits.yaml"},
    )  # fmt: skip

    assert found == {"PodSecurity": {"defaults": {"enforce": "baseline"}}, "EventRateLimit": {"limits": [1]}}


def test_no_file_means_no_settings():
    assert settings_of("", ENABLED) == {}


def test_a_file_without_a_kind_is_for_the_plugins_that_are_older_than_kinds(tmp_path):
    path = tmp_path / "old.yaml"
    path.write_text("podNodeSelectorPluginConfig: {}\n")

    assert settings_of(str(path), ())["PodNodeSelector"] == {"podNodeSelectorPluginConfig": {}}


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([], {"kind": "Other"}, "holds kind 'Other'"),
        ([{"name": "Nope"}], {}, "'Nope' is not enabled"),
        ([{"name": "PodSecurity"}, {"name": "PodSecurity"}], {}, "is given twice"),
        ([{"name": "PodSecurity", "configuration": [1]}], {}, "must be an object"),
        ([{"name": "PodSecurity", "path": "none.yaml"}], {}, "unable to read"),
        ([{"name": "PodSecurity", "config": {}}], {}, "unknown field 'config'"),
    ],
    ids=repr,
)
def test_a_wrong_file_is_refused(read, rows, more, message):
    with pytest.raises(UsageError, match=message):
        read(*rows, **more)
