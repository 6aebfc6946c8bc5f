import pytest

from hyperkube.machinery.booleans import parse_bool


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (("1", "t", "T", "true", "True", "TRUE"), True),
        (("0", "f", "F", "false", "False", "FALSE"), False),
        (("", "yes", "tRUE", "2", " true"), None),
    ],
)
def test_texts_are_read_as_go_reads_them(texts, value):
    assert [parse_bool(text) for text in texts] == [value] * len(texts)
