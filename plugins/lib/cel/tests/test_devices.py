import pytest
from hyperkube_lib.cel.admission import WrongExpression
from hyperkube_lib.cel.devices import compile_selector, device_value


def test_a_selector_asks_about_a_device():
    program = compile_selector("device.driver == 'd' && device.attributes['d'].numa == 1")

    assert program.evaluate({"device": {"driver": "d", "attributes": {"d": {"numa": 1}}}})


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("device.nothing", "compilation failed: ERROR: <input>:1:7: undefined field 'nothing'"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
    ],
)
def test_what_is_no_question_about_one_is_refused(source, text):
    with pytest.raises(WrongExpression) as caught:
        compile_selector(source)

    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("value", [True, False])
def test_the_answer_may_be_an_attribute(value):
    program = compile_selector("device.attributes['d'].healthy")

    assert program.evaluate({"device": {"attributes": {"d": {"healthy": value}}}}) is value


DEVICE = {
    "attributes": {"numa": {"int": 1}, "other.example/kind": {"string": "a"}, "firmware": {"version": "1.10.0"}},
    "capacity": {"memory": {"value": "40Gi"}},
}


@pytest.mark.parametrize(
    "source",
    [
        "device.attributes['d.example'].numa == 1",
        "device.attributes['other.example'].kind == 'a'",
        "device.capacity['d.example'].memory.compareTo(quantity('32Gi')) > 0",
        "device.attributes['d.example'].firmware.isGreaterThan(semver('1.9.0'))",
        "!has(device.attributes['unknown.example'].numa)",
    ],
)
def test_a_device_of_a_slice_is_seen_by_domain(source):
    assert compile_selector(source).evaluate({"device": device_value("d.example", DEVICE)}) is True
