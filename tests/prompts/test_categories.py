"""Every key that was ever published has its group, and the groups are the paper's."""

from __future__ import annotations

import pytest

from crane_core.domain import Setting
from crane_core.prompts.categories import GROUP_LEFT_OUT, GROUP_OF_KEY, group_of
from crane_core.prompts.printed_values import read_printed_dict
from crane_core.prompts.published import split_input


def test_the_map_covers_all_published_entries(
    runtime_texts: dict[str, str],
) -> None:
    entries = [
        entry
        for text in runtime_texts.values()
        for entry in read_printed_dict(str(split_input(text).block))[0].values()
    ]
    assert len(entries) == 1_260
    keys = {key for entry in entries for key in entry}
    assert keys - GROUP_OF_KEY.keys() == {"execution_cell_source"}


@pytest.mark.parametrize(
    ("key", "group"),
    [
        ("shape", "structure"),
        ("num_examples", "structure"),
        ("batch_size", "structure"),
        ("type", "representation"),
        ("dtype", "representation"),
        ("element_spec", "representation"),
        ("is_fitted", "values"),
        ("fitted_attributes", "values"),
        ("has_nan", "values"),
        ("per_column_max_20", "values"),
        ("a key of tomorrow", "values"),
    ],
)
def test_groups_follow_section_3_3_of_the_paper(key: str, group: str) -> None:
    assert group_of(key) == group


def test_each_ablation_leaves_out_the_group_of_its_name() -> None:
    assert {
        setting.value[-1]: group[0].upper()
        for setting, group in GROUP_LEFT_OUT.items()
    } == {
        "S": "S",
        "R": "R",
        "V": "V",
    }
    assert set(GROUP_LEFT_OUT) == {
        Setting.RUNTIME_WITHOUT_S,
        Setting.RUNTIME_WITHOUT_R,
        Setting.RUNTIME_WITHOUT_V,
    }
