"""ServiceAccount: every pod runs as a service account, and finds the token for it at a place that clients know.

The token is a projected volume: the kubelet asks for a short-lived one, bound to the pod, and renews it.
Source: kubernetes ``plugin/pkg/admission/serviceaccount``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from hyperkube_lib.service_account_tokens import WARN_ONLY_SECONDS

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import containers, is_mirror, spec_of
from hyperkube.kinds.resources import SERVICE_ACCOUNTS
from hyperkube.machinery.booleans import parse_bool
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.objects import Object, annotations_of, copy_object, name_of
from hyperkube.machinery.random import suffix
from hyperkube.plugin import Plugin, PluginContext

DEFAULT = "default"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
VOLUME_PREFIX = "kube-api-access-"
_ENFORCE = "kubernetes.io/enforce-mountable-secrets"
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
    secrets = any(volume.get("secret") for volume in spec.get("volumes") or ())
    for container in containers(pod):
        secrets = secrets or any(source.get("secretRef") for source in container.get("envFrom") or ())
        secrets = secrets or any(
            (variable.get("valueFrom") or {}).get("secretKeyRef") for variable in container.get("env") or ()
        )
    if secrets:
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


def _secret_error(pod: Object, account: Object) -> str:
    """Return which secret of the pod its account does not list; empty when all are listed."""
    allowed = {secret.get("name") for secret in account.get("secrets") or ()}
    rest = f"is not allowed because service account {name_of(account)} does not reference that"
    for volume in spec_of(pod).get("volumes") or ():
        name = (volume.get("secret") or {}).get("secretName")
        if name and name not in allowed:
            return f'volume with secret.secretName="{name}" {rest} secret'
    for member, title in (("initContainers", "init container"), ("containers", "container")):
        for container in spec_of(pod).get(member) or ():
            for variable in container.get("env") or ():
                name = ((variable.get("valueFrom") or {}).get("secretKeyRef") or {}).get("name")
                if name and name not in allowed:
                    where = f"{title} {container.get('name')} with envVar {variable.get('name')}"
                    return f'{where} referencing secret.secretName="{name}" {rest} secret'
    pulls = {secret.get("name") for secret in account.get("imagePullSecrets") or ()}
    for place, secret in enumerate(spec_of(pod).get("imagePullSecrets") or ()):
        if secret.get("name") not in pulls:
            return f'imagePullSecrets[{place}].name="{secret.get("name")}" {rest} imagePullSecret'
    return ""


class ServiceAccount(Plugin):
    """Gives new pods an account, its token and its pull secrets."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._accounts = self.informers.informer(SERVICE_ACCOUNTS)

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
        if not request.creates("pods"):
            return
        pod = request.written()
        if is_mirror(pod):
            _check_mirror(pod)
            return
        account = self._account(request.namespace, spec_of(pod).get("serviceAccountName", ""))
        if parse_bool(annotations_of(account).get(_ENFORCE, "")):
            error = _secret_error(pod, account)
            if error:
                raise Forbidden(error)

    def _account(self, namespace: str, name: str) -> Object:
        """Return an account; the default one is waited for, as it is made right after its namespace.

        Raises:
            Forbidden: there is none.
        """
        account = self._accounts.get(namespace, name)
        if account is not None:
            return account
        attempts = _PATIENCE if name == DEFAULT else 1
        while True:
            attempts -= 1
            try:
                return self.client.get(SERVICE_ACCOUNTS, name, namespace)
            except NotFound as error:
                if attempts <= 0:
                    text = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
                    raise Forbidden(text) from error
            self.context.clock.sleep(_WAIT_SECONDS)
