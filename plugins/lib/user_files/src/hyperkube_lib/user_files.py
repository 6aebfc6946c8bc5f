"""Users listed in a CSV file, each line with a secret: ``secret,user,uid`` and optionally ``"group1,group2"``.

Source: kubernetes apiserver ``pkg/authentication/token/tokenfile``; 1.18 ``pkg/authentication/password/passwordfile``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo


def read_users(path: str, secret: str) -> Iterator[tuple[str, UserInfo]]:
    """Yield the secret and the user of each line.

    Args:
        path: of the file.
        secret: what messages call the first column, e.g. ``token``.

    Raises:
        UsageError: the file cannot be read, or a line has fewer than three columns or no secret.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8") as lines:
            rows = [row for row in csv.reader(lines, skipinitialspace=True) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {secret} file {path!r}: {error}") from error
    for row in rows:
        if len(row) < 3:
            raise UsageError(
                f"{secret} file '{path}' must have at least 3 columns ({secret}, user name, user uid), found {len(row)}"
            )
        value, name, uid = row[:3]
        if not value:
            raise UsageError(f"{secret} file {path!r} has a line without a {secret}, for user {name!r}")
        groups = row[3].split(",") if len(row) > 3 else []
        yield value, UserInfo(name, uid, (*groups, AUTHENTICATED_GROUP))
