"""What another process would do in another way: the kernel's codecs, hashes and settings are not those of the rules."""

from __future__ import annotations

import pytest

from tests.detectors.rules.conftest import Predict

HANDLER = (
    "import codecs\nseen = []\ndef kept(error):\n    seen.append(1)\n    return ('?', error.end)\n"
    "codecs.register_error('unseen', kept)\ntext, data = '\\xe9', b'\\xe9'"
)
CODEC = "import codecs\ncodecs.register(lambda name: codecs.lookup('utf-8') if name == 'own' else None)"


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        (HANDLER, "text.encode('ascii', 'unseen')"),
        (HANDLER, "text.encode('ascii', errors='unseen')\nseen[0]"),
        (HANDLER, "str(data, 'ascii', 'unseen')\nseen[0]"),
        (CODEC, "'a'.encode('own')"),
        (CODEC, "str(b'a', 'own')"),
    ],
)
def test_a_codec_of_the_kernel_is_not_missing_because_it_is_not_here(
    predict_in_kernel: Predict, setup: str, target: str
) -> None:
    assert predict_in_kernel(setup, target).findings == ()


@pytest.mark.parametrize(
    "target",
    [
        "key = ', '.join(beds)\n{'a, b': 1}[key]",
        "key = str(beds)\n{'x': 1}[key]",
        "key = f'{beds}'\n{'x': 1}[key]",
        "key = '%s' % beds\n{'x': 1}[key]",
        "key = '{}'.format([beds])\n{'x': 1}[key]",
        "key = repr({'held': beds})\n{'x': 1}[key]",
        "key = list(beds)[0]\n{'a': 1}[key]",
    ],
)
def test_the_order_of_a_set_is_not_known(
    predict_by_code: Predict, target: str
) -> None:
    assert predict_by_code("beds = {'a', 'b'}", target).findings == ()


@pytest.mark.parametrize(
    ("target", "exception"),
    [
        ("{'x': 1}[sorted(beds)[0]]", "KeyError"),
        ("{'x': 1}[max(beds)]", "KeyError"),
        ("[1][len(beds)]", "IndexError"),
        ("', '.join(beds | {1})", "TypeError"),
    ],
)
def test_what_every_order_of_a_set_leads_to_is_certain(
    predict_by_code: Predict, target: str, exception: str
) -> None:
    assert predict_by_code("beds = {'a', 'b'}", target).exception == exception
