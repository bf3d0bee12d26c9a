"""The attribute dict itself of an object whose class has no slots: layers, of which a model has hundreds.

Knows what anatomy.instance_dict knows, without the slots and without a copy; it is read-only.
"""

from __future__ import annotations

import types
from typing import Any, Mapping

from .anatomy import class_dict, mro_of

_EMPTY: Mapping[str, Any] = types.MappingProxyType({})


def own_dict(value: Any) -> Mapping[str, Any]:
    """The attributes that the object itself holds; empty if it has no dict."""
    for kind in mro_of(type(value)):
        descriptor = class_dict(kind).get("__dict__")
        # A slot named `__dict__`, or a property, is left to anatomy.instance_dict.
        if type(descriptor) is types.GetSetDescriptorType:
            held: dict[str, Any] = descriptor.__get__(value)
            return held if type(held) is dict else _EMPTY
    return _EMPTY
