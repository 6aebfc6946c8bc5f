"""Classes of `hyperkube.machinery.dataclass` behave like those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
import sys
from typing import ClassVar, Generic, TypeVar

import pytest

from hyperkube.machinery.dataclass import dataclass

T = TypeVar("T")


class _Fields:
    """What both decorators are given below."""

    first: int
    second: str = "two"
    third: list[int] = dataclasses.field(default_factory=list, hash=False)
    quiet: int = dataclasses.field(default=0, repr=False, compare=False)
    _count: int = dataclasses.field(default=7, init=False)
    KNOWN: ClassVar[int] = 3

    def doubled(self) -> int:
        """Return twice the first."""
        return 2 * self.first


def _class(decorator, **options):
    copied = {name: value for name, value in vars(_Fields).items() if name not in {"__dict__", "__weakref__"}}
    copied |= {name: copy.copy(value) for name, value in copied.items() if isinstance(value, dataclasses.Field)}
    return decorator(slots=True, **options)(type("Same", (), copied))


OPTIONS = [{}, {"frozen": True}, {"kw_only": True}, {"frozen": True, "kw_only": True}, {"frozen": True, "eq": False}]


@pytest.fixture(params=OPTIONS, ids=str)
def pair(request):
    """The same class by the standard library and by us."""
    return _class(dataclasses.dataclass, **request.param), _class(dataclass, **request.param)


def test_constructors_have_the_same_parameters_and_types(pair):
    theirs, ours = (inspect.signature(cls) for cls in pair)

    assert [(each.name, each.kind) for each in ours.parameters.values()] == [
        (each.name, each.kind) for each in theirs.parameters.values()
    ]
    assert [each.annotation for each in ours.parameters.values()] == [
        each.annotation for each in theirs.parameters.values()
    ]


@pytest.mark.parametrize("given", [{"first": 1}, {"first": 1, "second": "b", "third": [4], "quiet": 5}], ids=str)
def test_instances_hold_and_show_the_same(pair, given):
    theirs, ours = (cls(**given) for cls in pair)

    assert repr(ours) == repr(theirs)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert ours.doubled() == 2
    assert ours.KNOWN == 3
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize("given", [(), (1, "b", [], 0, 9)], ids=str)
def test_arguments_that_do_not_fit_are_refused_in_the_same_words(pair, given):
    said = []
    for cls in pair:
        with pytest.raises(TypeError) as refused:
            cls(*given)
        said.append(str(refused.value))

    assert said[0] == said[1]


def test_they_compare_and_hash_alike(pair):
    def facts(cls):
        one, same, other = cls(first=1), cls(first=1, quiet=9), cls(first=2)
        hashable = cls.__hash__ is not None
        return one == same, one == other, one == 1, hashable and hash(one) == hash(same)

    theirs, ours = pair

    assert facts(ours) == facts(theirs)


def test_a_default_factory_is_asked_for_every_instance(pair):
    _, ours = pair

    assert ours(first=1).third is not ours(first=1).third


def test_they_are_copied_pickled_and_replaced(pair, monkeypatch):
    _, ours = pair
    monkeypatch.setattr(sys.modules[__name__], "Same", ours, raising=False)
    ours.__module__ = __name__
    made = ours(first=1, third=[2])

    copies = [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), dataclasses.replace(made)]

    assert {repr(each) for each in copies} == {repr(made)}
    assert dataclasses.replace(made, first=5).first == 5


def test_frozen_ones_refuse_to_change():
    made = _class(dataclass, frozen=True)(first=1)

    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'first'"):
        made.first = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
        del made.first
    assert made.first == 1


def test_the_standard_library_knows_their_fields_before_any_instance():
    cls = _class(dataclass, frozen=True)

    assert dataclasses.is_dataclass(cls)
    assert [field.name for field in dataclasses.fields(cls)] == ["first", "second", "third", "quiet", "_count"]
    assert dataclasses.fields(cls)[3].repr is False


def test_fields_are_inherited_either_way():
    @dataclass(slots=True)
    class Base:
        a: int
        b: int = 2

    @dataclass(slots=True)
    class Ours(Base):
        b: int = 3
        c: int = 4

    @dataclasses.dataclass(slots=True)
    class Theirs(Base):
        c: int = 4

    @dataclass(slots=True)
    class Again(Theirs):
        d: int = 5

    assert repr(Ours(1)).endswith("Ours(a=1, b=3, c=4)")
    assert repr(Theirs(1)).endswith("Theirs(a=1, b=2, c=4)")
    assert repr(Again(1)).endswith("Again(a=1, b=2, c=4, d=5)")
    assert Ours(1) != Base(1, 3)


def test_plain_subclasses_and_methods_of_its_own_stay():
    @dataclass(frozen=True, slots=True)
    class Named(Generic[T]):
        name: str
        value: T

        def __post_init__(self):
            object.__setattr__(self, "name", self.name.upper())

        def __repr__(self):
            return self.name

    class Plain(Named[int]):
        """Adds nothing."""

    assert repr(Plain("x", 1)) == "X"
    assert Plain("x", 1) != Named("x", 1)
    assert hash(Named("x", 1)) == hash(Named("X", 1))


def test_a_class_with_an_equality_of_its_own_is_hashed_by_its_fields():
    for decorator in (dataclasses.dataclass, dataclass):

        @decorator(frozen=True, slots=True)
        class Folded:  # noqa: PLW1641  the decorator adds the hash
            name: str

            def __eq__(self, other):
                return self.name.lower() == other.name.lower()

        assert Folded("x") == Folded("X")
        assert hash(Folded("x")) == hash(Folded("x"))


def test_what_contains_itself_can_be_shown():
    @dataclass(slots=True)
    class Node:
        next: object = None

    node = Node()
    node.next = node

    assert repr(node).endswith("Node(next=...)")


def test_patterns_match_by_position():
    match _class(dataclass, frozen=True)(1, "b"):
        case object(first=first, second=second):
            assert (first, second) == (1, "b")
    assert _class(dataclass).__match_args__ == ("first", "second", "third", "quiet")
    assert _class(dataclass, kw_only=True).__match_args__ == ()


def test_what_it_cannot_do_is_refused():
    with pytest.raises(TypeError, match="slots"):
        dataclass(frozen=True)
    with pytest.raises(TypeError, match="order"):
        dataclass(slots=True, order=True)
    with pytest.raises(TypeError, match="InitVar"):

        @dataclass(slots=True)
        class _WithInitVar:
            a: dataclasses.InitVar[int]

    with pytest.raises(ValueError, match="mutable default"):

        @dataclass(slots=True)
        class _Mutable:
            a: list[int] = []  # noqa: RUF012  as a careless author has it

    with pytest.raises(TypeError, match="non-default argument 'b' follows default argument 'a'"):

        @dataclass(slots=True)
        class _Order:
            a: int = 1
            b: int
