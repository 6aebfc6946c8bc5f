"""How pyVmomi's objects talk to a vCenter: its texts and types, our way over the wire.

pyVmomi's own adapter reads answers without a bound and takes what is no answer of the called method for "nothing
found"; here an answer is believed only if it is a whole envelope whose body is that method's answer or a fault.
Source: pyVmomi ``SoapAdapter.py``; vSphere Web Services SDK, "SOAP messages".
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, Final
from xml.parsers import expat

from hyperkube_cloud.vsphere.sign_on import Token
from hyperkube_lib.cloud_provider.rest import Answer, Request, Send
from pyVmomi import SoapAdapter, VmomiSupport, vim, vmodl

from hyperkube.hookspecs.cloud import CloudFailed, CloudThrottled, CloudUnavailable

VERSION: Final = "vim.version.version13"
"""6.7, the oldest vCenter that Kubernetes' provider knew at last; newer ones answer to it."""
COOKIE: Final = "vmware_soap_session"
_ENVELOPE: Final = "http://schemas.xmlsoap.org/soap/envelope/"
_SESSION: Final = re.compile(rf'{COOKIE}="?([^";,\s]+)"?')
_OK, _FAULT, _TOO_MANY = 200, 500, 429
_WITHOUT_SESSION: Final = frozenset({"RetrieveServiceContent", "Login"})


class Fault(CloudFailed):
    """A vCenter refused one call; `fault` is what it says, of pyVmomi's type."""

    def __init__(self, message: str, fault: Any) -> None:
        super().__init__(message)
        self.fault = fault


class ObjectGone(Fault):
    """The vCenter says that there is no such object (any more)."""


class Session:
    """The cookie of one vCenter; thread-safe. Who finds it refused renews it, unless another has done that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.cookie = ""

    def renewed(self, refused: str, log_in: Callable[[], str]) -> str:
        """Return a cookie that is not the one that was refused; log in for one only if there is none."""
        with self._lock:
            if self.cookie == refused:
                self.cookie = ""  # what fails below leaves none behind
                self.cookie = log_in()
            return self.cookie


class SoapStub(SoapAdapter.SoapStubAdapterBase):  # type: ignore[misc]  # has no types
    """Calls methods of one service at a vCenter, with a session that is renewed once where it has expired."""

    def __init__(
        self, send: Send, url: str, session: Session, log_in: Callable[[], str], version: str = VERSION
    ) -> None:
        """Take how a request travels, where to, and what gives a new cookie."""
        super().__init__(version)
        self._send, self._url, self._session, self._log_in = send, url, session, log_in
        self.requestContext: dict[str, str] = {}  # pyVmomi's name for words in the envelope's head

    def InvokeMethod(self, mo: Any, info: Any, args: Any, outerStub: Any = None) -> Any:  # noqa: N802, N803
        """Call a method: what pyVmomi's objects do with each of theirs.

        Raises:
            ObjectGone: there is no such object.
            Fault: this one call was refused.
            CloudUnavailable: nothing came back, the session is refused, or what came back is no answer.
        """
        if info.wsdlName in _WITHOUT_SESSION:
            return self._answer(mo, info, args, "")
        cookie = self._session.cookie or self._session.renewed("", self._log_in)
        try:
            return self._answer(mo, info, args, cookie)
        except Fault as error:
            if not _is_refused_session(error):
                raise
        try:
            return self._answer(mo, info, args, self._session.renewed(cookie, self._log_in))
        except Fault as error:
            if _is_refused_session(error):
                raise CloudUnavailable(f"{info.wsdlName}: the new session is refused") from None
            raise

    def log_in(self, manager: Any, user: str, password: str) -> str:
        """Begin a session and return its cookie; no error tells what was sent.

        Raises:
            CloudUnavailable: user or password are refused.
        """
        info = vim.SessionManager.Login.info
        answer = self._sent(manager, info, (user, password, None), "")
        return self._begun(info, answer, "user or password")

    def log_in_by_token(self, manager: Any, token: Token) -> str:
        """Begin a session for who a token is of, and return its cookie.

        Raises:
            CloudUnavailable: the token is refused.
        """
        info = vim.SessionManager.LoginByToken.info
        writer = SoapAdapter.SoapStubAdapterBase(self.version)
        writer.requestContext, writer.samlToken = {}, token.assertion
        body = token.signed(writer.SerializeRequest(manager, info, (None,)))
        return self._begun(info, self._posted(info, body, ""), "the certificate's token")

    def _begun(self, info: Any, answer: Answer, what: str) -> str:
        try:
            self._read(info, answer)
        except Fault as error:
            kind = type(error.fault).__name__.rpartition(".")[2]
            raise CloudUnavailable(f"{info.wsdlName}: the vCenter refuses {what} ({kind})") from None
        found = _SESSION.search(answer.headers.get("set-cookie", ""))
        if found is None:
            raise CloudUnavailable(f"{info.wsdlName}: the vCenter gives no session")
        return found[1]

    def _answer(self, mo: Any, info: Any, args: Any, cookie: str) -> Any:
        return self._read(info, self._sent(mo, info, args, cookie))

    def _sent(self, mo: Any, info: Any, args: Any, cookie: str) -> Answer:
        if cookie and self.version != VERSION:  # services beside the vCenter's own
            self.requestContext = {"vcSessionCookie": cookie}
        return self._posted(info, self.SerializeRequest(mo, info, args), cookie)

    def _posted(self, info: Any, body: bytes, cookie: str) -> Answer:
        headers = {"Content-Type": "text/xml; charset=UTF-8", "SOAPAction": self.versionId}
        if cookie:
            headers["Cookie"] = f'{COOKIE}="{cookie}"'
        answer = self._send(Request(method="POST", url=self._url, headers=headers, body=body))
        wait = answer.headers.get("retry-after", "")
        if answer.status == _TOO_MANY or (answer.status > _FAULT and wait.isdecimal()):
            raise CloudThrottled(f"{info.wsdlName}: {answer.status}", float(wait) if wait.isdecimal() else None)
        if answer.status not in {_OK, _FAULT}:
            raise CloudUnavailable(f"{info.wsdlName}: answered {answer.status}")
        return answer

    def _read(self, info: Any, answer: Answer) -> Any:
        """Return what an answer says.

        Raises:
            Fault: it is one.
            CloudUnavailable: it is no answer of this method.
        """
        method, status = info.wsdlName, answer.status
        tag = body_tag(answer.body)
        wanted = f"{VmomiSupport.GetWsdlNamespace(self.version)} {method}Response"
        if tag not in {wanted, f"{_ENVELOPE} Fault"} or (status == _OK) != (tag == wanted):
            raise CloudUnavailable(f"{method}: answered {status} with what is no answer of a vCenter")
        try:
            found = SoapAdapter.SoapResponseDeserializer(self).Deserialize(answer.body, info.result)
        except Exception as error:  # noqa: BLE001 - whatever pyVmomi meets in an answer of another shape
            raise CloudUnavailable(f"{method}: the answer cannot be read ({type(error).__name__})") from None
        if status == _OK:
            return found
        if type(found) in {vmodl.RuntimeFault, vmodl.MethodFault} or not isinstance(found, vmodl.MethodFault):
            raise CloudUnavailable(f"{method}: failed: {getattr(found, 'msg', '')}")
        raise refusal(method, found)


def _is_refused_session(error: Fault) -> bool:
    return isinstance(error.fault, vim.fault.NotAuthenticated) or type(error.fault) is vmodl.fault.SecurityError


def refusal(what: str, fault: Any) -> Fault:
    """Return the error for a fault, with the vCenter's own words."""
    kind = type(fault).__name__.rpartition(".")[2]
    text = f"{what}: {kind}: {fault.msg}" if fault.msg else f"{what}: {kind}"
    return (ObjectGone if isinstance(fault, vmodl.fault.ManagedObjectNotFound) else Fault)(text, fault)


def body_tag(data: bytes) -> str:
    """Return namespace and name of what a whole envelope has in its body; empty for anything else."""
    path: list[str] = []
    found: list[str] = []

    def start(name: str, _attributes: object) -> None:
        if not path and name != f"{_ENVELOPE} Envelope":
            raise ValueError(name)
        if len(path) == 2 and path[1] == f"{_ENVELOPE} Body":
            found.append(name)
        path.append(name)

    def refuse(*_declaration: object) -> None:
        raise ValueError("a document type")  # entities, which an envelope must not have

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _name: path.pop() and None
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError):
        return ""
    return found[0] if len(found) == 1 else ""
