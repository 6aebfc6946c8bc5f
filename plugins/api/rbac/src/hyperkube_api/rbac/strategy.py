"""What the strategies of roles and bindings share.

Source: kubernetes pkg/apis/rbac/validation/validation.go.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Strategy
from hyperkube.machinery.names import path_segment_name, path_segment_prefix


class RbacStrategy(Strategy):
    """What roles and bindings have in common: names may hold colons."""

    allow_create_on_update = True

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a path segment."""
        return path_segment_prefix(name) if prefix else path_segment_name(name)
