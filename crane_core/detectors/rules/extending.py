"""Which imports may change other libraries, or give them names: pandas' tables have .iplot by cufflinks.

Knows packages by name: those that are listed here leave others as they are. Every other may extend, set or patch them,
a file of the notebook's folder too.
"""

import ast
import sys
from collections.abc import Iterable

from crane_core.detectors.rules.bindings import imported_modules
from crane_core.runtime.kernel_side.crane_surrogates import operations

_LEAVE_OTHERS_WORDS = (
    "albumentations altair bokeh bs4 catboost category_encoders cv2 datasets dateutil einops gensim google"
    " graphviz gym gymnasium h5py imageio imblearn IPython ipywidgets jax joblib kagglehub keras_tuner kerastuner"
    " librosa lxml missingno mlxtend mpl_toolkits networkx nltk openpyxl optuna packaging patsy PIL plotly polars"
    " psutil pyarrow pylab pytz requests shap six skimage spacy sqlalchemy tabulate tensorflow_datasets"
    " tensorflow_decision_forests tensorflow_hub threadpoolctl timm tokenizers torchaudio torchinfo torchmetrics"
    " torchsummary torchtext tqdm transformers wordcloud xgboost xlrd yaml yellowbrick yfinance"
)
_LEAVE_OTHERS = (
    frozenset(_LEAVE_OTHERS_WORDS.split())
    | operations.BOUND
    | sys.stdlib_module_names
)
_EXTENDS = ".pandas("
"""`tqdm.pandas()`: the one call of a package above that adds methods to tables."""


def may_extend(modules: Iterable[str], text: str = "") -> bool:
    """Whether one of these modules, by dotted name, or the text of a cell may give names to classes of others."""
    return _EXTENDS in text or any(
        module.partition(".")[0] not in _LEAVE_OTHERS for module in modules
    )


def imports_of(tree: ast.Module) -> list[str]:
    """Every module that a piece of code may import, by dotted name."""
    imports = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    # `from . import plots` loads a file beside the notebook, which may extend any class.
    relative = [
        "."
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    return [
        *relative,
        *(module for node in imports for module in imported_modules(node)),
    ]
