"""One vCenter: its inventory, its tasks, and where its services are.

Source: vSphere Web Services API reference (SearchIndex, PropertyCollector, Task); govmomi ``property``, ``find``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from hyperkube_cloud.vsphere.config import VCenterConfig
from hyperkube_cloud.vsphere.credentials import Credentials
from hyperkube_cloud.vsphere.sign_on import TokenService, is_certificate
from hyperkube_cloud.vsphere.soap import VERSION, ObjectGone, Session, SoapStub, refusal
from hyperkube_lib.cloud_provider.rest import Send
from pyVmomi import VmomiSupport, vim, vmodl

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, RetryLater
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.pages import EndlessList, all_pages

Properties = dict[str, Any]
"""A managed object's properties by their path."""
_COLLECTOR: Final = vmodl.query.PropertyCollector
_PAGE: Final = 1000
POLL: Final = 1.0
LONGEST: Final = 120
AGAIN: Final = 30.0
"""Seconds between looks at a task, looks, and seconds after which the caller is to come back."""


def ident(ref: Any) -> str:
    """Return a managed object's id, ``vm-12``."""
    return str(ref._moId)  # noqa: SLF001 - pyVmomi offers no other name for it


def kind(ref: Any) -> str:
    """Return the name of its type on the wire, ``VirtualMachine``."""
    return str(type(ref)._wsdlName)  # noqa: SLF001 - likewise


class VCenter:
    """Calls of one vCenter; thread-safe."""

    def __init__(self, send: Send, config: VCenterConfig, credentials: Credentials, clock: Clock) -> None:
        self.config = config
        self._send, self._credentials, self._clock = send, credentials, clock
        self._session, self._tokens = Session(), TokenService(send, config.url)
        self.stub = self.service("/sdk")
        self._known: Any = None

    def service(self, path: str, version: str = VERSION) -> SoapStub:
        """Return how the objects of a service at a path are called, in the one session."""
        return SoapStub(self._send, f"{self.config.url}{path}", self._session, self._log_in, version)

    @property
    def content(self) -> Any:
        """Where the vCenter's managers are: `vim.ServiceInstanceContent`."""
        if self._known is None:
            found = vim.ServiceInstance("ServiceInstance", self.stub).RetrieveServiceContent()
            if found is None or found.propertyCollector is None or found.sessionManager is None:
                raise CloudUnavailable("RetrieveServiceContent: answered with what is no vCenter")
            self._known = found
        return self._known

    def _log_in(self) -> str:
        manager = self.content.sessionManager
        user, password = self._credentials.read()
        if is_certificate(user):
            return self.stub.log_in_by_token(manager, self._tokens.issue(user, password))
        return self.stub.log_in(manager, user, password)

    def log_out(self) -> None:
        """End the session, if there is one: a vCenter has room for a limited number of them."""
        if not self._session.cookie:
            return
        try:
            self.content.sessionManager.Logout()
        except (CloudFailed, OSError):
            return  # it ends by itself

    def datacenters(self) -> Sequence[Any]:
        """Return the datacenters that are searched; None in place of all.

        Raises:
            CloudFailed: there is none of a name: a mistake in the file, and no word about machines.
        """
        return [self.datacenter(name) for name in self.config.datacenters] or [None]

    def datacenter(self, path: str) -> Any:
        """Return the datacenter of a path, or of a name.

        Raises:
            CloudFailed: there is none.
        """
        found = self.content.searchIndex.FindByInventoryPath(path.strip("/"))
        if not isinstance(found, vim.Datacenter):
            raise CloudFailed(f"vCenter {self.config.server!r} has no datacenter {path!r}")
        return found

    def by_uuid(self, uuid: str) -> Any:
        """Return the machine of a BIOS uuid, None if there is none."""
        index = self.content.searchIndex
        return self._first(lambda where: index.FindByUuid(where, uuid, True, False))

    def by_name(self, name: str) -> Any:
        """Return the machine whose guest has that host name, None if there is none."""
        index = self.content.searchIndex
        return self._first(lambda where: index.FindByDnsName(where, name, True))

    def by_address(self, address: str) -> Any:
        """Return the machine whose guest has that address, None if there is none."""
        index = self.content.searchIndex
        return self._first(lambda where: index.FindByIp(where, address, True))

    def _first(self, find: Callable[[Any], Any]) -> Any:
        for where in self.datacenters():
            found = find(where)
            if isinstance(found, vim.VirtualMachine):
                return found
            if found is not None:
                raise CloudUnavailable(f"a {kind(found)} is told where a machine is looked for")
        return None

    def properties(self, ref: Any, *paths: str) -> Properties:
        """Return some properties of one object; those that are unset are left out.

        Raises:
            ObjectGone: there is no such object.
            CloudFailed: one may not be read.
        """
        for _ref, found in self._collected([_COLLECTOR.ObjectSpec(obj=ref)], {type(ref): paths}):
            return found
        raise CloudUnavailable(f"RetrievePropertiesEx: nothing is said of {ident(ref)}")

    def walk(
        self, root: Any, ways: Mapping[str, tuple[type, str, Sequence[str]]], wanted: Mapping[type, Sequence[str]]
    ) -> Iterator[tuple[Any, Properties]]:
        """Yield the objects that ways lead to from a root, and their properties.

        Args:
            root: where to begin.
            ways: name → type, property that leads on, and names of the ways to go on with.
            wanted: the properties to be read, by type.
        """
        way = _COLLECTOR.TraversalSpec
        steps = [
            way(
                name=name,
                type=of,
                path=path,
                skip=False,
                selectSet=[_COLLECTOR.SelectionSpec(name=each) for each in on],
            )
            for name, (of, path, on) in ways.items()
        ]
        yield from self._collected([_COLLECTOR.ObjectSpec(obj=root, skip=False, selectSet=steps)], wanted)

    def _collected(
        self, objects: Iterable[Any], wanted: Mapping[type, Sequence[str]]
    ) -> Iterator[tuple[Any, Properties]]:
        collector = self.content.propertyCollector
        sets = [_COLLECTOR.PropertySpec(type=of, all=False, pathSet=list(paths)) for of, paths in wanted.items()]
        asked = _COLLECTOR.FilterSpec(objectSet=list(objects), propSet=sets)

        def read(token: str) -> tuple[Iterable[Any], str]:
            if token:
                found = collector.ContinueRetrievePropertiesEx(token)
            else:
                found = collector.RetrievePropertiesEx([asked], _COLLECTOR.RetrieveOptions(maxObjects=_PAGE))
            return (found.objects, str(found.token or "")) if found is not None else ((), "")

        try:
            for row in all_pages(read):
                for hidden in row.missingSet:
                    raise refusal(f"{hidden.path} of {ident(row.obj)}", hidden.fault)
                yield row.obj, {each.name: each.val for each in row.propSet}
        except EndlessList as error:
            raise CloudUnavailable(f"RetrievePropertiesEx: {error}") from None

    def done(self, task: Any, what: str) -> Any:
        """Return a task's result once it has ended.

        Raises:
            Fault: it ended in one.
            RetryLater: it is still under way.
        """
        for _ in range(LONGEST):
            try:
                info = self.properties(task, "info").get("info")
            except ObjectGone:
                raise RetryLater(f"{what}: the vCenter has forgotten the task", AGAIN) from None
            if info is not None and info.state == vim.TaskInfo.State.success:
                return info.result
            if info is not None and info.state == vim.TaskInfo.State.error:
                raise refusal(what, info.error or vmodl.RuntimeFault())
            self._clock.sleep(POLL)
        raise RetryLater(f"{what} is still under way", AGAIN)


def long(number: int) -> Any:
    """Return a number as what pyVmomi writes as ``xsd:long``."""
    return VmomiSupport.long(number)
