"""Tables, graphs, documents and matrices of libraries of which no rules are written: columns, dtypes, lengths, sizes.

Knows a few attributes and methods of exact classes, in C or Rust, that answer at once and change nothing. Refuses what
computes, reads files or runs a plan: of a lazy frame no more is said than that it is lazy.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from ..anatomy import instance_dict, name_of, type_name
from ..bounds import Facts, listed, stated
from ..kinds import PLAIN

PACKAGES = frozenset(
    [
        "datasets",
        "networkx",
        "polars",
        "pyarrow",
        "spacy",
        "tokenizers",
        "xgboost",
    ]
)
_MOST_NODES = 20


def _table(
    names: list[str], dtypes: list[str], n_rows: int, missing: Facts, look: Any
) -> Facts:
    """Facts of a table under the names that those of pandas have."""
    shown = names[: look.limits.names]
    return {
        "structure": {"shape": [n_rows, len(names)]},
        "representation": {
            "columns": listed(list(map(look.text, shown)), len(names)),
            "dtypes": {
                look.label(name): look.text(dtype)
                for name, dtype in zip(shown, dtypes)
            },
        },
        "values": stated(n_nan=missing),
    }


# polars


def polars_frame(value: Any, look: Any) -> Facts:
    """A frame: shape, columns, dtypes, missing values."""
    held = instance_dict(value)["_df"]
    columns = held.get_columns()
    missing = {each.name(): each.null_count() for each in columns}
    counted = {name: count for name, count in missing.items() if count}
    told = _table(
        list(held.columns()),
        [_polars_dtype(dtype) for dtype in held.dtypes()],
        held.height(),
        counted,
        look,
    )
    return {"plus": told}


def _polars_dtype(dtype: Any) -> str:
    """`Int64`; of a nested dtype the outer name alone, as its text is code of polars."""
    return name_of(dtype if isinstance(dtype, type) else type(dtype))


def polars_series(value: Any, look: Any) -> Facts:
    """A series: name, length, dtype, missing values."""
    held = instance_dict(value).get("_s") or value._s
    return {
        "plus": {
            "structure": {"length": held.len()},
            "representation": {
                "name": look.text(held.name()),
                "dtype": _polars_dtype(held.dtype()),
            },
            "values": stated(n_nan=held.null_count()),
        }
    }


def lazy_frame(value: Any, look: Any) -> Facts:
    """A plan, of which not even the columns are known before it runs."""
    return {
        "plus": {
            "values": {"not_computed": "a lazy frame: call collect() first"}
        }
    }


# pyarrow and datasets


def arrow_table(value: Any, look: Any) -> Facts:
    """A table or batch of rows: shape, columns, types, missing values."""
    schema = value.schema
    missing = {}
    for at, name in enumerate(schema.names[: look.limits.names]):
        if value.column(at).null_count:
            missing[look.label(name)] = value.column(at).null_count
    return {
        "plus": _table(
            list(schema.names),
            list(map(str, schema.types)),
            value.num_rows,
            missing,
            look,
        )
    }


def arrow_array(value: Any, look: Any) -> Facts:
    """An array, or one in chunks: length, type, missing values."""
    return {
        "plus": {
            "structure": {"length": len(value)},
            "representation": {"dtype": str(value.type)},
            "values": stated(n_nan=value.null_count),
        }
    }


def dataset(value: Any, look: Any) -> Facts:
    """A dataset of Hugging Face: as its table, of which it may show some rows, in some format."""
    held = instance_dict(value)
    table = instance_dict(held["_data"])["table"]
    indices = held["_indices"]
    # After select, filter or shuffle the table has all rows and the indices tell which are left.
    n_rows = (
        table.num_rows
        if indices is None
        else instance_dict(indices)["table"].num_rows
    )
    names, types = list(table.schema.names), list(map(str, table.schema.types))
    told = _table(names, types, n_rows, {}, look)
    told["representation"].update(stated(format=held.get("_format_type")))
    return {"plus": told}


# Matrices, graphs, texts


def matrix(value: Any, look: Any) -> Facts:
    """A DMatrix of XGBoost: rows, columns, names of features, whether it has labels."""
    n_labels = len(value.get_label())
    representation = stated(columns=value.feature_names)
    return {
        "plus": {
            "structure": {
                "shape": [value.num_row(), value.num_col()],
                "n_labels": n_labels,
            },
            "representation": representation,
        }
    }


def graph(value: Any, look: Any) -> Facts:
    """A graph: how many nodes and edges, whether edges have directions, the first nodes."""
    held = instance_dict(value)
    nodes, neighbours = held["_node"], held["_adj"]
    is_directed = "_succ" in held
    structure = {"n_nodes": len(nodes)}
    # Looking an object of the notebook up would run its __hash__.
    if type(neighbours) is dict and PLAIN.hold_all(nodes):
        n_ends = sum(map(len, neighbours.values()))
        # Each edge without a direction is kept at both ends, a loop once.
        n_loops = sum(node in around for node, around in neighbours.items())
        n_edges = n_ends if is_directed else (n_ends + n_loops) // 2
        structure["n_edges"] = n_edges
    return {
        "plus": {
            "structure": structure,
            "representation": {"directed": is_directed},
            "values": {
                "first_nodes": [
                    look.scalar(node) for node in islice(nodes, _MOST_NODES)
                ]
            },
        }
    }


def document(value: Any, look: Any) -> Facts:
    """A document or span of spaCy: tokens, and which annotations it has."""
    return {
        "plus": {
            "structure": {"length": len(value)},
            "representation": {
                "annotations": [
                    name
                    for name in ("TAG", "DEP", "LEMMA", "ENT_IOB")
                    if value.has_annotation(name)
                ]
            }
            if name_of(type(value)) == "Doc"
            else {},
            "values": {"text": look.text(value.text)},
        }
    }


def pipeline(value: Any, look: Any) -> Facts:
    """A pipeline of spaCy: its components in order, those that are off among them."""
    held = instance_dict(value)
    names = [look.text(name) for name, _ in held.get("_components", ())]
    off = [look.text(name) for name in held.get("_disabled", ())]
    return {
        "plus": {
            "representation": {"components": names, **stated(disabled=off)}
        }
    }


def tokenizer(value: Any, look: Any) -> Facts:
    """A tokenizer: how many words it knows."""
    return {
        "plus": {
            "structure": {"n_words": value.get_vocab_size()},
            "representation": {"model": type_name(type(value.model))},
        }
    }


def encoding(value: Any, look: Any) -> Facts:
    """A tokenized text: how many tokens."""
    return {"plus": {"structure": {"length": len(value)}}}


SUMMARIZERS = {
    "polars.dataframe.frame.DataFrame": polars_frame,
    "polars.series.series.Series": polars_series,
    "polars.lazyframe.frame.LazyFrame": lazy_frame,
    **dict.fromkeys(
        ("pyarrow.lib.Table", "pyarrow.lib.RecordBatch"), arrow_table
    ),
    **dict.fromkeys(
        ("pyarrow.lib.Array", "pyarrow.lib.ChunkedArray"), arrow_array
    ),
    "datasets.arrow_dataset.Dataset": dataset,
    "xgboost.core.DMatrix": matrix,
    "networkx.classes.graph.Graph": graph,
    "spacy.tokens.doc.Doc": document,
    "spacy.tokens.span.Span": document,
    "spacy.language.Language": pipeline,
    "tokenizers.Tokenizer": tokenizer,
    "tokenizers.Encoding": encoding,
}
"""By module and class, as a subclass may be of the notebook and another class of the name of another part."""
