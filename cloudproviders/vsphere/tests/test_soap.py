"""Sessions, faults and rubbish: what a vCenter's answers are taken for."""

import sys
import threading

import pytest
from hyperkube_cloud.vsphere.soap import Session, body_tag
from hyperkube_testing.rest_cloud import answer
from pyVmomi import vim, vmodl

from hyperkube.hookspecs.cloud import CloudFailed, CloudThrottled, CloudUnavailable, DiskRequest
from hyperkube.machinery.errors import HyperkubeError

HEAD = b'<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>'
TAIL = b"</soapenv:Body></soapenv:Envelope>"
FOUND = b'<FindByUuidResponse xmlns="urn:vim25"/>'


def enveloped(body):
    return HEAD + body + TAIL


@pytest.fixture
def node(double):
    return double.machine(double.hosts[0][0])


RUBBISH = {
    "a page": (200, b"<html><body>it works</body></html>"),
    "a page in an envelope": (200, enveloped(b"<html/>")),
    "an empty body": (200, enveloped(b"")),
    "two bodies": (200, enveloped(FOUND + FOUND)),
    "half an answer": (200, enveloped(FOUND)[:-20]),
    "the answer of another method": (200, enveloped(b'<LogoutResponse xmlns="urn:vim25"/>')),
    "the answer of another service": (200, enveloped(FOUND.replace(b"urn:vim25", b"urn:pbm"))),
    "an answer as a failure": (500, enveloped(FOUND)),
    "a fault as a success": (200, enveloped(b"<soapenv:Fault><faultstring>x</faultstring></soapenv:Fault>")),
    "a fault that tells nothing": (500, enveloped(b"<soapenv:Fault><faultstring>x</faultstring></soapenv:Fault>")),
    "a fault of a type that is none": (500, enveloped(
        b'<soapenv:Fault><detail><NoneSuchFault xmlns="urn:vim25"/></detail></soapenv:Fault>')),
    "a machine of a type that is none": (200, enveloped(
        b'<FindByUuidResponse xmlns="urn:vim25"><returnval type="Spoon">s-1</returnval></FindByUuidResponse>')),
    "a folder for a machine": (200, enveloped(
        b'<FindByUuidResponse xmlns="urn:vim25"><returnval type="Folder">group-1</returnval></FindByUuidResponse>')),
    "entities": (200, b'<!DOCTYPE x [<!ENTITY a "aa">]>' + enveloped(FOUND)),
    "depth": (200, HEAD + b"<a>" * 200_000),
    "no XML": (200, b"{}"),
    "a redirect": (302, b""),
    "a proxy's 404": (404, b"<html>not found</html>"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUBBISH)
def test_rubbish_is_no_word_that_a_machine_is_gone(double, cloud, node, name):
    assert cloud.instances.exists(node)

    with double.answering(answer(*RUBBISH[name])), pytest.raises(CloudUnavailable):
        cloud.instances.exists(node)


def test_a_list_without_an_end_is_given_up(double, cloud):
    row = vmodl.query.PropertyCollector.ObjectContent(obj=double.root)
    double.do_retrieve_properties_ex = lambda *_, **__: vmodl.query.PropertyCollector.RetrieveResult(
        objects=[row], token="t"
    )
    double.do_continue_retrieve_properties_ex = double.do_retrieve_properties_ex

    with pytest.raises(CloudUnavailable, match="an earlier one as the next"):
        cloud.disks.create(DiskRequest(name="pvc-1", size=1))


def test_an_envelope_is_read_to_its_end():
    assert body_tag(enveloped(FOUND)) == "urn:vim25 FindByUuidResponse"
    assert body_tag(enveloped(FOUND) + b"<more/>") == ""


def test_a_property_that_may_not_be_read_is_no_missing_one(double, cloud, node):
    missing = vmodl.query.PropertyCollector.MissingProperty(
        path="runtime.powerState", fault=vim.fault.NoPermission(object=double.root, privilegeId="System.Read")
    )
    row = vmodl.query.PropertyCollector.ObjectContent(obj=double.ref_of(node), missingSet=[missing])
    double.do_retrieve_properties_ex = lambda *_, **__: vmodl.query.PropertyCollector.RetrieveResult(objects=[row])

    with pytest.raises(CloudFailed, match=r"runtime.powerState of vm-1: NoPermission"):
        cloud.instances.is_shut_down(node)


def test_a_session_that_has_expired_is_renewed_once(double, cloud, node):
    assert cloud.instances.metadata(node).zone == "zone-0"
    double.sessions.clear()

    assert cloud.instances.exists(node)
    assert [method for method, _, _ in double.sent].count("Login") == 2

    double.do_login = lambda *_, **__: double_session(double)
    double.sessions.clear()
    with pytest.raises(CloudUnavailable, match="FindByUuid: the new session is refused"):
        cloud.instances.exists(node)


def double_session(double):
    """Return a session that the vCenter forgets at once."""
    made = type(double).do_login(double, "", user_name="administrator@vsphere.local", password="secret-of-the-test")
    double.sessions.clear()
    return made


def test_of_many_that_find_a_session_expired_one_logs_in():
    session, logins = Session(), []
    gate = threading.Barrier(8)

    def log_in():
        logins.append(1)
        return f"cookie-{len(logins)}"

    def renew():
        gate.wait()
        assert session.renewed("old", log_in) == "cookie-1"

    session.cookie = "old"
    threads = [threading.Thread(target=renew) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(logins) == 1


def test_a_login_that_is_refused_tells_no_secret(double, tmp_path, node):
    vmware = sys.modules["vsphere_vmware"]
    wrong = vmware.CONFIG.replace("password = secret-of-the-test", "password = other-of-the-test")
    instances = vmware.provider(vmware.built(double, tmp_path, wrong)).instances

    with pytest.raises(
        CloudUnavailable, match=r"Login: the vCenter refuses user or password \(InvalidLogin\)"
    ) as raised:
        instances.exists(node)
    assert raised.value.__cause__ is None
    assert "of-the-test" not in str(double.sent)


def test_tags_have_a_session_of_their_own_that_is_renewed(double, cloud, node):
    cloud.instances.metadata(node)
    double.sessions = {each for each in double.sessions if not each.startswith("rest-")}
    cloud.instances._zones._read.clear()

    assert cloud.instances.metadata(node).zone == "zone-0"
    assert [path for _, path, _ in double.sent].count("/rest/com/vmware/cis/session") == 2


@pytest.mark.parametrize(
    "rubbish",
    [
        answer(200, {}),
        answer(200, {"value": [{}]}),
        answer(200, {"value": "x"}),
        answer(404, b"<html/>"),
        answer(401, b""),
    ],
    ids=["nothing", "no tags", "a word", "a page", "no session"],
)
def test_rubbish_in_place_of_tags_gives_no_zone(double, cloud, node, rubbish):
    play = double.answered
    double.answered = lambda method, path, body: rubbish if path.startswith("/rest/") else play(method, path, body)

    with pytest.raises(HyperkubeError):
        cloud.instances.metadata(node)


def test_the_plugin_ends_its_sessions(double, built, cloud, node):
    cloud.instances.metadata(node)
    assert len(double.sessions) == 2

    built.close()

    assert double.sessions == set()


def test_a_vcenter_that_is_away_does_not_hold_up_the_end(double, built, cloud, node):
    cloud.instances.metadata(node)

    with double.answering(answer(503, b"")):
        built.close()


def test_a_vcenter_that_wants_fewer_calls_says_when(double, cloud, node):
    with double.answering(answer(503, b"", retry_after="9")), pytest.raises(CloudThrottled) as raised:
        cloud.instances.exists(node)

    assert raised.value.retry_after == 9
