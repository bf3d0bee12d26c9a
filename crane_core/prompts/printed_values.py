"""Reading a dict back from its printed form, even where the print is not a Python literal.

Knows Python's syntax and the reprs that published blocks hold: `<... object at 0x..>`, torch.Size([3]), nan. Refuses to
evaluate anything.
"""

import ast
import re
from typing import Any

from crane_core.prompts import tagged_json

_STRING_OR_ANGLE = re.compile(
    r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|<""", re.DOTALL
)
_ANGLE = re.compile("[<>]")
_PLACEHOLDER = "opaque_{}_repr"
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def read_printed_dict(text: str) -> tuple[dict[Any, Any], bool]:
    """The printed dict, and whether it was a Python literal. Sets keep their printed order as PrintedSet.

    Raises ValueError for text that is not the print of a dict.
    """
    try:
        tree, reprs = _parsed(text)
        reader = _PrintReader(text, reprs)
        value = reader.read(tree)
    except _UNREADABLE as error:
        raise ValueError(
            f"the block is not a printed dict: {_first_line(error)}"
        ) from error
    if not isinstance(value, dict):
        raise ValueError("the block is not a printed dict")
    return value, reader.is_literal


def _parsed(text: str) -> tuple[ast.expr, dict[str, str]]:
    try:
        return ast.parse(text, mode="eval").body, {}
    # Objects print as `<...>`, which is not Python: each is replaced by a name, and the text is parsed again.
    except SyntaxError:
        replaced, reprs = _hide_reprs(text)
        return ast.parse(replaced, mode="eval").body, reprs


def _hide_reprs(text: str) -> tuple[str, dict[str, str]]:
    """Replace each `<...>` outside strings by a name; the reprs by name."""
    pieces: list[str] = []
    reprs: dict[str, str] = {}
    position = 0
    while match := _STRING_OR_ANGLE.search(text, position):
        pieces.append(text[position : match.start()])
        if match[0] == "<":
            end = _end_of_repr(text, match.start())
            name = _PLACEHOLDER.format(len(reprs))
            reprs[name] = text[match.start() : end]
            pieces.append(name)
        else:
            end = match.end()
            pieces.append(match[0])
        position = end
    return "".join(pieces) + text[position:], reprs


def _end_of_repr(text: str, start: int) -> int:
    depth = 0
    for match in _ANGLE.finditer(text, start):
        depth += 1 if match[0] == "<" else -1
        if depth == 0:
            return match.end()
    raise ValueError("an object's repr is not closed")


class _PrintReader:
    """Turns a syntax tree of a print into values and remembers whether all of it was literal."""

    def __init__(self, text: str, reprs: dict[str, str]) -> None:
        self.is_literal = not reprs
        self._reprs = reprs

    def read(self, node: ast.expr) -> Any:
        """The value of a node; anything but a literal is read as its printed form and noted."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Dict():
                return self._dict(node)
            case ast.List(elts=items):
                return [self.read(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self.read(item) for item in items)
            case ast.Set(elts=items):
                return tagged_json.PrintedSet(
                    tuple(self.read(item) for item in items)
                )
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negative(node, operand)
        return self._beyond_literals(node)

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise ValueError("a dict is unpacked into another")
            entries[self._key(key)] = self.read(value)
        # A printed dict cannot have a key twice; the text was edited or is of another kind.
        if len(entries) != len(node.keys):
            raise ValueError("a dict has the same key twice")
        return entries

    def _key(self, node: ast.expr) -> Any:
        key = self.read(node)
        try:
            hash(key)
        except TypeError as error:
            raise ValueError(f"{key!r} cannot be a key") from error
        return key

    def _negative(self, node: ast.expr, operand: ast.expr) -> Any:
        value = self.read(operand)
        if isinstance(value, (int, float)):
            return -value
        # A minus before a call or an object is kept as it was printed.
        return self._as_printed(node)

    def _beyond_literals(self, node: ast.expr) -> Any:
        match node:
            # The empty set has no literal and still counts as one, as `ast.literal_eval` sees it.
            case ast.Call(func=ast.Name(id="set"), args=[], keywords=[]):
                return tagged_json.PrintedSet(())
        self.is_literal = False
        match node:
            case ast.Name(id="nan" | "inf" as name):
                return float(name)
            case ast.Name(id=name) if name in self._reprs:
                return tagged_json.Opaque(self._reprs[name])
            case ast.Call(
                func=ast.Name(id="defaultdict"),
                args=[factory, entries],
                keywords=[],
            ):
                return tagged_json.PrintedDefaultDict(
                    repr(self.read(factory)), self._entries(entries)
                )
            # torch.Size([3]) and dtype('O'), as the published blocks of PyTorch and pandas hold them.
            case ast.Call(
                func=ast.Name() | ast.Attribute() as called,
                args=arguments,
                keywords=[],
            ):
                return tagged_json.PrintedCall(
                    ast.unparse(called),
                    tuple(self.read(argument) for argument in arguments),
                )
        return self._as_printed(node)

    def _entries(self, node: ast.expr) -> dict[Any, Any]:
        entries = self.read(node)
        if not isinstance(entries, dict):
            raise ValueError("a defaultdict without entries")
        return entries

    def _as_printed(self, node: ast.expr) -> tagged_json.Opaque:
        """Any other expression by its text, with the hidden reprs put back."""
        self.is_literal = False
        text = ast.unparse(node)
        for name, hidden in self._reprs.items():
            text = text.replace(name, hidden)
        return tagged_json.Opaque(text)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
