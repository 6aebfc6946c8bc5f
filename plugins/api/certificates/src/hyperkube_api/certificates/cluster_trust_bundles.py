"""Cluster trust bundles: certificates of authorities, by name or by the signer that they belong to.

Source: kubernetes pkg/registry/certificates/clustertrustbundle, pkg/apis/certificates/validation/validation.go.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NoBase64
from datetime import datetime
from typing import Any

from hyperkube_api.core.volumes.validation.signers import signer_name
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import Version, fields
from hyperkube_api.meta.validation import unchanged
from hyperkube_lib.pem import split_pem

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, too_long
from hyperkube.machinery.objects import Object

MAX_TRUST_BUNDLE_SIZE = 1 << 20
_OMITTED = "<value omitted>"
_HEADER = re.compile(r"^[^:\n]+: ", re.MULTILINE)


class ClusterTrustBundleStrategy(Strategy):
    """A bundle that begins with its signer's name, if it belongs to one."""

    def validate_object_name(self, obj: Object, name: str, *, prefix: bool) -> list[str]:
        """Check the name against that of the signer."""
        return name_errors(f"{name}a" if prefix else name, (obj.get("spec") or {}).get("signerName") or "")

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the signer's name and the certificates."""
        signer = (obj.get("spec") or {}).get("signerName") or ""
        spec = ROOT.child("spec")
        errors = signer_name(spec.child("signerName"), signer) if signer else []
        return errors + trust_bundle_errors(spec.child("trustBundle"), (obj.get("spec") or {}).get("trustBundle") or "")

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the signer stayed, and a bundle that changed."""
        now, before = obj.get("spec") or {}, old.get("spec") or {}
        spec = ROOT.child("spec")
        errors = unchanged(spec.child("signerName"), now.get("signerName") or "", before.get("signerName") or "")
        if now.get("trustBundle") != before.get("trustBundle"):
            errors += trust_bundle_errors(spec.child("trustBundle"), now.get("trustBundle") or "")
        return errors


def name_errors(name: str, signer: str) -> list[str]:
    """Return what is wrong with a bundle's name; it begins with its signer's, with colons for slashes."""
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return names.dns1123_subdomain(name)
    prefix = signer.replace("/", ":") + ":"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return names.dns1123_subdomain(name.removeprefix(prefix))


def trust_bundle_errors(path: Path, bundle: str) -> list[FieldError]:
    """Return what is wrong with certificates of authorities as PEM, without order and each but once."""
    if len(bundle.encode()) > MAX_TRUST_BUNDLE_SIZE:
        return [too_long(path, MAX_TRUST_BUNDLE_SIZE)]
    blocks = [(kind, body.decode()) for kind, body in split_pem(bundle.encode())]
    errors = [
        invalid(path, _OMITTED, f"entry {index} {text}")
        for index, (kind, body) in enumerate(blocks)
        if (text := _entry_error(kind, body))
    ]
    seen: dict[str, list[int]] = {}
    for index, (_, body) in enumerate(blocks):
        seen.setdefault("".join(body.split()), []).append(index)
    for indices in seen.values():
        if len(indices) > 1:
            shown = " ".join(map(str, indices))
            errors.append(invalid(path, _OMITTED, f"duplicate trust anchor (indices [{shown}])"))
    return errors if blocks else [invalid(path, _OMITTED, "at least one trust anchor must be provided")]


def _entry_error(kind: str, body: str) -> str:
    from cryptography import x509

    if kind != "CERTIFICATE":
        return f"has bad block type: {kind}"
    if _HEADER.search(body):
        return "has PEM block headers"
    try:
        certificate = x509.load_der_x509_certificate(b64decode("".join(body.split()), validate=True))
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return "does not have the CA bit set"
    except (ValueError, NoBase64):
        return "does not parse as X.509"
    return "" if constraints.ca else "does not have the CA bit set"


def cluster_trust_bundle_cells(obj: Object, _now: datetime) -> list[Any]:
    """Return name and signer."""
    return [cells.name(obj), cells.spec_of(obj).get("signerName") or cells.NONE]


def cluster_trust_bundles(version: Version, storage: Version) -> ResourceSpec:
    """Return the specification of the resource ``clustertrustbundles`` in a version; it is stored in another one."""
    return version.resource(
        "clustertrustbundles",
        "ClusterTrustBundle",
        namespaced=False,
        served=False,
        storage_prefix="clustertrustbundles",
        storage_version_hash="v5yhuVertL4=",
        strategy=ClusterTrustBundleStrategy(),
        columns=(NAME, column("SignerName", field="spec.signerName")),
        cells=cluster_trust_bundle_cells,
        fields=fields("spec.signerName"),
        **version.stored_as(storage, "ClusterTrustBundle"),
    )
