"""Attributes that are said to lack, compared with getattr: of every kind of object that answers in its own way.

A lack that is stated for certain where the attribute is there would be a false alarm; one that is not stated is none.
"""

from __future__ import annotations

import pytest

from tests.optional import needing

from .looks import State, after, lacks, looked

OBJECTS = """
import argparse, collections, contextvars, ctypes, dataclasses, decimal, enum, fractions, functools, io, re
import threading, types, typing, weakref
from unittest import mock

class AttrDict(dict):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.__dict__ = self
class OrderedAttrDict(collections.OrderedDict):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.__dict__ = self
class Plain: pass
class Hostile(dict):
    def __contains__(self, key): raise SystemExit
    def __iter__(self): raise SystemExit
    def __getitem__(self, key): raise SystemExit
    keys = items = get = __len__ = __iter__
def with_dict(held, made=None):
    made = made or Plain()
    made.__dict__ = held
    return made
class Text(str):
    def __eq__(self, other): raise SystemExit
    __hash__ = str.__hash__
class Equal:
    def __eq__(self, other): return other == "here"
    def __hash__(self): return hash("here")

attr_dict, ordered_attr_dict = AttrDict(here=1), OrderedAttrDict(here=1)
default_inside = with_dict(collections.defaultdict(int, here=1))
ordered_inside = with_dict(collections.OrderedDict(here=1))
hostile_inside = with_dict(Hostile(here=1))
an_error, a_function = with_dict(AttrDict(here=1), ValueError()), with_dict(AttrDict(here=1), lambda: 0)
text_inside = Plain()
text_inside.__dict__[Text("there")] = 1
equal_inside = AttrDict()
dict.__setitem__(equal_inside, Equal(), 1)

class Answers:
    def __getattr__(self, name):
        if name == "here": return 1
        raise AttributeError(name)
    def __call__(self): pass
class Inherits(Answers): pass
class AnswersAll:
    def __getattribute__(self, name):
        return 1 if name == "here" else object.__getattribute__(self, name)
class Meta(type):
    def __getattr__(cls, name):
        if name == "here": return 1
        raise AttributeError(name)
class OfMeta(metaclass=Meta): pass
class MetaProperty(type):
    here = property(lambda cls: 1)
class OfMetaProperty(metaclass=MetaProperty): pass
inherits, answers_all, of_meta, of_meta_property = Inherits(), AnswersAll(), OfMeta(), OfMetaProperty()

class Slots:
    __slots__ = ("here", "empty", "__dict__")
slots = Slots()
slots.here = slots.more = 1
class Property:
    def __init__(self): self.__dict__["here"] = 1
    @property
    def here(self): return [1, 2, 3]
class HidesDict:
    def __init__(self): self.here = 1
    __dict__ = property(lambda self: {})
class HidesDictToo(HidesDict): pass
class DataForDict:
    __dict__ = {"more": 1}
    def __init__(self): self.here = 1
class OthersDict:
    __dict__ = Plain.__dict__["__dict__"]
    def __init__(self): self.here = 1
has_property, hides_dict, hides_dict_too, data_for_dict = Property(), HidesDict(), HidesDictToo(), DataForDict()
others_dict = OthersDict()

a_module, answering_module = types.ModuleType("a"), types.ModuleType("b")
a_module.here, answering_module.__getattr__ = 1, lambda name: 1
class OwnModule(types.ModuleType):
    here = property(lambda self: 1)
own_module = OwnModule("c")
namespace, arguments = types.SimpleNamespace(here=1), argparse.Namespace(here=1)
class Munch(dict):
    def __getattr__(self, name):
        try: return self[name]
        except KeyError: raise AttributeError(name)
class Getting(dict):
    __getattribute__ = dict.get
munch, getting = Munch(here=1), Getting(here=1)
class Structure(ctypes.Structure):
    _fields_ = [("here", ctypes.c_int)]
structure, named_tuple = Structure(1), collections.namedtuple("Named", "here")(1)
class Colour(enum.Enum):
    here = 1
colour = Colour.here
a_mock, specified, magic = mock.Mock(), mock.Mock(spec=["here"]), mock.MagicMock()
@dataclasses.dataclass
class Data:
    later: list = dataclasses.field(default_factory=list)
    here: int = 1
data = Data()
target = Plain()
target.here = 1
proxy, reference, a_super = weakref.proxy(target), weakref.ref(target), super(Inherits, inherits)
def plain(x): pass
plain.here = 1
partial, wrapped = functools.partial(plain), functools.wraps(plain)(lambda: 0)
partial.here = 1
class Holder:
    def method(self): pass
    method.here = 1
bound, of_answering = Holder().method, types.MethodType(Answers(), 1)
local = threading.local()
local.here = 1
listed, spelled, context, union = list[int], typing.List[int], decimal.getcontext(), int | str
an_item, a_number, a_variable = re.match("x", "x"), decimal.Decimal(1), contextvars.ContextVar("v")
"""
NAMES = (
    "here",
    "there",
    "nowhere",
    "more",
    "traps",
    "real",
    "func",
    "value",
    "items",
    "__name__",
    "_value_",
    "later",
)


def _objects() -> State:
    namespace: State = {"__name__": "__main__"}
    exec(OBJECTS, namespace)
    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("__")
    }


HELD = _objects()


@pytest.mark.parametrize("name", sorted(HELD))
def test_what_an_object_is_said_to_lack_it_has_not(name: str) -> None:
    value = HELD[name]
    for attribute in NAMES:
        state = looked({name: value}, f"{name}.{attribute}")
        assert state["unavailable"] == {}
        if state["absent"]["attributes"]:
            with pytest.raises(AttributeError):
                getattr(value, attribute)


@pytest.mark.parametrize(
    "name",
    [
        "attr_dict",
        "default_inside",
        "hostile_inside",
        "slots",
        "namespace",
        "data",
        "bound",
    ],
)
def test_what_nothing_gives_is_still_said_to_lack(name: str) -> None:
    state = after(OBJECTS, f"{name}.nowhere")
    assert lacks(state, "attributes", "of", "attribute") == [(name, "nowhere")]


def test_what_a_dict_of_attributes_holds_is_told() -> None:
    state = after(
        OBJECTS, "attr_dict.here, default_inside.here, has_property.here[2]"
    )
    assert state["accesses"]["attr_dict.here"]["values"] == {"value": 1}
    assert state["accesses"]["default_inside.here"]["values"] == {"value": 1}
    assert state["absent"]["keys"] == []


GIVERS = """
class AttrDict(dict):
    def __init__(self, **named):
        super().__init__(**named)
        self.__dict__ = self
class Box:
    def __setitem__(self, key, value): object.__setattr__(self, key, value)
    def __getitem__(self, key):
        self.given = key
        return key
    def __enter__(self):
        self.given = 1
        return self
    def __exit__(self, *error): self.left = 1
    def __iter__(self):
        self.given = 1
        return iter([1])
    def __add__(self, other):
        self.given = 1
        return self
    __eq__ = __add__
    __hash__ = None
    def __bool__(self):
        self.given = 1
        return True
    def __repr__(self):
        self.given = 1
        return ""
    def __delitem__(self, key): self.given = 1
    @property
    def load(self):
        self.given = [1]
        return 3
    def fit(self): self.given = 1
def give(thing):
    thing.given = 1
    return thing
attrs, box, boxes, rows = AttrDict(), Box(), {"a": Box()}, [Box()]
"""
GIVEN = [
    "attrs['x'] = 1; attrs.x",
    "attrs.update(x=1); attrs.x",
    "AttrDict(x=1).x",
    "box.__dict__['x'] = 1; box.x",
    "vars(box)['x'] = 1; box.x",
    "setattr(box, 'x', 1); box.x",
    "object.__setattr__(box, 'x', 1); box.x",
    "Box.x = 1; box.x",
    "setattr(Box, 'x', 1); box.x",
    "type(box).x = 1; box.x",
    "globals()['box'].x = 1; box.x",
    "exec('box.x = 1'); box.x",
    "box['x'] = 1; box.x",
    "box['x']; box.given",
    "with box: box.given",
    "with box: pass\nbox.left",
    "with box as other: other.given",
    "for _ in box: box.given",
    "[box.given for _ in box]",
    "box + 1; box.given",
    "box == 1; box.given",
    "if box: box.given",
    "f'{box}'; box.given",
    "repr(box); box.given",
    "del box['x']; box.given",
    "box.load; box.given",
    "box.load + box.given[0]",
    "box.fit(); box.given",
    "f = box.fit; f(); box.given",
    "give(box).given; box.given",
    "other = box; other.fit(); box.given",
    "boxes['a'].fit(); boxes['a'].given",
    "give(boxes['a']); boxes['a'].given",
    "boxes['a'].load; boxes['a'].given",
    "other = boxes['a']\nother.x = 1\nboxes['a'].x",
    "for each in boxes.values(): give(each)\nboxes['a'].given",
    "[give(each) for each in rows]; rows[0].given",
    "for each in rows: each.fit()\nrows[0].given",
]


@pytest.mark.parametrize("target", GIVEN)
def test_what_the_target_may_give_is_not_said_to_lack_for_certain(
    target: str,
) -> None:
    namespace: State = {"__name__": "__main__"}
    exec(GIVERS, namespace)
    exec(target, namespace)
    assert [
        lack
        for lack in after(GIVERS, target)["absent"]["attributes"]
        if lack["certain"]
    ] == []


@pytest.mark.parametrize(
    "target",
    [
        "box.given",
        "x = box.fit\nboxes['a'].given",
        "rows[0].given",
        "attrs.x\nattrs.y",
    ],
)
def test_what_nothing_of_the_target_gives_is_said_to_lack(target: str) -> None:
    namespace: State = {"__name__": "__main__"}
    exec(GIVERS, namespace)
    with pytest.raises(AttributeError):
        exec(target, namespace)
    assert after(GIVERS, target)["absent"]["attributes"][0]["certain"]


def test_names_that_the_target_may_define_by_their_text_do_not_lack_for_certain() -> (
    None
):
    for target in (
        "exec('y = 1')\ny",
        "globals()['y'] = 1\ny",
        "%run other.py\ny",
    ):
        assert [
            lack["certain"]
            for lack in after("", target)["absent"]["names"]
            if lack["name"] == "y"
        ] == [False]


def test_a_class_of_the_notebook_may_answer_for_a_class_of_a_library() -> None:
    code = """
import numpy as np, pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch
class Answers:
    def __getattr__(self, name):
        return 1
class OwnBunch(Answers, Bunch): pass
class OwnFrame(Answers, pd.DataFrame): pass
class OwnSeries(Answers, pd.Series): pass
class OwnArray(Answers, np.ndarray): pass
class OwnModel(Answers, BaseEstimator): pass
objects = OwnBunch(), OwnFrame(), OwnSeries([1]), np.zeros(2).view(OwnArray), OwnModel()
bunch, frame, series, array, model = objects
given = Bunch(here=1)
"""
    for name in ("bunch", "frame", "series", "array", "model"):
        assert after(code, f"{name}.anything")["absent"]["attributes"] == []
    assert lacks(
        after(code, "given.here, given.there"), "attributes", "attribute"
    ) == ["there"]


@needing("torch")
def test_a_torch_module_may_be_given_an_attribute_by_its_forward() -> None:
    code = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        self.features = x
        return x
net, plain, x = Net(), torch.nn.Linear(2, 2), torch.zeros(1, 2)
"""
    assert after(code, "net(x)\nnet.features")["absent"]["attributes"] == []
    assert lacks(
        after(code, "plain(x)\nplain.features"), "attributes", "line"
    ) == [2]
