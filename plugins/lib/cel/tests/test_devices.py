import pytest
from hyperkube_lib.cel.admission import WrongExpression
from hyperkube_lib.cel.devices import compile_selector


def test_a_selector_asks_about_a_device():
    program = compile_selector("device.driver == 'd' && device.attributes['d'].numa == 1")

    assert program.evaluate({"device": {"driver": "d", "attributes": {"d": {"numa": 1}}}})


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("device.nothing", "compilation failed: ERROR: <input>:1:7: undefined field 'nothing'"),
        ("device.driver", "must evaluate to bool but got string"),
    ],
)
def test_what_is_no_question_about_one_is_refused(source, text):
    with pytest.raises(WrongExpression) as caught:
        compile_selector(source)

    assert str(caught.value).startswith(text)
