"""What is attacked: a server behind a TLS listener, people with certificates and tokens, and words for requests."""

import base64
import hashlib
import hmac
import http.client
import json
import ssl
from dataclasses import dataclass, field

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.certificates import issue, make_ca, self_signed, signing_key
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.tls import TlsFiles

from hyperkube.storage.memory import MemoryStore

RBAC = "/apis/rbac.authorization.k8s.io/v1"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
MAPS, PODS, ACCOUNTS = (f"/api/v1/namespaces/a/{name}" for name in ("configmaps", "pods", "serviceaccounts"))
CLOSED = 0
"""The status that stands for a handshake that fails."""
HUNG = 30.0
"""Seconds after which an answer is one that waits for something, however busy the machine is."""
ISSUER = "https://issuer.example"
USERS = ("admin", "reader", "rolemaker", "binder", "impersonator", "podmaker", "approver", "nobody")
WRITES = ["get", "list", "create", "update", "patch", "delete"]
ROLES = {
    "reader": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}],
    "rolemaker": [
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": WRITES},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
        {"nonResourceURLs": ["/version"], "verbs": ["get"]},
    ],
    "binder": [
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings"], "verbs": WRITES},
        {
            "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterroles"],
            "verbs": ["bind"],
            "resourceNames": ["view"],
        },
    ],
    "impersonator": [
        {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["reader"]},
        {"apiGroups": [""], "resources": ["groups"], "verbs": ["impersonate"], "resourceNames": ["readers"]},
        {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"], "resourceNames": ["robot"]},
        {
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["userextras/scopes"],
            "verbs": ["impersonate"],
            "resourceNames": ["view"],
        },
        {
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["uids"],
            "verbs": ["impersonate"],
            "resourceNames": ["uid-reader"],
        },
    ],
    "podmaker": [{"apiGroups": [""], "resources": ["pods"], "verbs": WRITES}],
    "approver": [
        {"apiGroups": ["certificates.k8s.io"], "resources": ["*"], "verbs": WRITES},
        {
            "apiGroups": ["certificates.k8s.io"],
            "resources": ["signers"],
            "verbs": ["approve", "sign"],
            "resourceNames": ["example.com/mine"],
        },
    ],
}


@dataclass(frozen=True)
class Call:
    """A request: a credential's name (or a token), method, path as sent, body, and more headers (a tuple: several lines)."""

    who: str
    method: str
    path: str
    body: object = None
    headers: dict = field(default_factory=dict)


@dataclass
class Answer:
    status: int
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class World:
    """One server behind a TLS listener, people with certificates and tokens, and objects to attack."""

    def __init__(self, folder):
        self.folder = folder
        self.ca, self.proxy_ca, self.stranger_ca = (make_ca(name) for name in ("people", "proxies", "strangers"))
        for name, pair in (("ca", self.ca), ("proxy-ca", self.proxy_ca)):
            (folder / f"{name}.crt").write_bytes(pair.certificate)
        self.key, self.public = signing_key()
        (folder / "sa.key").write_bytes(self.key)
        (folder / "sa.pub").write_bytes(self.public)
        groups = {"admin": "system:masters"}
        lines = [f"token-{name},{name},uid-{name},{groups.get(name, 'people')}" for name in USERS]
        (folder / "tokens.csv").write_text("\n".join(lines) + "\n")
        (folder / "passwords.csv").write_text("sesame,reader,uid-reader\n")
        self.server = ApiServer(options=self._options(), store=MemoryStore())
        self.server.start()
        pair = self_signed("attacked", dns=["localhost"], ips=["127.0.0.1"])
        pair.write(folder / "serving.crt", folder / "serving.key")
        files = TlsFiles(
            cert_file=str(folder / "serving.crt"),
            key_file=str(folder / "serving.key"),
            client_ca_file=str(folder / "ca.crt"),
            request_header_ca_file=str(folder / "proxy-ca.crt"),
        )
        self.edge = Edge(self.server.handler, host="127.0.0.1", tls=files)
        self.edge.start()
        self.contexts = {"": self._context()}
        self._people()
        self._populate()

    def _options(self):
        file = lambda name: str(self.folder / name)  # noqa: E731  shorter than a method that is used here alone
        return {
            "authorization-mode": ["Node", "RBAC"],
            "feature-gates": {"PodCertificateRequest": True},
            "enable-admission-plugins": ["NodeRestriction"],
            "client-ca-file": file("ca.crt"),
            "requestheader-client-ca-file": file("proxy-ca.crt"),
            "requestheader-allowed-names": ["front-proxy"],
            "token-auth-file": file("tokens.csv"),
            "basic-auth-file": file("passwords.csv"),
            "service-account-key-file": [file("sa.pub")],
            "service-account-signing-key-file": file("sa.key"),
            "service-account-issuer": [ISSUER],
            "enable-bootstrap-token-auth": True,
            "service-cluster-ip-range": "10.0.0.0/24",
            "service-node-port-range": "30000-32767",
        }

    def _context(self):
        return ssl.create_default_context(cafile=str(self.folder / "serving.crt"))

    def person(self, name, common_name, *, by, organizations=(), client=True, server=False):
        pair = issue(by, common_name, organizations=organizations, client=client, server=server)
        cert, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        pair.write(cert, key)
        context = self._context()
        context.load_cert_chain(cert, key)
        self.contexts[f"cert:{name}"] = context

    def _people(self):
        self.person("proxy", "front-proxy", by=self.proxy_ca)
        self.person("other-proxy", "somebody", by=self.proxy_ca)
        self.person("reader", "reader", by=self.ca)
        self.person("stranger", "reader", by=self.stranger_ca)
        self.person("server-only", "reader", by=self.ca, client=False, server=True)
        for node in ("n1", "n2"):
            self.person(node, f"system:node:{node}", by=self.ca, organizations=["system:nodes"])
        self.person("no-group", "system:node:n1", by=self.ca)

    def ask(self, call):
        who = call.who.format(**getattr(self, "tokens", {}))
        context = self.contexts.get(who, self.contexts[""])
        headers = {"Accept": "application/json", **call.headers}
        if who in USERS:
            headers["Authorization"] = f"Bearer token-{who}"
        elif who and who not in self.contexts:
            headers["Authorization"] = who if who.startswith("Basic ") else f"Bearer {who}"
        body = call.body
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPSConnection("127.0.0.1", self.edge.port, context=context, timeout=2 * HUNG)
        try:
            connection.putrequest(call.method, call.path, skip_host=False, skip_accept_encoding=True)
            for name, value in headers.items():
                for line in value if isinstance(value, tuple) else (value,):
                    connection.putheader(name, line)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, response.read())
        except (http.client.RemoteDisconnected, ssl.SSLError):
            return Answer(CLOSED, b"")
        finally:
            connection.close()

    def make(self, path, obj, method="POST"):
        answer = self.ask(Call("admin", method, path, obj))
        assert answer.status in {200, 201}, answer.body
        return answer.json

    def _populate(self):
        self.make("/api/v1/namespaces", named("a"))
        for name, rules in ROLES.items():
            self.make(f"{RBAC}/clusterroles", {**named(name), "rules": rules})
            self.make(f"{RBAC}/clusterrolebindings", binding("ClusterRoleBinding", name, name, name))
        self.make(f"{RBAC}/clusterrolebindings", group_binding("readers", "reader"))
        secret = base64.b64encode(b"top").decode()
        self.make("/api/v1/namespaces/a/secrets", {**named("s"), "data": {"k": secret}})
        self.make("/api/v1/namespaces/a/secrets", {**named("unused"), "data": {"k": secret}})
        self.make(MAPS, {**named("m"), "data": {"k": "v"}})
        for account in ("robot", "doomed"):
            self.make(ACCOUNTS, named(account))
        self.make(f"{RBAC}/clusterrolebindings", account_binding("robot"))
        for node in ("n1", "n2"):
            self.make("/api/v1/nodes", named(node))
        self.make(PODS, pod("on-n1", node="n1", secret="s"))
        self.make(PODS, pod("on-n2", node="n2"))
        self.make(PODS, pod("doomed-pod"))
        for signer in ("theirs", "mine"):
            self.make(CSRS, csr(f"to-{signer}", f"example.com/{signer}"))
        self.make("/api/v1/namespaces/kube-system/secrets", bootstrap("abcdef", "2100-01-01T00:00:00Z"))
        self.make("/api/v1/namespaces/kube-system/secrets", bootstrap("fedcba", "2001-01-01T00:00:00Z"))
        self.tokens = self._tokens()

    def token(self, account="robot", **spec):
        made = self.make(f"{ACCOUNTS}/{account}/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})  # fmt: skip
        return made["status"]["token"]

    def _tokens(self):
        good = self.token()
        claims = jwt.decode(good, options={"verify_signature": False})
        header = jwt.get_unverified_header(good)
        head, payload, signature = good.split(".")
        doomed = self.token("doomed")
        uid = self.ask(Call("admin", "GET", f"{PODS}/doomed-pod")).json["metadata"]["uid"]
        bound = {"kind": "Pod", "apiVersion": "v1", "name": "doomed-pod", "uid": uid}
        pod_token = self.token(boundObjectRef=bound)
        self.doomed_worked = [self.ask(Call(token, "GET", f"{MAPS}/m")).status for token in (pod_token,)]
        for path in (f"{ACCOUNTS}/doomed", f"{PODS}/doomed-pod?gracePeriodSeconds=0"):
            self.ask(Call("admin", "DELETE", path))
        self._forget()
        other = ec.generate_private_key(ec.SECP256R1())
        signed = lambda changed, key=self.key, algorithm="ES256": jwt.encode({**claims, **changed}, key, algorithm, headers={"kid": header["kid"]})  # noqa: E731  # fmt: skip
        flipped = "A" if signature[0] != "A" else "B"
        return {
            "good": good,
            "deleted_account": doomed,
            "deleted_pod": pod_token,
            "expired": signed({"exp": 1_000_000_000}),
            "no_expiry": jwt.encode({k: v for k, v in claims.items() if k != "exp"}, self.key, "ES256"),
            "not_yet": signed({"nbf": 9_999_999_999}),
            "other_audience": self.token(audiences=["vault"]),
            "other_issuer": signed({"iss": "https://elsewhere.example"}),
            "other_key": signed({}, other),
            "rsa_key": signed({}, rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256"),
            "no_algorithm": unsigned(claims, "none"),
            "no_algorithm_in_capitals": unsigned(claims, "NONE"),
            "hmac_with_the_public_key": hmac_signed(claims, self.public),
            "other_subject": signed({"sub": "system:serviceaccount:kube-system:default"}),
            "no_private_claims": signed({"kubernetes.io": {}}),
            "flipped": f"{head}.{payload}.{flipped}{signature[1:]}",
            "stripped": f"{head}.{payload}.",
            "swapped": f"{head}.{encoded({**claims, 'sub': 'admin'})}.{signature}",
        }

    def _forget(self):
        """Let the server forget what it remembers of identities, as it does by itself after seconds."""
        self.server.authentication._known.clear()

    def close(self):
        self.edge.close(0)
        self.server.close()


def named(name):
    return {"metadata": {"name": name}}


def subject(kind, name, **more):
    group = "" if kind == "ServiceAccount" else "rbac.authorization.k8s.io"
    return {"kind": kind, "apiGroup": group, "name": name, **more}


def binding(kind, name, role, user, role_kind="ClusterRole"):
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role}
    return {**named(name), "kind": kind, "apiVersion": "rbac.authorization.k8s.io/v1", "roleRef": reference,
            "subjects": [subject("User", user)]}  # fmt: skip


def group_binding(group, role):
    return {**binding("ClusterRoleBinding", group, role, ""), "subjects": [subject("Group", group)]}


def account_binding(name):
    return {
        **binding("ClusterRoleBinding", name, "reader", ""),
        "subjects": [subject("ServiceAccount", name, namespace="a")],
    }


def role(name, *rules, **more):
    return {**named(name), "rules": list(rules), **more}


def rule(resource, *verbs, group=""):
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


def pod(name, node="", secret="", **spec):
    volumes = [{"name": "v", "secret": {"secretName": secret}}] if secret else []
    made = {"containers": [{"name": "c", "image": "i"}], "volumes": volumes, "automountServiceAccountToken": False}
    return {**named(name), "spec": {**made, **({"nodeName": node} if node else {}), "serviceAccountName": "robot", **spec}}  # fmt: skip


def csr(name, signer):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    key = ec.generate_private_key(ec.SECP256R1())
    subject_name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "x")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject_name).sign(key, hashes.SHA256())
    text = base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()
    return {**named(name), "spec": {"request": text, "signerName": signer, "usages": ["client auth"]}}


def approval(name, signer):
    condition = {"type": "Approved", "status": "True", "reason": "r", "message": "m"}
    return {**csr(name, signer), "status": {"conditions": [condition]}}


def bootstrap(token_id, expiration):
    values = {
        "token-id": token_id,
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
        "expiration": expiration,
    }
    return {**named(f"bootstrap-token-{token_id}"), "type": "bootstrap.kubernetes.io/token", "stringData": values}


def encoded(part):
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def unsigned(claims, algorithm):
    return f"{encoded({'alg': algorithm, 'typ': 'JWT'})}.{encoded(claims)}."


def hmac_signed(claims, key):
    text = f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded(claims)}"
    signature = hmac.digest(key, text.encode(), hashlib.sha256)
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def acting(**headers):
    return {f"Impersonate-{name.replace('_', '-')}": value for name, value in headers.items()}


def remote(**headers):
    return {f"X-Remote-{name}": value for name, value in headers.items()}
