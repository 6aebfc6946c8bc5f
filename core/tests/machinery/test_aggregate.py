import pytest

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.field import Path, required


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "[a, b]"),
        (["b", "a", "b"], "[b, a]"),
        (["a", "a"], "a"),
        ([required(Path("spec.x")), ValueError("no")], "[spec.x: Required value, no]"),
    ],
)
def test_one_error_stands_alone_and_several_stand_in_brackets(errors, text):
    assert aggregate(errors) == text
