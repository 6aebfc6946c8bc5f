import pytest

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.configuration import check_keys, read_configuration

VERSIONS = ("group/v2", "group/v1")


@pytest.fixture
def read(tmp_path):
    def reader(text):
        path = tmp_path / "file.yaml"
        path.write_text(text)
        return read_configuration(path, "Thing", VERSIONS)

    return reader


@pytest.mark.parametrize("version", VERSIONS)
def test_yaml_and_json_are_read(read, version):
    assert read(f"apiVersion: {version}\nkind: Thing\nvalue: 1\n")["value"] == 1
    assert read(f'{{"apiVersion": "{version}", "kind": "Thing", "value": 1}}')["value"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("apiVersion: group/v3\nkind: Thing\n", "expected 'Thing' of group/v2 or group/v1"),
        ("apiVersion: group/v1\nkind: Other\n", "holds kind 'Other'"),
        ("[]", "holds no Thing"),
        ("{", "cannot read Thing file"),
    ],
)
def test_something_else_is_refused(read, text, message):
    with pytest.raises(UsageError, match=message):
        read(text)


def test_a_missing_file_is_refused():
    with pytest.raises(UsageError, match="cannot read Thing file '/none'"):
        read_configuration("/none", "Thing", VERSIONS)


def test_nothing_counts_as_an_empty_table():
    assert check_keys(None, ("a",), "here") == {}


@pytest.mark.parametrize(("table", "message"), [({"b": 1}, "unknown field 'b'"), ([], "must be an object")])
def test_unknown_keys_are_refused(table, message):
    with pytest.raises(UsageError, match=message):
        check_keys(table, ("a",), "here")
