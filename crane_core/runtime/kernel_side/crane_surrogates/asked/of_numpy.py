"""NumPy: which functions and methods are tried, and what of them holds in all versions."""

from __future__ import annotations

import re

from .places import ALL, FIRST, NONE, REST, THREE, TWO, listed, prefixed, words

_WHOLE = (
    "abs absolute all amax amin any arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argpartition argsort"
    " argwhere around array array_split asanyarray asarray ascontiguousarray asmatrix atleast_1d atleast_2d atleast_3d"
    " average bincount bitwise_not block bool broadcast_to can_cast cbrt ceil column_stack complex128 complex64 concat"
    " concatenate conj conjugate copy cos cosh count_nonzero cumprod cumsum deg2rad degrees delete diag"
    " diag_indices_from diagflat diagonal diff double dsplit dstack ediff1d empty_like exp exp2 expand_dims expm1 fabs"
    " fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft"
    " fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn finfo fix flatnonzero flip fliplr flipud float16 float32"
    " float64 floor frexp full_like gradient histogram histogram2d histogram_bin_edges histogramdd hsplit hstack i0"
    " iinfo imag insert int16 int32 int64 int8 invert iscomplex isfinite isinf isnan isnat isreal isscalar lexsort"
    " linalg.cholesky linalg.cond linalg.det linalg.diagonal linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh"
    " linalg.inv linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.multi_dot"
    " linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.svd linalg.svdvals linalg.tensorinv linalg.trace"
    " linalg.vector_norm log log10 log1p log2 logical_not longdouble matrix matrix_transpose max mean median min"
    " min_scalar_type modf moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin"
    " nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative nonzero ones_like packbits pad partition"
    " percentile permute_dims poly poly1d polyder polyint positive prod ptp quantile rad2deg radians ravel real"
    " real_if_close reciprocal repeat reshape resize rint roll rollaxis roots rot90 round row_stack shape sign signbit"
    " sin sinc single sinh size sort sort_complex spacing split sqrt square squeeze stack std sum swapaxes take"
    " take_along_axis tan tanh tile trace transpose trapezoid tril tril_indices_from triu triu_indices_from trunc"
    " uint16 uint32 uint64 uint8 unique unpackbits unstack unwrap vander var vsplit vstack zeros_like"
)
# Of both operands only shapes and dtypes decide.
_PAIRS = (
    "add append arctan2 array_equal array_equiv bitwise_and bitwise_or bitwise_xor convolve copysign corrcoef"
    " correlate cov cross divide divmod dot equal extract float_power floor_divide fmax fmin fmod gcd greater"
    " greater_equal heaviside hypot in1d inner intersect1d isclose allclose isin kron lcm ldexp left_shift less"
    " less_equal linalg.cross linalg.lstsq linalg.matmul linalg.outer linalg.solve linalg.tensordot linalg.vecdot"
    " logaddexp logaddexp2 logical_and logical_or logical_xor matmul matvec maximum minimum mod multiply nextafter"
    " not_equal outer polyadd polyfit polymul polysub polyval power remainder right_shift searchsorted digitize"
    " setdiff1d setxor1d subtract tensordot true_divide union1d vdot vecdot vecmat"
)
# Sizes, seeds and names decide here, so that nothing may be a stand-in.
_KNOWN = (
    "arange bartlett base_repr binary_repr blackman broadcast_shapes c_ char.* chararray choose compress datetime64"
    " diag_indices dtype dtypes empty eye fft.fftfreq fft.rfftfreq format_float_positional fromiter full geomspace half"
    " hamming hanning identity indices kaiser linspace logspace ma.* mask_indices ndindex nested_iters ones polydiv"
    " polynomial.polynomial.* promote_types r_ random.Generator random.MT19937 random.PCG64 random.RandomState"
    " random.SeedSequence random.beta random.binomial random.default_rng random.exponential random.gamma"
    " random.geometric random.lognormal random.normal random.poisson random.rand random.randint random.randn"
    " random.random random.random_sample random.seed random.standard_normal random.standard_t random.uniform"
    " ravel_multi_index recarray str_ strings.* timedelta64 tri tril_indices trim_zeros triu_indices unravel_index"
    " zeros"
)
_GENERATOR = (
    "beta binomial chisquare dirichlet exponential gamma geometric integers laplace logistic lognormal multinomial"
    " multivariate_normal negative_binomial normal pareto poisson power random rayleigh shuffle standard_exponential"
    " standard_gamma standard_normal standard_t triangular uniform weibull zipf"
)
_RANDOM_STATE = (
    "beta binomial exponential gamma lognormal normal poisson rand randint randn random random_sample standard_normal"
    " uniform"
)
_CHARACTERS = (
    "capitalize endswith expandtabs isalnum isalpha isdigit islower isspace istitle isupper lower lstrip rstrip"
    " startswith str_len strip swapcase title upper"
)
_OF_MASKED = (
    "all any anom argmax argmin argsort astype compressed count cumprod cumsum filled max mean min nonzero prod ptp"
    " ravel repeat reshape round squeeze std sum swapaxes take transpose var"
)
_ARRAY = listed(
    (
        NONE,
        "reshape ravel flatten transpose swapaxes squeeze repeat take diagonal trace sum prod mean std var min max ptp"
        " argmin argmax all any cumsum cumprod round conj conjugate sort argsort partition argpartition nonzero astype"
        " copy tolist item compress byteswap __len__",
    ),
    (FIRST, "dot searchsorted"),
    (TWO, "clip"),
)
CALLS = listed(
    (FIRST, f"{_WHOLE} random.choice random.permutation"),
    (
        FIRST,
        f"{prefixed('char.', _CHARACTERS)} {prefixed('strings.', _CHARACTERS)} ma.array ma.masked_array",
    ),
    (
        FIRST,
        f"{prefixed('ma.', _OF_MASKED)} ma.compress_nd ma.median ma.diff strings.multiply",
    ),
    (TWO, f"{_PAIRS} concatenate concat"),
    (THREE, "where select clip interp"),
    (ALL, "meshgrid broadcast_arrays broadcast ix_ result_type"),
    (REST, "einsum"),
    (NONE, _KNOWN),
)
METHODS = {
    "numpy.ndarray": _ARRAY,
    "numpy.MaskedArray": listed((NONE, _OF_MASKED)),
    "numpy.Generator": listed(
        (NONE, _GENERATOR), (FIRST, "choice permutation")
    ),
    "numpy.RandomState": listed(
        (NONE, _RANDOM_STATE), (FIRST, "choice permutation")
    ),
}
# Of these results the number of elements or the dtype depends on values.
BY_VALUES = {
    "numpy": words(
        "argwhere average bincount compress extract flatnonzero histogram histogram2d histogramdd"
        " histogram_bin_edges insert intersect1d ix_ linalg.lstsq min_scalar_type nonzero can_cast poly polyadd polymul"
        " polysub real_if_close result_type roots select setdiff1d setxor1d union1d unique nan_to_num"
    ),
    "numpy.ndarray": words("sort partition byteswap compress nonzero tolist"),
    "numpy.Generator": words("shuffle"),
}
CHANGING = "ma."
"""The module of functions that may change what they are given."""
OF_OBJECTS = words(
    "isnan isinf isfinite reshape ravel flatten transpose swapaxes squeeze expand_dims"
)
"""What never looks at objects that an array holds, nor returns one of them."""
# int32("1") and int32("a"): of a text, what it says decides.
PARSING = words(
    "float64 float32 float16 int64 int32 int16 int8 uint8 uint16 uint32 uint64 single double longdouble complex64"
    " complex128 astype array asarray asanyarray ascontiguousarray"
)
NOT_MADE_AGAIN = ("random.", "empty", "fromiter", "nested_iters")
# Classes that take over NumPy's functions, and settings of its promotion.
UNLESS_MENTIONED = ("__array_", "set_array_function", "promotion_state")
# Attributes that came or went with a release, and messages that a release changed.
OF_VERSION = re.compile(
    r"has no attribute '(?:itemset|newbyteorder|ptp|mT|device|to_device|_)|inhomogeneous|^Python integer|empty array"
)
OF_VERSION_NAMES = words(
    "== != average broadcast_shapes concat ma.diff matrix_transpose matvec permute_dims unstack vecdot vecmat "
    "linalg.cross linalg.diagonal linalg.matmul linalg.matrix_norm linalg.matrix_transpose linalg.outer "
    "linalg.solve linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm"
)
"""What is new since some version, 1.20 or later, or refuses other shapes since then."""
IS_LAZY = True
IS_MADE_AGAIN = True
IS_OF_ANY_VERSION = True
