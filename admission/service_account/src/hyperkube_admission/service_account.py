"""ServiceAccount: every pod runs as a service account, and finds the token for it at a place that clients know.

The token is a projected volume: the kubelet asks for a short-lived one, bound to the pod, and renews it.
Source: kubernetes ``plugin/pkg/admission/serviceaccount``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random

from hyperkube_lib.pod_references import pod_references, volume_references
from hyperkube_lib.service_account_tokens import WARN_ONLY_SECONDS

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import is_mirror, spec_of
from hyperkube.kinds.resources import PODS, SERVICE_ACCOUNTS
from hyperkube.machinery.booleans import parse_bool
from hyperkube.machinery.errors import ApiError, Forbidden, NotFound
from hyperkube.machinery.objects import Object, annotations_of, copy_object, name_of
from hyperkube.machinery.random import suffix
from hyperkube.plugin import Plugin, PluginContext

DEFAULT = "default"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
VOLUME_PREFIX = "kube-api-access-"
_ENFORCE = "kubernetes.io/enforce-mountable-secrets"
_CONTAINERS = (("initContainers", "init container"), ("containers", "container"))
_LATER_CONTAINERS = (("ephemeralContainers", "ephemeral container"),)
_NAMES = 100
_PATIENCE = 10
_WAIT_SECONDS = 0.1


def token_volume(name: str) -> Object:
    """Return the volume that carries the token, the cluster's authority and the namespace."""
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return {
        "name": name,
        "projected": {
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": WARN_ONLY_SECONDS, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
            ],
            "defaultMode": 0o644,
        },
    }


def _volume_name(namespace: str, spec: Object) -> str:
    """Return the name of the token volume that is there, or a new one."""
    taken = set()
    for volume in spec.get("volumes") or ():
        taken.add(volume.get("name"))
        if str(volume.get("name", "")).startswith(VOLUME_PREFIX) and volume.get("projected"):
            return str(volume["name"])
    return next(name for name in _names(namespace, spec.get("serviceAccountName", "")) if name not in taken)


@lru_cache(maxsize=1024)
def _names(namespace: str, account: str) -> Sequence[str]:
    """Return names for the token volume of an account's pods.

    They look random, as clients expect, and are the same for all those pods: what is computed for one pod of a template
    holds for the next.
    """
    random = Random(f"{namespace}/{account}")  # noqa: S311  names of volumes are no secrets
    return [VOLUME_PREFIX + suffix(random) for _ in range(_NAMES)]


def _check_mirror(pod: Object) -> None:
    """Refuse what the mirror of a static pod cannot have."""
    spec = spec_of(pod)
    if spec.get("serviceAccountName"):
        raise Forbidden("a mirror pod may not reference service accounts")
    if any(kind == "secrets" for kind, _ in pod_references(pod)):
        raise Forbidden("a mirror pod may not reference secrets")
    for volume in spec.get("volumes") or ():
        if any(source.get("serviceAccountToken") for source in (volume.get("projected") or {}).get("sources") or ()):
            raise Forbidden("a mirror pod may not use ServiceAccountToken volume projections")


def _mount_token(spec: Object, volume_name: str) -> None:
    """Mount the token into every container that has nothing else at its place."""
    mount = {"name": volume_name, "readOnly": True, "mountPath": MOUNT_PATH}
    needed = False
    for member in ("initContainers", "containers"):
        for container in spec.get(member) or ():
            mounts = list(container.get("volumeMounts") or ())
            if not any(known.get("mountPath") == MOUNT_PATH for known in mounts):
                container["volumeMounts"] = [*mounts, dict(mount)]
                needed = True
    volumes = list(spec.get("volumes") or ())
    if needed and not any(volume.get("name") == volume_name for volume in volumes):
        spec["volumes"] = [*volumes, token_volume(volume_name)]


def _wants_token(pod: Object, account: Object) -> bool:
    for chosen in (spec_of(pod).get("automountServiceAccountToken"), account.get("automountServiceAccountToken")):
        if chosen is not None:
            return bool(chosen)
    return True


def _secret_error(pod: Object, account: Object, *, ephemeral: bool) -> str:
    """Return which secret of the pod its account does not list; empty when all are listed.

    Args:
        pod: what is written.
        account: its service account.
        ephemeral: whether ephemeral containers are written, which come later than the rest.
    """
    allowed = {secret.get("name") for secret in account.get("secrets") or ()}
    rest = f"is not allowed because service account {name_of(account)} does not reference that"
    kinds = _LATER_CONTAINERS if ephemeral else _CONTAINERS
    for where, name in _container_secrets(pod, kinds) if ephemeral else _pod_secrets(pod, kinds):
        if name not in allowed:
            return f'{where}="{name}" {rest} secret'
    pulls = {secret.get("name") for secret in account.get("imagePullSecrets") or ()}
    for place, secret in enumerate(() if ephemeral else spec_of(pod).get("imagePullSecrets") or ()):
        if secret.get("name") not in pulls:
            return f'imagePullSecrets[{place}].name="{secret.get("name")}" {rest} imagePullSecret'
    return ""


def _pod_secrets(pod: Object, kinds: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield where a pod names a secret, and which."""
    for volume in spec_of(pod).get("volumes") or ():
        member = "secret.secretName" if volume.get("secret") else f"{volume.get('name')} naming secret.name"
        for kind, name in volume_references(pod, volume):
            if kind == "secrets" and name:
                yield f"volume with {member}", name
    yield from _container_secrets(pod, kinds)


def _container_secrets(pod: Object, kinds: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield where containers of some kinds name a secret, and which."""
    for member, title in kinds:
        for container in spec_of(pod).get(member) or ():
            for variable in container.get("env") or ():
                name = ((variable.get("valueFrom") or {}).get("secretKeyRef") or {}).get("name")
                if name:
                    where = f"{title} {container.get('name')} with envVar {variable.get('name')}"
                    yield f"{where} referencing secret.secretName", name
            for source in container.get("envFrom") or ():
                name = (source.get("secretRef") or {}).get("name")
                if name:
                    yield f"{title} {container.get('name')} with envFrom referencing secret.secretName", name


class ServiceAccount(Plugin):
    """Gives new pods an account, its token and its pull secrets."""

    handles = frozenset({"pods", "pods/ephemeralcontainers"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._accounts = self.informers.informer(SERVICE_ACCOUNTS)
        self.decided_by = (self._accounts,)

    def waits_for(self, request: AdmissionRequest) -> bool:
        """Tell whether a new namespace's account is not there yet."""
        return request.creates("pods") and self._accounts.get(request.namespace, DEFAULT) is None

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell whether the account was known, so that it was not asked for."""
        return (
            self._accounts.get(request.namespace, spec_of(request.written()).get("serviceAccountName", "")) is not None
        )

    def is_idle(self, request: AdmissionRequest) -> bool:
        """Tell whether a pod is neither new nor gets containers."""
        return request.operation != "CREATE" and request.subresource != "ephemeralcontainers"

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Fill in account, token volume and pull secrets."""
        if not request.creates("pods") or is_mirror(request.written()):
            return
        pod = request.written()
        spec = pod.setdefault("spec", {})
        if not spec.get("serviceAccountName"):
            spec["serviceAccountName"] = DEFAULT
        spec["serviceAccount"] = spec["serviceAccountName"]
        account = self._account(request.namespace, spec["serviceAccountName"])
        if _wants_token(pod, account):
            _mount_token(spec, _volume_name(request.namespace, spec))
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [copy_object(secret) for secret in account["imagePullSecrets"]]

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Check mirror pods, the account, and the secrets where it restricts them."""
        ephemeral = request.subresource == "ephemeralcontainers" and request.resource == PODS
        if not (request.creates("pods") or (ephemeral and request.operation == "UPDATE")):
            return
        pod = request.written()
        if is_mirror(pod):
            if not ephemeral:
                _check_mirror(pod)
            return
        account = self._account(request.namespace, spec_of(pod).get("serviceAccountName", ""))
        if parse_bool(annotations_of(account).get(_ENFORCE, "")):
            error = _secret_error(pod, account, ephemeral=ephemeral)
            if error:
                raise Forbidden(error)

    def _account(self, namespace: str, name: str) -> Object:
        """Return an account; the default one is waited for, as it is made right after its namespace.

        Raises:
            Forbidden: there is none.
        """
        where = f"error looking up service account {namespace}/{name}"
        attempts = _PATIENCE if name == DEFAULT else 1
        while True:
            attempts -= 1
            try:
                return cached_or_live(self._accounts, self.client, name, namespace)
            except NotFound as error:
                if attempts <= 0:
                    raise Forbidden(f'{where}: serviceaccount "{name}" not found') from error
            except ApiError as error:
                raise Forbidden(f"{where}: {error.message}") from error
            self.context.clock.sleep(_WAIT_SECONDS)
