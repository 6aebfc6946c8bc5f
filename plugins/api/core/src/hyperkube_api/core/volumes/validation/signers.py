"""Names of signers and of the trust bundles that belong to them.

Source: kubernetes pkg/apis/core/validation/names.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, quote, required, too_long

DOMAIN_MAX = names.SUBDOMAIN_MAX
NAME_MAX = DOMAIN_MAX + 1 + names.LABEL_MAX + 1 + names.SUBDOMAIN_MAX
MAX_ANNOTATION_BYTES = 256 * 1024
NO_PATH = "must be a fully qualified domain and path of the form 'example.com/signer-name'"


def is_kubernetes_signer(name: str) -> bool:
    """Tell whether a signer is one of Kubernetes' own."""
    return f".{name.partition('/')[0]}".endswith(".kubernetes.io")


def signer_name(path: Path, name: str) -> list[FieldError]:
    """Check a signer's name: a domain, a slash and a dotted path."""
    if not name:
        return [required(path)]
    domain, _, rest = name.partition("/")
    if name.count("/") != 1:
        return [invalid(path, name, NO_PATH)]
    errors = [too_long(path, DOMAIN_MAX)] if len(domain) > DOMAIN_MAX else []
    errors += _first_bad(path, domain, names.dns1123_label)
    if "." not in domain:
        errors.append(invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    errors += _first_bad(path, rest, names.dns1123_subdomain)
    return errors + ([too_long(path, NAME_MAX)] if len(name) > NAME_MAX else [])


def _first_bad(path: Path, dotted: str, rule: Callable[[str], list[str]]) -> list[FieldError]:
    """Return what is wrong with the first part that is wrong."""
    for part in dotted.split("."):
        wrong = rule(part)
        if wrong:
            return [invalid(path, dotted, f"validating label {quote(part)}: {text}") for text in wrong]
    return []


def user_annotations(path: Path, annotations: Mapping[str, str]) -> list[FieldError]:
    """Check what a pod tells its signer: keys with a domain before them, 256 KiB in all."""
    errors = [
        invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')
        for key in annotations
        if "/" not in key or names.qualified_name(key.lower())
    ]
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    return [*errors, too_long(path, MAX_ANNOTATION_BYTES)] if size > MAX_ANNOTATION_BYTES else errors


def trust_bundle_name(name: str) -> list[str]:
    """Check a trust bundle's name: the signer's comes first, if there is one, with colons for slashes."""
    signer, colon, rest = name.rpartition(":")
    if colon and "/" in signer:
        shown = signer.replace(":", "/")
        prefix = signer.replace("/", ":") + ":"
        return [f"ClusterTrustBundle for signerName {shown} must be named with prefix {prefix}"]
    return names.dns1123_subdomain(rest)
