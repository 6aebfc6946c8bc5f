"""Finding a schema by its name."""

import sys
import threading
from types import ModuleType

import pytest

from hyperkube.machinery.schema.reference import resolve

SLOW = """
import slow_schema_gate
slow_schema_gate.entered.set()
assert slow_schema_gate.opened.wait(60)

from hyperkube.machinery.schema import KubeSchema

class Late(KubeSchema):
    "A schema that takes its time."
"""


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Make the module ``slow_schema``, whose import goes on when the gate is opened."""
    gate = ModuleType("slow_schema_gate")
    gate.entered, gate.opened = threading.Event(), threading.Event()
    monkeypatch.setitem(sys.modules, "slow_schema_gate", gate)
    (tmp_path / "slow_schema.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    yield gate
    gate.opened.set()
    sys.modules.pop("slow_schema", None)


def test_a_module_that_another_thread_is_importing_is_waited_for(gate):
    found = []

    def look():
        try:
            found.append(resolve("slow_schema:Late").__name__)
        except LookupError as error:
            found.append(error)

    first, second = threading.Thread(target=look), threading.Thread(target=look)
    first.start()
    assert gate.entered.wait(60)
    second.start()
    second.join(0.2)
    answered_too_early = list(found)
    gate.opened.set()
    first.join()
    second.join()

    assert answered_too_early == []
    assert found == ["Late", "Late"]


@pytest.mark.parametrize("name", ["no_such_package.v1:Pod", "hyperkube_api.core.v1:NoSuchKind", "json:loads"])
def test_a_name_of_nothing_is_refused(name):
    with pytest.raises(LookupError, match=name):
        resolve(name)
