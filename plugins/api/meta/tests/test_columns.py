"""The columns of a table."""

from hyperkube_api.meta.columns import AGE, NAME, column

from hyperkube.hookspecs.api import Column


def test_a_column_is_of_strings_and_always_shown():
    assert column("Status") == Column("Status", type="string", format="", description="", priority=0, field="")


def test_a_column_says_what_it_shows_or_brings_a_description():
    count = column("Count", type="integer", field="status.count")
    state = column("State", priority=1, description="How it is.")

    assert (count.type, count.field, count.description) == ("integer", "status.count", "")
    assert (state.priority, state.field, state.description) == (1, "", "How it is.")


def test_the_column_of_names_is_marked_as_such():
    assert (NAME.name, NAME.type, NAME.format) == ("Name", "string", "name")
    assert (AGE.name, AGE.type, AGE.format) == ("Age", "string", "")
