"""To which of the paper's three groups of runtime facts a published key belongs.

Knows the keys that the published extractor prints. Refuses to know values or objects.
"""

from crane_core.domain import Setting

STRUCTURE = "structure"
REPRESENTATION = "representation"
VALUES = "values"

_KEYS = {
    STRUCTURE: (
        "shape length n_samples samples dataset_shape data_shape target_shape sample_shapes batch_shapes image_shape "
        "target_size n_examples num_examples num_batches n_epochs batch_size dataset underlying_dataset"
    ),
    REPRESENTATION: (
        "type dtype dtypes dtypes_summary key_type value_type classes_dtype module device requires_grad element_spec "
        "signature doc_importants context"
    ),
    VALUES: (
        "value value_info has_nan value_range num_unique unique_values example_values detected metrics value_repr "
        "preview class_mode num_classes n_classes class_name final_values keys per_column per_column_max_20 "
        "is_fitted fitted_attributes"
    ),
}

GROUP_OF_KEY: dict[str, str] = {
    key: group for group, keys in _KEYS.items() for key in keys.split()
}
"""Paper, section 3.3: S is size, shape and count, R is type and schema, V is values and the state of an object.

A key goes to one group with all that is nested in it: `dataset` of a DataLoader is mostly shapes, `per_column` and
`value_info` mostly values. Upstream's later code puts `is_fitted` and `fitted_attributes` under R; the paper's text
says V, and so do we.
"""

GROUP_LEFT_OUT: dict[Setting, str] = {
    Setting.RUNTIME_WITHOUT_S: STRUCTURE,
    Setting.RUNTIME_WITHOUT_R: REPRESENTATION,
    Setting.RUNTIME_WITHOUT_V: VALUES,
}
"""The group that each ablation withholds (paper, section 4.5)."""


def group_of(key: str) -> str:
    """The group of a key of a published entry; an unlisted key counts as a value."""
    return GROUP_OF_KEY.get(key, VALUES)
