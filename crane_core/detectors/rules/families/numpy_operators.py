"""Operators between arrays, numbers and lists: shapes that meet, kinds of values that an operator takes."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.families.numpy_things import (
    ARRAY,
    all_told,
    array,
    dtype_of,
    is_array,
    is_number,
    kind_of,
    misfits,
    promoted,
    refuse_read_only,
    shape_of,
    told,
    values_changed,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.shapes import Shape, broadcast, matmul
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("numpy: operators")
_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**")
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_BITS: Final = ("&", "|", "^", "<<", ">>")
_ELEMENTWISE: Final = (*_ARITHMETIC, *_BITS, *_COMPARISONS)
_REMEDY: Final = "give both shapes that broadcast: a slice, a reshape, or a new axis (x[:, None])"


@RULES.operator(ARRAY, *_ELEMENTWISE)
def element_by_element(site: Site) -> Thing | None:
    left, right = site.receiver or Thing(), site.first
    if site.name not in _ELEMENTWISE:
        # A rule for "*" is asked for every operator.
        return None
    if left.is_a("pandas", "Series", "DataFrame") or right.is_a("pandas", "Series", "DataFrame"):
        # An array leaves it to them.
        return None
    if not _is_numpys(left) or not _is_numpys(right):
        return None if not (left.type and right.type) else Thing()
    _are_of_kinds(site, left, right)
    shape = _common(site, left, right)
    dtype = "bool" if site.name in _COMPARISONS else _result(site.name, left, right)
    return array(shape, dtype) if shape is not None else Thing(ARRAY)


def _is_numpys(thing: Thing) -> bool:
    return is_array(thing) or is_number(thing) or thing.type in ("list", "tuple", "str")


def _common(site: Site, left: Thing, right: Thing) -> Shape | None:
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is None or shapes[1] is None:
        return None
    if site.name in ("==", "!=") and not is_at_least(site, "numpy", 1, 25):
        # Earlier versions give False for arrays that do not meet.
        return None
    with misfits(all_told([left, right]), _REMEDY):
        return broadcast(shapes[0], shapes[1])


def _result(symbol: str, left: Thing, right: Thing) -> str | None:
    """The dtype of a result. A number of Python counts less than an array."""
    of_left, of_right = dtype_of(left), dtype_of(right)
    if of_left is None or of_right is None:
        return None
    kinds = {kind_of(of_left), kind_of(of_right)}
    if not kinds <= set("iuf") or symbol in ("**", "%", "//"):
        return None
    if symbol == "/" and "f" not in kinds:
        return "float64" if of_left in ("int64", "int32") and of_right in ("int64", "int32") else None
    if is_array(left) and is_array(right):
        return promoted(of_left, of_right)
    strong, weak = (left, right) if is_array(left) else (right, left)
    if not is_number(weak) or weak.package != "builtins":
        return None
    return dtype_of(strong) if kind_of(dtype_of(strong)) == "f" or weak.type == "int" else promoted(of_left, of_right)


def _are_of_kinds(site: Site, left: Thing, right: Thing) -> None:
    """Texts are added to texts alone; bits are those of integers and booleans."""
    kinds = kind_of(dtype_of(left)), kind_of(dtype_of(right))
    if None in kinds or "O" in kinds:
        return
    is_format = site.name == "%" and kinds[0] == "U"
    if site.name in ("+", "-", "/", "//", "%", "**") and not is_format and _is_text_with_number(kinds, site.name):
        site.crash(
            "UFuncTypeError" if site.name in ("+", "-") else "TypeError",
            f"unsupported operand types for {site.name}: strings and numbers",
            fact=all_told([left, right]),
            remedy="convert the strings to numbers first: .astype(float)",
        )
    if site.name in _BITS and "f" in kinds and kinds[0] in tuple("biuf") and kinds[1] in tuple("biuf"):
        site.crash(
            "TypeError",
            f"ufunc not supported: {site.name} takes integers and booleans, not floats",
            fact=all_told([left, right]),
            remedy="compare first, in parentheses: (a > 0) & (b > 0)",
        )
    if site.name == "-" and kinds == ("b", "b"):
        site.crash(
            "TypeError",
            "numpy boolean subtract, the `-` operator, is not supported",
            fact=all_told([left, right]),
            remedy="use ^ or numpy.logical_xor, or .astype(int) first",
        )


def _is_text_with_number(kinds: tuple[str | None, str | None], symbol: str) -> bool:
    numbers = tuple("iuf")
    mixed = "U" in kinds and (kinds[0] in numbers or kinds[1] in numbers)
    return mixed or (kinds == ("U", "U") and symbol in ("-", "/"))


@RULES.operator(ARRAY, "@")
def product(site: Site) -> Thing | None:
    left, right = site.receiver or Thing(), site.first
    if not _is_numpys(left) or not _is_numpys(right):
        return None if not (left.type and right.type) else Thing()
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is None or shapes[1] is None:
        return Thing()
    with misfits(all_told([left, right]), "transpose one of them (.T), or select the part that fits"):
        shape = matmul(shapes[0], shapes[1])
    dtypes = dtype_of(left), dtype_of(right)
    return array(shape, promoted(dtypes[0], dtypes[1]) if dtypes[0] and dtypes[1] else None)


@RULES.operator(ARRAY, "-x", "+x", "~x")
def unary(site: Site) -> Thing | None:
    operand = site.receiver or Thing()
    kind = kind_of(dtype_of(operand))
    if (site.name == "-x" and kind == "b") or (site.name == "~x" and kind == "f"):
        site.crash(
            "TypeError",
            "the numpy boolean negative, the `-` operator, is not supported"
            if kind == "b"
            else "ufunc 'invert' not supported for floats",
            fact=told(operand),
            remedy="invert with ~" if kind == "b" else "compare first, then invert with ~",
        )
    shape = shape_of(operand)
    return array(shape, dtype_of(operand)) if shape is not None else Thing(ARRAY)


@RULES.operator(ARRAY, *(f"{symbol}=" for symbol in (*_ARITHMETIC, *_BITS)))
def in_place(site: Site) -> Thing | None:
    """x += y: the result has to fit into x."""
    left, right = site.receiver or Thing(), site.first
    if not is_array(left):
        return None
    if not _is_numpys(right):
        values_changed(site, left)
        return left if right.type else None
    refuse_read_only(site, left, "output array is read-only")
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is not None and shapes[1] is not None:
        _fits_into(site, left, right)
    values_changed(site, left)
    return left


def _fits_into(site: Site, left: Thing, right: Thing) -> None:
    shape = shape_of(left) or ()
    fact = all_told([left, right])
    kinds = kind_of(dtype_of(left)), kind_of(dtype_of(right))
    if kinds[0] in ("i", "u") and (kinds[1] == "f" or (site.name == "/=" and kinds[1] in ("i", "u"))):
        site.crash(
            "UFuncTypeError",
            "Cannot cast ufunc output from float64 to int64 with casting rule 'same_kind'",
            fact=fact,
            remedy="convert the array to float first: .astype(float)",
        )
    with misfits(fact, _REMEDY):
        found = broadcast(shape, shape_of(right) or ())
    differ = any(None not in (a, b) and a != b for a, b in zip(found, shape, strict=False))
    if len(found) != len(shape) or differ:
        site.crash(
            "ValueError",
            "non-broadcastable output operand: the result has a different shape than the array",
            fact=fact,
            remedy=f"write x = x {site.name[:-1]} y, which creates a new array",
        )


@RULES.operator(ARRAY, "in", "not in")
def membership(site: Site) -> Thing | None:
    return Thing("bool") if is_array(site.first) else None
