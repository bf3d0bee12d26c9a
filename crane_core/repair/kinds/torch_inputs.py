"""PyTorch names what it wants and what it got: convert the argument, move its channels, or detach it."""

import ast
import re
from collections.abc import Iterator

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix

_OTHERS = r"(?:Double|Long|Int|Byte|Short|Char)"
_WANTS_FLOAT = re.compile(
    rf"mat1 and mat2 must have the same dtype, but got {_OTHERS} and Float"
    rf"|expected scalar type Float but found {_OTHERS}"
    rf"|expected m1 and m2 to have the same dtype, but got: {_OTHERS.lower()} != float"
    r"|Input type \(.*(?:[dD]ouble|Byte|unsigned char).*\) and (?:bias|weight) type \(.*[fF]loat.*\) should be"
)
_WANTS_LONG = re.compile(
    r"expected (?:target dtype to be Long or Byte, but got|scalar type Long but found) \w+"
)
# "Given groups=1, weight of size [5, 3, 5, 5], expected input[10, 20, 20, 3] to have 3 channels, but got 20 ..."
_WANTS_CHANNELS = re.compile(
    r"Given groups=1, .* expected input\[(?P<sizes>[\d, ]+)\] to have (?P<channels>\d+) channels"
)
_CHANNELS_FIRST = ".permute(0, 3, 1, 2)"
_WANTS_DETACHED = "Can't call numpy() on Tensor that requires grad"
_NOT_MODELS = ("function", "builtin_function_or_method", "type", "module", "")


def propose(site: CrashSite) -> Iterator[Fix]:
    """At a RuntimeError of torch: the tensor detached, converted, or with its channels moved."""
    if site.exception != "RuntimeError":
        return
    if site.message.startswith(_WANTS_DETACHED):
        yield from _detached(site)
    elif _WANTS_FLOAT.match(site.message):
        yield from _converted(site, n_arguments=1, to=".float()")
    elif _WANTS_LONG.match(site.message):
        yield from _converted(site, n_arguments=2, to=".long()")
    elif _has_channels_last(site.message):
        yield from _converted(site, n_arguments=1, to=_CHANNELS_FIRST)


def _converted(site: CrashSite, *, n_arguments: int, to: str) -> Iterator[Fix]:
    """Of a model its one argument, of a loss its second one: the target."""
    calls = [
        call
        for call in site.here(ast.Call)
        if len(call.args) == n_arguments and _is_module(site, call.func)
    ]
    # A line with two models in it does not say which of them refused.
    if len(calls) == 1:
        node = calls[0].args[-1]
        is_plain = isinstance(
            node, ast.Name | ast.Attribute | ast.Call | ast.Subscript
        )
        if is_plain:
            what = "channels" if to == _CHANNELS_FIRST else "dtype"
            sentence = (
                f"Give it the {what} that it wants: {site.text(node)}{to}."
            )
            yield site.fix(sentence, site.after(node, to))


def _has_channels_last(message: str) -> bool:
    """Whether the last of four axes, and only that, has as many entries as the layer has channels."""
    wants = _WANTS_CHANNELS.match(message)
    if wants is None:
        return False
    written = wants["sizes"].split(",")
    sizes = [int(size) for size in written]
    channels = int(wants["channels"])
    if len(sizes) != 4 or sizes[-1] != channels:
        return False
    return sizes[1:].count(channels) == 1


def _is_module(site: CrashSite, function: ast.expr) -> bool:
    variable = site.variable(function)
    return variable is not None and variable.type not in _NOT_MODELS


def _detached(site: CrashSite) -> Iterator[Fix]:
    calls = [
        node
        for node in site.here(ast.Attribute)
        if node.attr == "numpy"
        and not site.text(node.value).endswith("detach()")
    ]
    if len(calls) == 1:
        [call] = calls
        yield site.fix(
            "Detach it from the graph first: .detach().numpy().",
            site.after(call.value, ".detach()"),
        )
