"""Lines of secrets and users, and what is said of lines that are none."""

import pytest
from hyperkube_lib.user_files import read_users

from hyperkube.machinery.errors import UsageError


def test_a_line_names_a_user_and_its_groups(tmp_path):
    (tmp_path / "users.csv").write_text('s1,ann,1\n\ns2,bob,2,"dev,ops"\n')

    found = [
        (secret, user.name, user.uid, user.groups) for secret, user in read_users(str(tmp_path / "users.csv"), "token")
    ]

    assert found == [
        ("s1", "ann", "1", ("system:authenticated",)),
        ("s2", "bob", "2", ("dev", "ops", "system:authenticated")),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a,b", "must have at least 3 columns .password, user name, user uid., found 2"),
        (",bob,2", "without a password"),
    ],
    ids=["too short", "empty"],
)
def test_a_line_that_is_none_is_refused(tmp_path, line, told):
    path = tmp_path / "users.csv"
    path.write_text(line)

    with pytest.raises(UsageError, match=told):
        list(read_users(str(path), "password"))


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="cannot read token file 'nowhere'"):
        list(read_users("nowhere", "token"))
