"""The types of admission.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="admission.k8s.io",
    version="v1",
    proto="k8s.io.api.admission.v1",
    openapi="io.k8s.api.admission.v1",
)


class AdmissionRequest(KubeSchema, published=False):
    """Admission request: part of AdmissionReview.request."""

    uid = f.String(1, typedef="types.UID")
    kind = f.Struct("hyperkube_api.meta.v1:GroupVersionKind", 2)
    resource = f.Struct("hyperkube_api.meta.v1:GroupVersionResource", 3)
    subResource = f.String(4, omitempty=True)
    requestKind = f.Struct("hyperkube_api.meta.v1:GroupVersionKind", 13, ptr=True, omitempty=True)
    requestResource = f.Struct("hyperkube_api.meta.v1:GroupVersionResource", 14, ptr=True, omitempty=True)
    requestSubResource = f.String(15, omitempty=True)
    name = f.String(5, omitempty=True)
    namespace = f.String(6, omitempty=True)
    operation = f.String(7, typedef="v1.Operation")
    userInfo = f.Struct("hyperkube_api.authentication.v1:UserInfo", 8)
    object = f.RawExtension(9, omitempty=True)
    oldObject = f.RawExtension(10, omitempty=True)
    dryRun = f.Bool(11, ptr=True, omitempty=True)
    options = f.RawExtension(12, omitempty=True)


class AdmissionResponse(KubeSchema, published=False):
    """Admission response: part of AdmissionReview.response."""

    uid = f.String(1, typedef="types.UID")
    allowed = f.Bool(2)
    status = f.Struct("hyperkube_api.meta.v1:Status", 3, ptr=True, omitempty=True, doc="What is observed.")
    patch = f.Bytes(4, omitempty=True, format="byte")
    patchType = f.String(5, ptr=True, omitempty=True, typedef="v1.PatchType")
    auditAnnotations = f.Map(f.String(), 6, omitempty=True)
    warnings = f.List(f.String(), 7, omitempty=True, list_type="atomic")


class AdmissionReview(KubeObject, published=False):
    """Admission review."""

    request = f.Struct("AdmissionRequest", 1, ptr=True, omitempty=True)
    response = f.Struct("AdmissionResponse", 2, ptr=True, omitempty=True)
