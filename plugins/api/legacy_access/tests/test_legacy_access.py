"""Removed versions of access and extension: their promises, and how they differ."""

from hyperkube_api.legacy_access.admissionregistration import LegacyAdmissionregistrationApi
from hyperkube_api.legacy_access.apiextensions import LegacyApiextensionsApi
from hyperkube_api.legacy_access.certificates import LegacyCertificatesApi
from hyperkube_api.legacy_access.rbac import LegacyRbacApi
from hyperkube_testing.legacy_api import LegacyApiContract, spec_named

PLUGINS = (LegacyAdmissionregistrationApi, LegacyApiextensionsApi, LegacyCertificatesApi, LegacyRbacApi)


def spec_of(name):
    return spec_named(name, *PLUGINS)


def test_a_subject_has_an_api_version():
    spec = spec_of("rolebindings.v1alpha1.rbac.authorization.k8s.io")

    stored = spec.to_storage({"subjects": [{"kind": "User", "name": "*"}, {"kind": "User", "name": "alice"}]})

    group = "rbac.authorization.k8s.io"
    assert stored["subjects"] == [
        {"kind": "Group", "apiGroup": group, "name": "system:authenticated"},
        {"kind": "User", "apiGroup": group, "name": "alice"},
    ]


def test_a_definition_without_a_schema_is_taken():
    spec = spec_of("customresourcedefinitions.v1beta1.apiextensions.k8s.io")
    crd = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "metadata": {"name": "toys.example.com"},
        "spec": {"group": "example.com", "version": "v1", "names": {"plural": "toys", "kind": "Toy"}},
    }

    spec.strategy.default(crd)
    spec.strategy.prepare_create(None, crd)

    assert spec.strategy.validate(None, crd) == []
    assert crd["spec"]["scope"] == "Namespaced"
    assert crd["spec"]["versions"] == [{"name": "v1", "served": True, "storage": True}]
    assert crd["spec"]["preserveUnknownFields"] is True


class TestLegacyAdmissionregistrationApi(LegacyApiContract):
    plugin = LegacyAdmissionregistrationApi
    module = "hyperkube_api.admissionregistration.v1"


class TestLegacyApiextensionsApi(LegacyApiContract):
    plugin = LegacyApiextensionsApi
    module = "hyperkube_api.apiextensions.v1"
    tidied = frozenset({"CustomResourceDefinition"})


class TestLegacyCertificatesApi(LegacyApiContract):
    plugin = LegacyCertificatesApi
    module = "hyperkube_api.certificates.v1"


class TestLegacyRbacApi(LegacyApiContract):
    plugin = LegacyRbacApi
    module = "hyperkube_api.rbac.v1"
    tidied = frozenset({"ClusterRoleBinding", "RoleBinding"})
