"""Fields of a kernel state in words: the one table that every face of a state reads.

A field that is not in the table has no words; it folds under "raw" where both versions have the same.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

_SIZES = re.compile(r"[\[(](\d+(?:, \d+)+)[\])]")
"""A shape of two or more dimensions, as it is recorded."""
_STEPS_OF_ONE = re.compile(r"\brange \[(-?\d+), (-?\d+), 1\]")

FIELD_WORDS: dict[str, str] = {
    # Of any value.
    "value": "value",
    "value_range": "range",
    "value_info": "values",
    "value_type": "kind of values",
    "has_nan": "missing values (NaN)",
    "has_inf": "infinite values",
    "n_nan": "missing values",
    "n_masked": "masked values",
    "n_stored": "stored values",
    "stored_values": "stored values",
    "num_unique": "distinct values",
    "num_unique_at_least": "distinct values, at least",
    "unique_values": "distinct values",
    "example_values": "examples",
    "n_duplicates": "duplicates",
    # Of graphs, texts with annotations, and pipelines of spaCy.
    "n_nodes": "nodes",
    "first_nodes": "first nodes",
    "directed": "directed",
    "text": "text",
    "n_words": "words",
    "n_labels": "labels",
    "annotations": "annotations",
    "components": "components",
    "disabled": "components that are off",
    "duplicates": "duplicates",
    "shape": "shape",
    "length": "length",
    "size": "size",
    "dtype": "dtype",
    "dtypes": "dtypes",
    "dtypes_summary": "columns per dtype",
    "writeable": "writable",
    "device": "device",
    "requires_grad": "requires gradients",
    "has_grad": "has a gradient",
    "grad_fn": "gradient function",
    "is_leaf": "leaf of the graph",
    "is_contiguous": "contiguous",
    "uninitialized": "not initialized",
    "layout": "layout",
    "strides": "strides",
    # Of strings in a column.
    "texts_look_like": "strings look like",
    "n_read_as_numbers": "strings that can be read as numbers",
    "n_other_texts": "strings of another form",
    "other_texts": "strings of another form",
    "n_of_rarest": "rows of the rarest value",
    "telling_dates": "dates that show the order",
    "n_fractions": "distinct values with a fraction",
    "fraction": "a value with a fraction",
    # Of frames and their index.
    "index": "index",
    "columns": "columns",
    "per_column": "columns",
    "repeated_columns": "repeated columns",
    "columns_with_inf": "columns with infinite values",
    "duplicated_index": "repeated index labels",
    "level_sizes": "sizes of the index levels",
    "level_dtypes": "dtypes of the index levels",
    "n_columns": "columns",
    "n_rows": "rows",
    "n_groups": "groups",
    "names": "names",
    "name": "name",
    "categories": "categories",
    "ordered": "ordered",
    # Of containers.
    "items": "items",
    "keys": "keys",
    "values": "values",
    "preview": "items",
    "item_types": "types of the items",
    "item_kinds": "kinds of the items",
    "element_type": "type of the items",
    "key_types": "types of the keys",
    "lengths_equal": "all of one length",
    "row_lengths": "lengths of the rows",
    "maxlen": "greatest length",
    "first": "first",
    "first_differing_index": "first index that differs",
    "missing_key_gives": "a missing key gives",
    "exhausted": "exhausted",
    "closed": "closed",
    "mode": "mode",
    "detected": "looks like",
    "metrics": "metrics",
    "n_epochs": "epochs",
    # Of data sets and loaders.
    "batch_size": "batch size",
    "num_batches": "batches",
    "num_examples": "examples",
    "last_batch_size": "size of the last batch",
    "n_samples": "samples",
    "samples": "samples",
    "sample_types": "types of a sample",
    "sample_shapes": "shapes of a sample",
    "sample_dtypes": "dtypes of a sample",
    "batch_shapes": "shapes of a batch",
    "batch_dtypes": "dtypes of a batch",
    "element_spec": "elements",
    "dataset": "data set",
    "dataset_info": "attributes",
    "dataset_shape": "shape of the data",
    "image_shape": "shape of an image",
    "image_sizes": "sizes of the images",
    "image_modes": "modes of the images",
    "target_size": "size of the images",
    "class_mode": "class mode",
    "num_classes": "classes",
    "n_classes": "classes",
    # Of estimators and networks.
    "module": "module",
    "class_name": "class",
    "is_fitted": "fitted",
    "fitted_attributes": "learned attributes",
    "n_features_in_": "features when fitted",
    "feature_names_in_": "names of features when fitted",
    "n_outputs_": "outputs when fitted",
    "classes_": "classes when fitted",
    "parameters": "parameters",
    "n_parameters": "parameters",
    "n_trainable_parameters": "trainable parameters",
    "trainable": "trainable",
    "training": "in training mode",
    "built": "built",
    "compiled": "compiled",
    "layers": "layers",
    "input_shape": "input shape",
    "output_shape": "output shape",
    "steps": "steps",
    "expects": "expects",
    "takes": "takes",
    "gives": "gives",
    "integers_below": "integers below",
    "array_shape": "shape as an array",
    "nested_shape": "shape as nested lists",
    "ragged": "rows of different lengths",
    "ragged_rank": "ragged dimensions",
    "is_nested": "nested",
    "n_elements": "elements",
    "n_distinct_shapes": "different shapes",
    "shapes": "shapes",
    "other_shapes": "other shapes",
    "other_types_at": "another type at",
    "n_unused_categories": "categories without a row",
    "examples_by_type": "examples by type",
    "column_types": "types of the columns",
    "column_index": "position of the column",
    "column": "column",
    "columns_of_steps": "columns of the steps",
    "groups": "groups",
    "by": "grouped by",
    "fill_value": "value of what is not stored",
    "density": "share of stored values",
    "projection": "projection",
    "n_artists": "drawn elements",
    "n_axes": "axes",
    "n_bands": "bands",
    "format": "format",
    "pattern": "pattern",
    "exists": "exists",
    "start": "start",
    "stop": "stop",
    "step": "step",
    "last": "last",
    "left": "items left",
    "type": "type",
    "fields": "fields",
    "attribute": "attribute",
    "public_attributes": "public attributes",
    "other_attributes": "other attributes",
    "methods": "methods",
    "all_names": "all attributes",
    "freq": "frequency",
    "bound_to": "bound to",
    "free_variables": "variables from outside",
    "parents": "base classes",
    "version": "version",
    "error": "error",
    "n_indexed": "items by index",
    "n_steps": "steps",
    "step_order": "order of the steps",
    "batch_container": "type of a batch",
    "batch_ranges": "ranges of a batch",
    "batch_shapes_of": "shapes of a batch of",
    "sample_lengths": "lengths of a sample",
    "sample_ranges": "ranges of a sample",
    "sampler": "sampler",
    "collate_fn": "collate function",
    "underlying_dataset": "data set beneath",
    "datasets": "data sets",
    "parts": "parts",
    "validation_split": "share for validation",
    "label_types": "types of the labels",
    "labels": "labels",
    "label": "label",
    "classes": "classes",
    "classes_dtype": "dtype of the classes",
    "n_parameters_set": "parameters set",
    "parameters_set": "parameters set",
    "n_parameter_tensors": "parameter tensors",
    "n_uninitialized_parameters": "parameters not initialized",
    "not_trainable": "not trainable",
    "in_the_other_mode": "layers in the other mode",
    "same_modules": "layers used twice",
    "layer": "layer",
    "layers_not_shown": "layers not shown",
    "built_with": "built with",
    "expected_input": "expected input",
    "input_dtype": "dtype of the input",
    "output": "output",
    "loss": "loss",
    "optimizer": "optimizer",
    "learning_rate": "learning rate",
    "weights": "weights",
    "model": "model",
    "formula": "formula",
    "final_values": "last values",
    "is_inference": "inference tensor",
    "hooked": "has hooks",
    "range": "range",
    "signature": "signature",
    "head": "first rows",
}
"""Name of a field to its words."""

SEPARATOR = " › "
"""Between the fields of a path."""


def path_words(path: str) -> str:
    """A path of fields as it is shown; what has no words is shown as it was recorded."""
    return SEPARATOR.join(
        FIELD_WORDS.get(field, field) for field in path.split(SEPARATOR)
    )


def has_words(path: str) -> bool:
    """Whether the field that leads the path has words; what follows may be a name of the notebook."""
    return path.partition(SEPARATOR)[0] in FIELD_WORDS


def value_words(path: str, text: str) -> str:
    """The text of a fact: a boolean as yes or no, a range by its ends, a shape as 30 × 4."""
    field = path.rpartition(SEPARATOR)[2]
    if field not in FIELD_WORDS:
        return text
    if field == "index":
        return _index_words(text)
    sizes = _SIZES.fullmatch(text)
    if sizes and field.endswith("shape"):
        return sizes[1].replace(", ", " × ")
    ends = text[1:-1].split(", ")
    if field == "value_range" and text[:1] in "[(" and len(ends) == 2:
        return f"{ends[0]} to {ends[1]}"
    # A variable that is True is shown as Python writes it; a property is answered.
    is_property = field != "value"
    return (
        {"True": "yes", "False": "no"}.get(text, text) if is_property else text
    )


def _index_words(text: str) -> str:
    """The labels of the rows: a range by its first and last one, and whether each occurs once."""

    def ends(found: re.Match[str]) -> str:
        first, stop = int(found[1]), int(found[2])
        return f"from {first} to {stop - 1}" if first < stop else found[0]

    told = _STEPS_OF_ONE.sub(ends, text)
    told = told.replace("unique True", "each label once")
    return told.replace("unique False", "with repeated labels")


COLUMN_SENTENCES: dict[str, str] = {
    "num_unique_at_least": "at least {} distinct",
    "n_nan": "{} missing",
    "n_read_as_numbers": "{} strings can be read as numbers",
    "texts_look_like": "strings look like {}",
    "n_other_texts": "{} strings of another form",
    "other_texts": "such as {}",
    "first_no_number": "the first text that is not a number: {}",
    "n_of_rarest": "the rarest value has {} rows",
    "telling_dates": "the order of day and month shows in {}",
    "n_fractions": "{} with a fraction",
    "fraction": "such as {}",
    "n_duplicates": "{} duplicates",
    "dtype": "dtype {}",
}
"""What is known of a column, beyond its range and its distinct values, as part of a sentence."""


def column_words(field: str, value: Any, spelled: Callable[[Any], str]) -> str:
    """One further fact of a column: "strings look like dates"; `spelled` writes the value."""
    if field == "has_inf":
        return "has infinite values" if value else ""
    sentence = COLUMN_SENTENCES.get(field)
    if sentence is None:
        return f"{FIELD_WORDS.get(field, field)} {spelled(value)}"
    # That none can is most columns' state and tells a reader nothing.
    if value == 0 and sentence.startswith("{} strings"):
        return ""
    items = value if isinstance(value, list | tuple) else [value]
    return sentence.format(", ".join(map(spelled, items)))


def missing_words(column: Mapping[str, Any]) -> str:
    """Whether values are missing: "none missing", "3 missing"; empty where it is unknown."""
    n_nan, has_nan = column.get("n_nan"), column.get("has_nan")
    if isinstance(n_nan, int) and n_nan:
        return f"{n_nan:,} missing"
    if has_nan is None and n_nan is None:
        return ""
    return "some missing" if has_nan else "none missing"
