"""Tags as Azure's providers write them: ``a=b,c=d``.

Source: cloud-provider-azure ``pkg/provider/azure_utils.go`` (parseTags).
"""

from __future__ import annotations


def parsed_tags(text: str) -> dict[str, str]:
    """Return tags by key; parts without a key are left out."""
    pairs = [part.partition("=") for part in text.split(",")]
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip()}
