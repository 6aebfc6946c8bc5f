"""What a call comes to: a plain function, one whose name has dots, or a method."""

import pytest
from hyperkube_lib.cel.checker import check
from hyperkube_lib.cel.functions import Functions
from hyperkube_lib.cel.library.lists import LISTS
from hyperkube_lib.cel.library.operators import OPERATORS
from hyperkube_lib.cel.library.strings import STRINGS
from hyperkube_lib.cel.parser import parse
from hyperkube_lib.cel.types import DYN

FUNCTIONS = Functions(one for library in (OPERATORS, STRINGS, LISTS) for one in library.overloads)


@pytest.mark.parametrize(
    ("source", "names", "called"),
    [
        ("size('a')", (), ("size", False, 1)),
        (".size('a')", (), ("size", False, 1)),
        ("'a'.size()", (), ("size", True, 1)),
        ("'a'.contains('b')", (), ("contains", True, 2)),
        ("sets.contains([1], [1])", (), ("sets.contains", False, 2)),
        ("sets.contains('b')", ("sets",), ("contains", True, 2)),
    ],
)
def test_what_a_call_comes_to(source, names, called):
    node = parse(source)

    found = check(source, node, dict.fromkeys(names, DYN), FUNCTIONS, lambda _name: None).invocation(node)

    assert (found.name, found.is_method, len(found.given)) == called
