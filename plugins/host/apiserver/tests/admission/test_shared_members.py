"""A changed object may have members of the stored one until the first hook that may change it is called."""

import pytest
from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.admission.shared_members import before_changes, end_sharing, part_spec, share, text_of

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.users import UserInfo

OLD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"nodeName": "n"}, "status": {"a": ["b"]}}


class Changes:
    """Changes the specification unless it is idle."""

    def __init__(self, *, idle):
        self.idle = idle

    def is_idle(self, _request):
        return self.idle

    def admission_mutate(self, request):
        request.object["spec"]["nodeName"] = "other"


class Refuses:
    """Looks at the specification."""

    only_refuses = True
    seen = None

    def admission_mutate(self, request):
        self.seen = request.object["spec"]


class Noted:
    """Calls a function when all of an object is noted; takes any text."""

    def __init__(self, note, text=None):
        self.note, self.text = note, text

    def note_spec(self, text):
        self.text = text
        return True


@pytest.fixture
def asked():
    asked = AdmissionRequest(
        operation="UPDATE",
        resource=PODS,
        kind=GroupVersionKind("", "v1", "Pod"),
        namespace="default",
        name="p",
        user=UserInfo("u"),
        object={**OLD, "metadata": {"name": "p"}},
        old_object=OLD,
        may=lambda *_, **__: True,
    )
    share(asked)
    return asked


def test_where_no_hook_is_called_they_stay_those_of_the_stored_object(asked):
    AdmissionChain([Changes(idle=True).admission_mutate]).mutate(asked)

    assert asked.object["spec"] is OLD["spec"]
    assert end_sharing(asked)


def test_a_hook_changes_copies(asked):
    AdmissionChain([Changes(idle=False).admission_mutate]).mutate(asked)

    assert OLD["spec"] == {"nodeName": "n"}
    assert asked.object["spec"] == {"nodeName": "other"}
    assert asked.object["status"] == OLD["status"]
    assert asked.object["status"] is not OLD["status"]
    assert not end_sharing(asked)


def test_a_hook_that_only_refuses_sees_them(asked):
    plugin = Refuses()

    AdmissionChain([plugin.admission_mutate]).mutate(asked)

    assert plugin.seen is OLD["spec"]
    assert end_sharing(asked)


def test_without_the_note_a_hook_gets_what_it_was_given(asked):
    end_sharing(asked)
    asked.object["spec"] = own = {"nodeName": "n"}
    AdmissionChain([Changes(idle=False).admission_mutate]).mutate(asked)

    assert asked.object["spec"] is own


@pytest.mark.parametrize(("idle", "noted"), [(True, []), (False, ["n"])], ids=["idle", "called"])
def test_the_object_is_noted_before_the_first_hook_that_may_change_it(asked, idle, noted):
    seen = []
    before_changes(asked, Noted(lambda: seen.append(asked.object["spec"]["nodeName"])))

    AdmissionChain([Refuses().admission_mutate, *[Changes(idle=idle).admission_mutate] * 2]).mutate(asked)

    assert seen == noted


@pytest.mark.parametrize(
    ("text", "known", "noted"), [(b"after", b"after", []), (b"", None, [True])], ids=["told", "not"]
)
def test_where_the_specification_alone_is_changed_the_text_is_the_one_that_is_told(asked, text, known, noted):
    seen = []
    before_changes(asked, Noted(lambda: seen.append(True), b"before"))

    part_spec(asked, text)

    assert (text_of(asked), seen) == (known, noted)


def test_the_text_of_what_hooks_may_have_changed_is_not_known(asked):
    before_changes(asked, Noted(lambda: None, b"before"))
    assert text_of(asked) == b"before"

    AdmissionChain([Changes(idle=False).admission_mutate]).mutate(asked)

    assert text_of(asked) is None
