"""What the defaults of several groups share."""

from __future__ import annotations

from hyperkube.machinery.objects import Object

HTTPS_PORT = 443
"""The port of a reference to a Service, of webhooks and of API services, that names none."""


def set_defaults(holder: Object, **values: object) -> None:
    """Set the members of `holder` that are absent; in place."""
    for name, value in values.items():
        if holder.get(name) is None:
            holder[name] = value
