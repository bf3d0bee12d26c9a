"""Which operations of libraries are asked, and which of their operands may stand in for others: data alone.

An operation that is not listed is never run. Each is listed with the places of the operands whose values cannot decide
whether it raises, nor the schema of what it gives: only these may be surrogates. At any other place (lengths, axes,
counts, limits) an operand is sent only if its value is known. Never listed: what draws from values whether it raises
(probabilities), what reads or writes files, what takes code.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from . import tables

_NONE: Sequence[int] = ()
_FIRST: Sequence[int] = range(1)
_TWO: Sequence[int] = range(2)
_THREE: Sequence[int] = range(3)
_ALL: Sequence[int] = range(1_000)
_REST: Sequence[int] = range(1, 1_000)


def _listed(*groups: tuple[Sequence[int], str]) -> dict[str, Sequence[int]]:
    return {word: places for places, words in groups for word in words.split()}


def _prefixed(prefix: str, words: str) -> str:
    return " ".join(prefix + word for word in words.split())


# NumPy

_NUMPY_WHOLE = (
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
_NUMPY_PAIRS = (
    "add append arctan2 array_equal array_equiv bitwise_and bitwise_or bitwise_xor convolve copysign corrcoef"
    " correlate cov cross divide divmod dot equal extract float_power floor_divide fmax fmin fmod gcd greater"
    " greater_equal heaviside hypot in1d inner intersect1d isclose allclose isin kron lcm ldexp left_shift less"
    " less_equal linalg.cross linalg.lstsq linalg.matmul linalg.outer linalg.solve linalg.tensordot linalg.vecdot"
    " logaddexp logaddexp2 logical_and logical_or logical_xor matmul matvec maximum minimum mod multiply nextafter"
    " not_equal outer polyadd polyfit polymul polysub polyval power remainder right_shift searchsorted digitize"
    " setdiff1d setxor1d subtract tensordot true_divide union1d vdot vecdot vecmat"
)
_NUMPY_KNOWN = (
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
_GENERATOR_METHODS = (
    "beta binomial chisquare dirichlet exponential gamma geometric integers laplace logistic lognormal multinomial"
    " multivariate_normal negative_binomial normal pareto poisson power random rayleigh shuffle standard_exponential"
    " standard_gamma standard_normal standard_t triangular uniform weibull zipf"
)
_RANDOM_STATE_METHODS = (
    "beta binomial exponential gamma lognormal normal poisson rand randint randn random random_sample standard_normal"
    " uniform"
)
_CHARACTERS = (
    "capitalize endswith expandtabs isalnum isalpha isdigit islower isspace istitle isupper lower lstrip rstrip"
    " startswith str_len strip swapcase title upper"
)
_OF_MASKED = (
    "all any anom argmax argmin argsort astype compressed count cumprod cumsum filled max mean min nonzero prod ptp"
    " ravel"
    " repeat reshape round squeeze std sum swapaxes take transpose var"
)
_ARRAY_METHODS = _listed(
    (
        _NONE,
        "reshape ravel flatten transpose swapaxes squeeze repeat take diagonal trace sum prod mean std var min max ptp"
        " argmin argmax all any cumsum cumprod round conj conjugate sort argsort partition argpartition nonzero astype"
        " copy tolist item compress byteswap __len__",
    ),
    (_FIRST, "dot searchsorted"),
    (_TWO, "clip"),
)

# torch

_TENSOR_ALONE = (
    "reshape transpose permute movedim moveaxis swapaxes swapdims t squeeze unsqueeze flatten unflatten broadcast_to"
    " flip fliplr flipud roll rot90 tile repeat_interleave chunk split tensor_split hsplit vsplit dsplit unbind narrow"
    " narrow_copy select msort conj view_as_complex view_as_real resolve_conj diagonal diag diag_embed diagflat tril"
    " triu adjoint abs absolute exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan asin acos"
    " atan sinh cosh tanh sigmoid floor ceil trunc round frac sign neg negative relu isnan isinf isfinite logical_not"
    " bitwise_not erf erfc softmax log_softmax real imag sum mean std var median mode amin amax aminmax argmax argmin"
    " prod norm all any cumsum cumprod logsumexp cummax cummin count_nonzero nansum nanmean quantile sort argsort topk"
    " kthvalue unique trace det inverse logdet cholesky histc bincount nonzero diff renorm lgamma"
    " digamma deg2rad rad2deg sgn signbit erfinv sinc logit positive i0 fix angle"
)
_TENSOR_WITH_ONE = (
    "view_as expand_as masked_select take_along_dim slice_scatter select_scatter diagonal_scatter add sub subtract mul"
    " multiply div divide true_divide floor_divide remainder fmod pow float_power maximum minimum max min fmax fmin"
    " atan2 hypot logaddexp eq ne lt le gt ge equal allclose isclose logical_and logical_or logical_xor bitwise_and"
    " bitwise_or bitwise_xor dot mm bmm matmul mv outer ger cross tensordot inner vdot cdist dist masked_fill gcd"
    " lcm copysign nextafter xlogy heaviside bitwise_left_shift bitwise_right_shift ldexp logaddexp2 kron take"
)
_TENSOR_WITH_TWO = "clamp clip lerp addcmul addcdiv addmm baddbmm addmv"
_TENSOR_METHODS = _listed(
    (
        _NONE,
        "view expand repeat size dim ndimension numel nelement float double half int long bool clone detach contiguous"
        " tolist item numpy new_zeros new_ones new_full stride element_size is_floating_point requires_grad_ unfold"
        " zero_ fill_ exp_ sqrt_ squeeze_ unsqueeze_ transpose_ t_ resize_ normal_ uniform_ __len__ short cpu",
    ),
    (_FIRST, "backward to type type_as add_ sub_ mul_ div_ copy_ pow_ masked_fill_"),
    (_TWO, "clamp_"),
    (_NONE, _TENSOR_ALONE),
    (_FIRST, _TENSOR_WITH_ONE),
    (_TWO, _TENSOR_WITH_TWO),
    ((1,), "gather index_select index_fill index_fill_"),
    ((1, 2), "scatter scatter_add index_add scatter_add_ index_add_ index_copy_"),
    ((0,), "where"),
)
_FUNCTIONAL = _listed(
    (
        _FIRST,
        "relu relu6 leaky_relu elu selu celu gelu silu mish rrelu glu softplus softsign tanh sigmoid hardtanh"
        " hardsigmoid hardswish logsigmoid softmin softmax log_softmax gumbel_softmax one_hot unfold fold max_pool1d"
        " max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d"
        " adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d lp_pool1d lp_pool2d local_response_norm normalize"
        " dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout pad interpolate affine_grid"
        " pixel_shuffle pixel_unshuffle pdist threshold hardshrink softshrink tanhshrink",
    ),
    (
        _TWO,
        "prelu embedding grid_sample cosine_similarity pairwise_distance cross_entropy nll_loss mse_loss l1_loss"
        " smooth_l1_loss huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits hinge_embedding_loss"
        " poisson_nll_loss multi_margin_loss soft_margin_loss multilabel_margin_loss multilabel_soft_margin_loss"
        " max_unpool1d max_unpool2d",
    ),
    (
        _THREE,
        "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d margin_ranking_loss"
        " cosine_embedding_loss triplet_margin_loss scaled_dot_product_attention",
    ),
    (range(4), "bilinear"),
    (range(5), "batch_norm instance_norm"),
    ((0, 2, 3), "layer_norm group_norm rms_norm"),
)
_TORCH_LAYERS = (
    "Linear Bilinear Identity LazyLinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Unfold"
    " Fold MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d"
    " AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d"
    " FractionalMaxPool2d ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d ZeroPad1d ZeroPad2d"
    " ConstantPad1d ConstantPad2d ELU Hardshrink Hardsigmoid Hardtanh Hardswish LeakyReLU LogSigmoid PReLU ReLU ReLU6"
    " RReLU SELU CELU GELU Sigmoid SiLU Mish Softplus Softshrink Softsign Tanh Tanhshrink Threshold GLU Softmin"
    " Softmax Softmax2d LogSoftmax BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm LayerNorm RMSNorm InstanceNorm1d"
    " InstanceNorm2d InstanceNorm3d LocalResponseNorm RNN LSTM GRU RNNCell LSTMCell GRUCell MultiheadAttention"
    " Transformer TransformerEncoderLayer TransformerDecoderLayer Dropout Dropout1d Dropout2d Dropout3d AlphaDropout"
    " FeatureAlphaDropout Embedding EmbeddingBag CosineSimilarity PairwiseDistance L1Loss MSELoss CrossEntropyLoss"
    " CTCLoss NLLLoss PoissonNLLLoss GaussianNLLLoss KLDivLoss BCELoss BCEWithLogitsLoss MarginRankingLoss"
    " HingeEmbeddingLoss MultiLabelMarginLoss HuberLoss SmoothL1Loss SoftMarginLoss MultiLabelSoftMarginLoss"
    " CosineEmbeddingLoss MultiMarginLoss TripletMarginLoss PixelShuffle PixelUnshuffle Upsample UpsamplingNearest2d"
    " UpsamplingBilinear2d ChannelShuffle Flatten Unflatten"
)
TORCH_LOSSES = (
    "L1Loss MSELoss CrossEntropyLoss NLLLoss PoissonNLLLoss KLDivLoss BCELoss BCEWithLogitsLoss HuberLoss SmoothL1Loss"
    " SoftMarginLoss MultiLabelSoftMarginLoss HingeEmbeddingLoss MarginRankingLoss CosineEmbeddingLoss"
)

# torchvision

TRANSFORMS = (
    "ToTensor PILToTensor Normalize Resize CenterCrop RandomCrop RandomResizedCrop Grayscale ToPILImage Pad"
    " RandomHorizontalFlip RandomVerticalFlip RandomRotation ColorJitter GaussianBlur RandomErasing RandomGrayscale"
    " RandomAutocontrast"
)
_MODELS = (
    "resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d resnext101_32x8d wide_resnet50_2 densenet121"
    " densenet161 densenet169 densenet201 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large efficientnet_b0"
    " efficientnet_b1 efficientnet_b2 efficientnet_b3 vgg11 vgg13 vgg16 vgg19 vgg16_bn vgg19_bn alexnet"
    " shufflenet_v2_x1_0"
)

# pandas

_PANDAS_KNOWN = (
    "Index RangeIndex MultiIndex MultiIndex.from_arrays MultiIndex.from_tuples"
    " MultiIndex.from_product DatetimeIndex TimedeltaIndex PeriodIndex CategoricalIndex IntervalIndex"
    " IntervalIndex.from_breaks IntervalIndex.from_arrays IntervalIndex.from_tuples Timestamp Timedelta Period"
    " Interval Categorical CategoricalDtype DateOffset Grouper NamedAgg date_range bdate_range period_range"
    " timedelta_range interval_range array"
)
_PANDAS_ALONE = (
    "abs add_prefix add_suffix agg aggregate all any asfreq at_time between_time bfill clip convert_dtypes copy count"
    " cummax cummin cumprod cumsum describe diff drop drop_duplicates droplevel dropna duplicated ewm expanding"
    " explode ffill fillna filter get groupby head idxmax idxmin infer_objects isin isna isnull items keys kurt"
    " kurtosis mask max mean median memory_usage min mode nlargest notna notnull nsmallest nunique pct_change pop prod"
    " product quantile rank reindex reindex_like rename rename_axis reorder_levels replace resample reset_index"
    " rolling round sample sem set_axis shift skew sort_index sort_values squeeze std sum swaplevel tail take to_dict"
    " to_numpy to_period to_timestamp transform transpose truncate tz_convert tz_localize unstack value_counts var"
    " where xs"
)
_PANDAS_WITH_ONE = (
    "add align combine_first compare corr cov div divide dot eq equals floordiv ge gt le lt mod mul multiply ne pow"
    " radd rdiv rfloordiv rmod rmul rpow rsub rtruediv sub subtract truediv"
)
_ONLY_TABLE = "assign insert isetitem iterrows itertuples melt pivot_table select_dtypes set_index stack"
_ONLY_COLUMN = (
    "argmax argmin argsort autocorr between case_when divmod factorize item map rdivmod repeat searchsorted to_frame"
    " to_list tolist unique"
)
_OF_BOTH = ((_NONE, _PANDAS_ALONE), (_FIRST, _PANDAS_WITH_ONE))
INDEXERS: Mapping[str, str] = {
    "pandas._LocIndexer": "loc",
    "pandas._iLocIndexer": "iloc",
    "pandas._AtIndexer": "at",
    "pandas._iAtIndexer": "iat",
}
"""What selects cells by labels or places, and the attribute that gives it."""
_TIMESTAMP_METHODS = (
    "ceil date day_name floor isocalendar isoformat isoweekday month_name normalize replace round strftime timestamp"
    " to_datetime64 to_julian_date to_period to_pydatetime toordinal tz_convert tz_localize weekday"
)

# matplotlib

_DRAWING = _listed(
    (_ALL, "plot step semilogx semilogy loglog stackplot fill"),
    (range(4), "scatter bar barh errorbar hlines vlines fill_between fill_betweenx contour contourf pcolormesh pcolor"),
    (_THREE, "stem pie hexbin"),
    (_TWO, "hist2d"),
    (_FIRST, "imshow matshow spy hist boxplot violinplot eventplot"),
    (_NONE, "legend grid axis"),
)
DRAWS_PAIRS = frozenset(["plot", "step", "scatter", "bar", "barh", "fill_between"])
"""Of two lists only the lengths are refused, whatever numbers they hold."""
_OF_AXES = (
    (_TWO, "set_xticks set_yticks"),
    (_FIRST, "set_xticklabels set_yticklabels"),
    (_NONE, "set_title set_xlabel set_ylabel set_xscale set_yscale tick_params twinx twiny"),
    (_ALL, "title xaxis yaxis figure patch"),
)
_OF_PYPLOT = (
    (_TWO, "pyplot.xticks pyplot.yticks"),
    (
        _NONE,
        "pyplot.figure pyplot.subplot pyplot.subplots pyplot.title pyplot.xlabel pyplot.ylabel pyplot.xscale"
        " pyplot.yscale pyplot.suptitle pyplot.tick_params",
    ),
)
_DRAWN = frozenset(
    ["x", "y", "c", "s", "height", "width", "bottom", "left", "yerr", "xerr", "labels", "ticks", "explode"]
)
"""Keywords of data that are drawn."""
_OF_FIGURE = "add_subplot subplots suptitle set_size_inches"
_MOST_DRAWN = 10_000

# Keras and TensorFlow

_KERAS_LAYERS = (
    "Activation ActivityRegularization AlphaDropout AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D"
    " AvgPool2D AvgPool3D BatchNormalization CategoryEncoding CenterCrop Conv1D Conv1DTranspose Conv2D Conv2DTranspose"
    " Conv3D Conv3DTranspose ConvLSTM1D ConvLSTM2D ConvLSTM3D Convolution1D Convolution2D Convolution3D Cropping1D"
    " Cropping2D Cropping3D Dense DepthwiseConv1D DepthwiseConv2D Dot Dropout ELU EinsumDense Embedding Flatten GRU"
    " GRUCell GaussianDropout GaussianNoise GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D"
    " GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D GroupNormalization LSTM LSTMCell LayerNormalization"
    " LeakyReLU Masking MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D MultiHeadAttention PReLU"
    " Permute RandomBrightness RandomContrast RandomCrop RandomFlip RandomRotation RandomTranslation RandomZoom ReLU"
    " RepeatVector Rescaling Reshape Resizing SeparableConv1D SeparableConv2D SimpleRNN SimpleRNNCell Softmax"
    " SpatialDropout1D SpatialDropout2D SpatialDropout3D UnitNormalization UpSampling1D UpSampling2D UpSampling3D"
    " ZeroPadding1D ZeroPadding2D ZeroPadding3D"
)
_KERAS_LOSSES = (
    "BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy CategoricalHinge"
    " CosineSimilarity Hinge Huber KLDivergence LogCosh MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError"
    " MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge"
)
_KERAS_JOINING = "Add Average Concatenate Maximum Minimum Multiply Subtract"
_KERAS_WRAPPERS = "layers.Bidirectional layers.TimeDistributed"
_KERAS_OPTIMIZERS = "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lion Nadam RMSprop SGD"
_OF_SYMBOLS = (
    f"{_KERAS_WRAPPERS} layers.add layers.average layers.concatenate layers.maximum layers.minimum layers.multiply"
    " layers.subtract"
)
_OF_KERAS = (
    f"Input {_prefixed('layers.', f'{_KERAS_LAYERS} {_KERAS_JOINING}')} {_prefixed('losses.', _KERAS_LOSSES)}"
    f" {_prefixed('optimizers.', _KERAS_OPTIMIZERS)}"
)
_OF_SPARSE = _prefixed("sparse.", "bsr_array coo_array csc_array csr_array bsr_matrix coo_matrix csc_matrix csr_matrix")
_OF_PAIRS = (
    "stats.pearsonr stats.spearmanr stats.kendalltau stats.ttest_rel stats.wilcoxon stats.linregress"
    " stats.pointbiserialr interpolate.interp1d interpolate.CubicSpline"
)
_OF_OPS = "ops.arange ops.array ops.cast ops.convert_to_tensor ops.eye ops.full ops.linspace ops.ones ops.zeros"
_OF_TENSORFLOW = (
    "zeros ones fill range linspace eye ragged.constant random.normal random.uniform random.truncated_normal"
)
_OF_TENSORS = (
    "Variable abs argmax argmin argsort broadcast_to cast clip_by_value concat constant convert_to_tensor cos cumsum"
    " exp expand_dims identity linalg.adjoint linalg.diag linalg.diag_part linalg.trace math.abs math.log"
    " math.reduce_mean math.reduce_std math.reduce_sum math.reduce_variance negative nn.relu nn.sigmoid nn.softmax norm"
    " one_hot ones_like pad rank reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum reshape"
    " reverse roll round shape sigmoid sign sin size slice sort split sqrt square squeeze stack tan tanh tile transpose"
    " unstack zeros_like"
)
_ASSIGNING = "assign assign_add assign_sub"
_OF_TWO_TENSORS = (
    "add divide equal greater greater_equal less less_equal linalg.matmul logical_and logical_or math.add math.divide"
    " math.multiply math.subtract matmul maximum minimum multiply not_equal pow subtract tensordot"
)

_OF_FOLDS = (
    "KFold StratifiedKFold GroupKFold StratifiedGroupKFold TimeSeriesSplit RepeatedKFold RepeatedStratifiedKFold"
    " ShuffleSplit StratifiedShuffleSplit"
)

CALLS: Mapping[str, Mapping[str, Sequence[int]]] = {
    "numpy": _listed(
        (_FIRST, f"{_NUMPY_WHOLE} random.choice random.permutation"),
        (_FIRST, f"{_prefixed('char.', _CHARACTERS)} {_prefixed('strings.', _CHARACTERS)} ma.array ma.masked_array"),
        (_FIRST, f"{_prefixed('ma.', _OF_MASKED)} ma.compress_nd ma.median ma.diff strings.multiply"),
        (_TWO, f"{_NUMPY_PAIRS} concatenate concat"),
        (_THREE, "where select clip interp"),
        (_ALL, "meshgrid broadcast_arrays broadcast ix_ result_type"),
        (_REST, "einsum"),
        (_NONE, _NUMPY_KNOWN),
    ),
    "torch": _listed(
        (
            _NONE,
            "zeros ones empty full eye arange linspace logspace rand randn randint randperm tril_indices triu_indices"
            " broadcast_shapes manual_seed finfo iinfo Size Generator",
        ),
        (
            _FIRST,
            "tensor as_tensor asarray from_numpy zeros_like ones_like empty_like full_like rand_like randn_like"
            " randint_like cat concat concatenate stack hstack vstack dstack column_stack combinations vander numel"
            " is_tensor is_floating_point multinomial atleast_1d linalg.norm linalg.vector_norm linalg.matrix_norm"
            " linalg.det"
            " linalg.inv linalg.eig linalg.eigh linalg.svd linalg.qr linalg.cholesky linalg.matrix_power"
            " linalg.matrix_rank linalg.multi_dot linalg.pinv linalg.slogdet fft.fft fft.ifft fft.rfft fft.irfft"
            " fft.fft2 fft.fftn fft.fftshift bernoulli linalg.svdvals linalg.eigvals linalg.eigvalsh linalg.lu"
            " linalg.lu_factor linalg.inv_ex is_complex atleast_2d atleast_3d corrcoef cov ravel as_strided"
            " fake_quantize_per_tensor_affine quantize_per_tensor",
        ),
        (
            _TWO,
            "normal result_type linalg.tensorsolve linalg.vecdot complex polar bucketize searchsorted embedding"
            " linalg.solve linalg.lstsq linalg.cross",
        ),
        (_THREE, "conv1d conv2d conv3d"),
        (_ALL, "block_diag meshgrid cartesian_prod chain_matmul broadcast_tensors"),
        (_REST, "einsum"),
        (_FIRST, _TENSOR_ALONE),
        (_TWO, _TENSOR_WITH_ONE),
        (_THREE, f"where {_TENSOR_WITH_TWO}"),
        ((0, 2), "gather index_select index_fill"),
        ((0, 2, 3), "scatter scatter_add index_add"),
        (_NONE, _prefixed("nn.", _TORCH_LAYERS)),
        (_TWO, _prefixed("nn.", TORCH_LOSSES)),
        (_ALL, "nn.Sequential utils.data.TensorDataset"),
        (_FIRST, _prefixed("optim.", "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam")),
        *((places, f"nn.functional.{name}") for name, places in _FUNCTIONAL.items()),
    ),
    "torchvision": _listed(
        (_NONE, f"{_prefixed('transforms.', TRANSFORMS)} {_prefixed('models.', _MODELS)}"),
        (_ALL, "transforms.Compose"),
    ),
    "pandas": _listed(
        (_NONE, _PANDAS_KNOWN),
        (
            _FIRST,
            "Series DataFrame to_numeric factorize unique isna isnull notna notnull get_dummies melt pivot_table cut"
            " qcut concat to_datetime to_timedelta",
        ),
        (_TWO, "merge crosstab"),
    ),
    "matplotlib": _listed(*((places, f"pyplot.{name}") for name, places in _DRAWING.items()), *_OF_PYPLOT),
    "scipy": _listed((_NONE, _OF_SPARSE), (_TWO, _OF_PAIRS)),
    "keras": _listed(
        (_NONE, f"{_OF_KERAS} layers.Input layers.InputLayer {_OF_OPS}"),
        (_FIRST, _OF_SYMBOLS),
    ),
    "sklearn": _listed((_NONE, _prefixed("model_selection.", _OF_FOLDS))),
    "tensorflow": _listed(
        (_NONE, f"{_OF_TENSORFLOW} {_prefixed('keras.', _OF_KERAS)}"),
        (_FIRST, _OF_TENSORS),
        (_TWO, _OF_TWO_TENSORS),
        (_REST, "einsum"),
    ),
}
"""By package: functions and classes, their dotted names without the package, and the places of surrogates."""
_BUILTINS_WORDS = "abs bool complex enumerate float int iter len list max min range round set sorted sum tuple zip"
BUILTINS = frozenset(_BUILTINS_WORDS.split())
"""Python's own functions, asked where one of the operands is a library's."""
METHODS: Mapping[str, Mapping[str, Sequence[int]]] = {
    "numpy.ndarray": _ARRAY_METHODS,
    "numpy.MaskedArray": _listed((_NONE, _OF_MASKED)),
    "torch.Tensor": _TENSOR_METHODS,
    "torch.Parameter": _TENSOR_METHODS,
    "pandas.DataFrame": _listed(*_OF_BOTH, (_NONE, _ONLY_TABLE), (_FIRST, "join merge")),
    "pandas.Series": _listed(*_OF_BOTH, (_NONE, _ONLY_COLUMN)),
    "pandas.Timestamp": _listed((_NONE, _TIMESTAMP_METHODS)),
    "numpy.Generator": _listed((_NONE, _GENERATOR_METHODS), (_FIRST, "choice permutation")),
    "matplotlib.Axes": {**_DRAWING, **_listed(*_OF_AXES)},
    "matplotlib.Figure": _listed((_NONE, _OF_FIGURE)),
    "matplotlib.Text": _listed((_ALL, "__call__")),
    "tensorflow.EagerTensor": _listed((_NONE, "numpy get_shape __len__")),
    "tensorflow.ResourceVariable": _listed((_NONE, "numpy"), (_FIRST, _ASSIGNING)),
    "numpy.RandomState": _listed((_NONE, _RANDOM_STATE_METHODS), (_FIRST, "choice permutation")),
    **{f"torchvision.{name}": {"__call__": _FIRST} for name in ("Compose", *TRANSFORMS.split())},
    **{f"torch.{name}": {"__call__": _THREE, "forward": _THREE} for name in _TORCH_LAYERS.split()},
    **{
        f"keras.{name}": {"__call__": _FIRST}
        for name in f"{_KERAS_LAYERS} {_KERAS_JOINING} Bidirectional TimeDistributed".split()
    },
    **{f"keras.{name}": {"__call__": _TWO} for name in _KERAS_LOSSES.split()},
}
"""By class, written package.Class: methods, and the places of surrogates among their arguments."""
_LEARNING_METHODS = (
    "fit fit_transform fit_predict fit_resample predict predict_proba predict_log_proba decision_function transform"
    " score score_samples inverse_transform get_feature_names_out get_support kneighbors apply decision_path"
    " set_params"
)
_METRICS = (
    "accuracy_score average_precision_score balanced_accuracy_score brier_score_loss calinski_harabasz_score"
    " classification_report cohen_kappa_score confusion_matrix d2_absolute_error_score davies_bouldin_score"
    " explained_variance_score f1_score fbeta_score hamming_loss hinge_loss jaccard_score log_loss matthews_corrcoef"
    " max_error mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_log_error"
    " median_absolute_error precision_recall_curve precision_recall_fscore_support precision_score r2_score"
    " recall_score roc_auc_score roc_curve root_mean_squared_error silhouette_samples silhouette_score"
    " top_k_accuracy_score zero_one_loss adjusted_rand_score rand_score v_measure_score"
)
_OF_SPLITS = "train_test_split cross_val_score cross_validate cross_val_predict"
_OF_LEARNING = _prefixed("sklearn.metrics.", _METRICS) + " " + _prefixed("sklearn.model_selection.", _OF_SPLITS)
LEARNING = {"method": frozenset(_LEARNING_METHODS.split()), "call": frozenset(_OF_LEARNING.split())}
"""Of scikit-learn: methods of estimators, and functions, that are asked on data with the values that are certain."""
OUTPUT_SETTINGS = ("set_output", "transform_output")
"""What a notebook spells that lets transformers give tables."""
_GROUPED_WORDS = (
    "DataFrameGroupBy SeriesGroupBy Rolling Expanding Window ExponentialMovingWindow RollingGroupby ExpandingGroupby"
    " ExponentialMovingWindowGroupby RollingGroupBy ExpandingGroupBy ExponentialMovingWindowGroupBy"
    " DatetimeIndexResampler TimedeltaIndexResampler PeriodIndexResampler"
)
_GROUPED = frozenset(_GROUPED_WORDS.split())
"""Classes of pandas whose objects look among the labels of the table or column that they were made of."""
_OF_GROUPED_WORDS = (
    "all any asfreq backfill bfill corr count cov cumcount cummax cummin cumprod cumsum describe diff ewm expanding"
    " ffill first head idxmax idxmin interpolate kurt last max mean median min ngroup nlargest nsmallest nth nunique"
    " ohlc pct_change prod quantile rank resample rolling sem shift size skew std sum tail value_counts var"
)
_OF_GROUPED = frozenset(_OF_GROUPED_WORDS.split())
_AGGREGATING_WORDS = "mean median std var sem sum min max first last prod count nunique"
AGGREGATING = frozenset(_AGGREGATING_WORDS.split())
"""Those of which the columns and dtypes of the result follow from the schema."""
RESULTS = ("numpy", "pandas", "scipy")
"""Packages of which the results of steps are made again to be asked."""
_KEYWORDS_WORDS = "a arr array ary b bias input m other pos_weight target weight weights x"
KEYWORDS = frozenset(_KEYWORDS_WORDS.split())
"""Keywords of which an operand may be a surrogate, where the first operand may."""

_BY_VALUES_WORDS = (
    "argwhere average bincount compress extract flatnonzero histogram histogram2d histogramdd"
    " histogram_bin_edges insert intersect1d ix_ linalg.lstsq min_scalar_type nonzero can_cast poly polyadd polymul"
    " polysub real_if_close result_type roots select setdiff1d setxor1d union1d unique nan_to_num"
)
_TORCH_BY_VALUES_WORDS = (
    "Generator allclose bincount combinations equal is_tensor manual_seed masked_select nn.functional.one_hot"
    " nonzero randperm tolist unique where"
)
_TABLE_BY_VALUES_WORDS = (
    "case_when convert_dtypes factorize get_dummies idxmax idxmin infer_objects map mask mode pivot_table replace stack"
    " to_dict transform unstack value_counts where xs crosstab cut qcut to_datetime to_timedelta to_numeric"
    " item unique combine_first agg aggregate explode"
)
_TABLE_BY_VALUES = frozenset(_TABLE_BY_VALUES_WORDS.split())
_ARRAY_BY_VALUES_WORDS = "sort partition byteswap compress nonzero tolist"
_BY_VALUES = {
    "numpy": frozenset(_BY_VALUES_WORDS.split()),
    "numpy.ndarray": frozenset(_ARRAY_BY_VALUES_WORDS.split()),
    "numpy.Generator": frozenset(["shuffle"]),
    "tensorflow.ResourceVariable": frozenset(["", *_ASSIGNING.split()]),  # an item of it can be assigned to
    **dict.fromkeys(("pandas", "pandas.DataFrame", "pandas.Series"), _TABLE_BY_VALUES),
    "torch": frozenset(_TORCH_BY_VALUES_WORDS.split()),
    "torch.Tensor": frozenset(_TORCH_BY_VALUES_WORDS.split()),
    "torch.Parameter": frozenset(_TORCH_BY_VALUES_WORDS.split()),
}
"""What these give may depend on values, or they change their operand: only what they refuse counts."""
_UNTOLD = "ma."
"""The module of functions that may change what they are given."""
_READ_WORDS = "T mT H mH real imag data shape dtype ndim size itemsize nbytes values columns empty axes array"
_READ = frozenset([*_READ_WORDS.split(), *tables.ACCESSORS])
"""Attributes that follow from the schema; what others give is not told."""

_LENGTHS_WORDS = "shape ndim size itemsize dim ndimension numel nelement stride element_size __len__"
_LENGTHS = frozenset(_LENGTHS_WORDS.split())
"""Attributes and methods of arrays that give lengths, counts of axes and the like."""

_STEPS_WORDS = "attribute del_item element format item located operator set_item truth"
STEPS = frozenset(_STEPS_WORDS.split())
_BOUND_WORDS = "keras lightgbm matplotlib numpy pandas scipy seaborn sklearn statsmodels tensorflow torch torchvision"
BOUND = frozenset(_BOUND_WORDS.split())
"""Packages whose functions, classes and methods are asked which arguments they take, and are not called."""
_PYTHON_WORDS = "builtins bisect cmath collections datetime decimal functools heapq itertools math operator weakref"
PYTHON = frozenset(_PYTHON_WORDS.split())
"""Python's own modules that are asked in the same manner, under the kernel's own version of Python."""
_OF_PYTHON_WORDS = (
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex delattr dict divmod enumerate filter"
    " float frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max memoryview min next"
    " oct ord pow print property range repr reversed round set slice sorted staticmethod str sum tuple type vars zip"
)
OF_PYTHON = frozenset(_OF_PYTHON_WORDS.split())
"""Python's own functions and classes that only look at what they get, or print it to nobody."""
LAZY = frozenset(["numpy", "torch"])
"""Packages whose modules find names when they are asked for, so that only they can say which there are."""
MADE_OF_ANYTHING = "sklearn"
"""The package whose estimators look at their parameters only when they are fitted: making one raises nothing."""
TRIED = frozenset(["scipy"])
"""Packages whose wrapped functions are tried with arguments that they say they do not take."""
NEVER = frozenset(["test", "load", "save", "dump", "dumps", "fromfile", "tofile", "loads", "index", "rindex"])
"""Never, whatever the list says: names of what runs tests, reads and writes files, or looks for a text in values."""
_OF_BACKENDS = (
    "KERAS_BACKEND",
    "set_backend",
    "policy",
    "mixed_precision",
    "set_floatx",
    "set_image",
    "numpy_behavior",
)
UNLESS_MENTIONED: Mapping[str, Sequence[str]] = {
    "keras": _OF_BACKENDS,
    "tensorflow": (*_OF_BACKENDS, "as_default", "disable_eager", "disable_v2", "compat.v1"),
    "pandas": ("set_option", "options.", "option_context", "register_", "set_flags", "zoneinfo", "janitor", "flavor"),
    "": ("monkeypatch", "mock", "patch_", "cudf", "seterr", "'raise'", '"raise"', "'error'", '"error"'),
    "sklearn": ("skip_parameter_validation", "assume_finite", "array_api", "metadata_routing", "cuml"),
    "matplotlib": ("projection", "polar", "3d", "3D", "get_named_colors_mapping", "_colors_full_map", "register_"),
    "numpy": ("__array_", "set_array_function", "promotion_state"),
    "torch": (
        "autocast",
        "set_default",
        "__torch_",
        "use_deterministic",
        "torch.overrides",
        "vmap",
        "FakeTensor",
        "hook",
    ),
}
"""By package, "" for all: what a notebook may not spell where it is asked, as it may change what operations do."""
OTHER_DEVICES = ("cuda", "mps", "xpu", "device")
"""What a notebook spells that may move tensors away from the processor."""
MOVING = frozenset(["cpu", "to", "type", "tensor", "as_tensor", "asarray"])
"""What gives a tensor that may be on another device than what it is given."""
NOT_RECORDING = ("no_grad", "inference_mode", "grad_enabled", "functional_call", "ightning")
"""Where a notebook spells none of these, gradients are recorded."""
FREEZING = ("requires_grad", "freeze", "from_pretrained")
"""Where it spells none of these, weights of layers require a gradient."""
_INDEXING_WORDS = "cross_entropy nll_loss embedding one_hot gather index_select __call__ forward"
_INDEXING = frozenset(_INDEXING_WORDS.split())
_OF_DATA = ("tensor", "as_tensor", "from_numpy")
_VIEWS_WORDS = (
    "T mT H mH data real adjoint broadcast_to chunk detach diagonal expand expand_as flatten movedim moveaxis narrow"
    " permute reshape select split squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold unsqueeze"
    " view view_as"
)
_VIEWS = frozenset(_VIEWS_WORDS.split())
"""What gives tensors that lie in the memory of another one, if they can."""
_ABOUT_SHAPES = re.compile(
    r"shape|\b[Ss]izes?\b|[Dd]imension|\dD\b|elements|channels|batch_size|matri|scalar outputs|more than one value"
    r"|out of bounds|out of range|'numpy\.ndarray' object has no attribute"
)
_OF_LAYERS = re.compile(r"expected (?:m\w\w_)?ndim|expected axis|size would be negative")
"""What layers of Keras have always refused of shapes."""
_OF_DRAWING = re.compile(r"must have same first dimension|must be the same size|^Invalid shape .* for image data")
"""What drawing has always refused of shapes, with one class of exceptions."""
_OF_LEARNING_EVER = re.compile(
    r"inconsistent numbers of samples|could not convert string|contains (?:NaN|infinity)|X has \d+ features?, but"
    r"|not fitted yet|Expected 2D array|Unknown label type|Classification metrics can't|continuous is not supported"
)
"""What scikit-learn has always refused of data, with one class of exceptions; releases have accepted more, not less."""
_ABOUT_INDEX = re.compile(r"\b[Ii]ndex .*out of (?:bounds|range)|^Target \d+ is out")
_OF_VERSION = re.compile(
    r"Expected (?:target size|more than 1 spatial|input to be)|when training, got input size \[|^Softmax2d|^For 1D"
    r"|^num_channels|converted to Scalar|reduction dim|^start out of|^Padding length"
    r"|should have same dimension|target tensor expects|^1D target|(?<!'numpy\.ndarray' object )has no attribute"
    r"|has no attribute '(?:itemset|newbyteorder|ptp|mT|device|to_device|_)|inhomogeneous|^Python integer|empty array"
)
"""What torch or NumPy refuses of shapes since some version, or with another class since then."""
_OF_VERSION_WORDS = (
    "== != average broadcast_shapes concat ma.diff matrix_transpose matvec permute_dims unstack vecdot vecmat "
    "linalg.cross linalg.diagonal linalg.matmul linalg.matrix_norm linalg.matrix_transpose linalg.outer "
    "linalg.solve linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm"
)
_OF_VERSION_NAMES = frozenset(_OF_VERSION_WORDS.split())
"""What of NumPy is new since some version, 1.20 or later, or refuses other shapes since then."""
OF_ANY_VERSION = ("keras", "matplotlib", "numpy", "sklearn", "torch")
"""Libraries of which all versions refuse alike what is_about_shapes lets through."""
_ELSEWHERE = re.compile(r"(?i)\b(?:cuda|mps|xpu|hpu|npu|xla|meta|musa|mlu|vulkan|privateuseone)\b")
_GROWING = ("torch.nn.modules.", "keras.layers.", "keras.src.layers.", "matplotlib.")
"""Classes whose objects get other attributes when they are used."""
_NEVER_KEYWORDS = frozenset(["copy", "device", "generator", "pin_memory", "out", "like", "subok"])
"""What these ask for depends on the machine, or on how an operand lies in memory."""
_PARSING_WORDS = (
    "float64 float32 float16 int64 int32 int16 int8 uint8 uint16 uint32 uint64 single double longdouble complex64"
    " complex128 bool int float complex astype array asarray asanyarray ascontiguousarray to_numeric to_datetime"
    " to_timedelta"
)
_PARSING = frozenset(_PARSING_WORDS.split())
"""What reads texts as numbers or times, if it gets them."""
_OF_MATRICES_WORDS = "cholesky inv inverse solve matrix_power lstsq tensorinv tensorsolve logdet cond lu_factor"
_OF_MATRICES = frozenset(_OF_MATRICES_WORDS.split())
_OF_OBJECTS_WORDS = "isnan isinf isfinite reshape ravel flatten transpose swapaxes squeeze expand_dims"
_OF_OBJECTS = frozenset(_OF_OBJECTS_WORDS.split())
"""What never looks at objects that an array holds, nor gives one of them."""
_COMPARED = ("==", "!=", "<=", ">=")
_NOT_OF_OPERANDS = ("value (None)", "stateless scope", "for cmap", "colormap", "axis units")
"""Keras, where a length is open, or as it is asked for shapes alone; matplotlib of what other packages, or what was
drawn before, have added."""
_OF_SCHEMA = re.compile(r"square|[Dd]imension|shape|[Ss]ize|dtype|type|argument|broadcast|at least")

_NO_TENSOR = re.compile(r"must be Tensor, not|got \((?:list|tuple|str|int|float|NoneType)\b")


def is_asked(order: Mapping[str, Any]) -> bool:
    """Whether an operation may be asked with these operands, each in the form in which it is sent."""
    step, of, name = order["step"], order["of"], order["name"]
    operands, keywords = order["operands"], order["keywords"]
    if keywords.keys() & _NEVER_KEYWORDS:
        return False
    if "made" in (*operands, {})[0]:
        is_step = step in ("attribute", "method") or step == "item" and all(map(tables.is_known, operands[1:]))
        return is_step and is_asked(operands[0]["made"])
    reads_texts = name.rpartition(".")[2] in _PARSING
    refuses_objects = of == "torch" and name in _OF_DATA
    if not tables.are_known_enough(order):
        return False
    for form, held in (part for told in (*operands, *keywords.values()) for part in tables.parts(told)):
        if form == "is" and type(held) is str and is_elsewhere(held):
            return False
        is_opaque = form == "facts" and _is_opaque(step, name, held) and not refuses_objects
        if is_opaque or form == "facts" and reads_texts and _is_text(held):
            return False
        is_drawn_one_by_one = of.startswith("matplotlib") and not name.endswith("imshow")
        if form == "facts" and is_drawn_one_by_one and _size(held) > _MOST_DRAWN:
            return False
    if _changes_tensor(step, of, name) and not (operands and _has_no_gradient(operands[0])):
        return False
    if step in ("call", "method"):
        return _is_listed(step, of, name, operands, keywords)
    return _is_plain_step(step, name, operands)


def is_followed(kind: type, told: Mapping[str, Any]) -> bool:
    """Whether the result of another step is known well enough to be asked: all of it, or what hides no labels."""
    package = kind.__module__.partition(".")[0]
    return package in RESULTS and tables.is_known(told) or package == "pandas" and kind.__name__ in _GROUPED


def of_results(kind: type) -> frozenset[str]:
    """Methods that may be tried on the result of another step."""
    package, name = kind.__module__.partition(".")[0], kind.__name__
    return _OF_GROUPED if package == "pandas" and name in _GROUPED else frozenset(METHODS.get(f"{package}.{name}", ()))


def is_made_again(order: Mapping[str, Any]) -> bool:
    """Whether what a step gives may be made again for a step on it: the same, not drawn, nor left as memory was."""
    drawn = order["name"].startswith(("random.", "empty", "fromiter", "nested_iters"))
    return "made" in (*order["operands"], {})[0] or order["of"].partition(".")[0] in RESULTS and not drawn


def is_measured(order: Mapping[str, Any]) -> bool:
    """Whether the integers that a step gives are lengths and counts of dimensions, or follow from known operands."""
    step, of, name = order["step"], order["of"], order["name"]
    if step == "call":
        is_data = of == "torch" and name in _OF_DATA and all(map(tables.is_known, order["operands"]))
        return of == "builtins" and name == "len" or is_data
    if of in ("torch.Tensor", "torch.Parameter"):
        return step in ("attribute", "method") and name in _LENGTHS
    return step == "attribute" and name in ("shape", "ndim", "size")


def is_member(kind: str, name: str) -> bool:
    """Whether a table or column has an accessor or method of this name for certain."""
    return name in tables.ACCESSORS or name in METHODS[kind]


def tells_type(of: str, name: str) -> bool:
    """Whether the type of what an operation gives is certain, where no more of it is."""
    return of in ("pandas", "pandas.DataFrame", "pandas.Series") and name in _TABLE_BY_VALUES - {"item", "map"}


def _is_plain_step(step: str, name: str, operands: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an operator, an attribute or another step without arguments of its own may be asked."""
    if step not in STEPS or step != "operator" and not (operands and "facts" in operands[0]):
        return False
    kind = operands[0].get("facts", {}).get("type", "")
    is_open = kind in tables.KINDS and name not in tables.ATTRIBUTES and not is_member(kind, name)
    if step == "attribute" and (is_open or kind.startswith(_GROWING)):
        return False
    if step not in ("item", "set_item", "del_item", "located"):
        return True
    if len(operands) < 2 or kind.endswith(".StringMethods"):  # of which nobody knows whether they hold lists or dicts
        return False
    if step == "located":
        return all(form != "facts" or held.get("dtype") == "bool" for form, held in tables.parts(operands[1]))
    key: Mapping[str, Any] = operands[1]
    is_mask = bool(key.get("facts", {}).get("dtype") == "bool")
    return tables.is_known(key) or is_mask if kind in tables.KINDS else _tells_place(step, key)


def is_elsewhere(text: str) -> bool:
    """Whether a text names a device that may be there, or not."""
    return _ELSEWHERE.search(text) is not None


def _is_listed(
    step: str, of: str, name: str, operands: Sequence[Mapping[str, Any]], keywords: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Whether it is on the list, with surrogates at no other places than those that it tells."""
    places = _places(step, of, name)
    if places is None or step == "method" and not operands:
        return False
    first = 1 if step == "method" else 0
    if any(at not in places and not tables.is_known(told) for at, told in enumerate(operands[first:])):
        return False
    may_name = bool(places) and (step == "method" or 0 in places)
    named = _DRAWN if of.startswith("matplotlib") else KEYWORDS
    return all(tables.is_known(told) or may_name and key in named for key, told in keywords.items())


def _places(step: str, of: str, name: str) -> Sequence[int] | None:
    """The places of surrogates; None of what is not listed."""
    if step == "method":
        return METHODS.get(of, {}).get(name)
    if of == "builtins":
        return _ALL if name in BUILTINS else None
    listed = CALLS.get(of, {})
    module, dot, last = name.rpartition(".")
    if name not in listed and (not dot or last.startswith("_") or last in NEVER or f"{module}.*" not in listed):
        return None
    return listed.get(name, _NONE)


def _changes_tensor(step: str, of: str, name: str) -> bool:
    is_change = step == "set_item" or step == "method" and _is_change(name)
    return of.startswith("torch.") and (
        is_change or step == "operator" and name.endswith("=") and name not in _COMPARED
    )


def _is_change(name: str) -> bool:
    """Whether torch names a method so that it changes its tensor."""
    return name.endswith("_") and not name.endswith("__")


def _has_no_gradient(told: Mapping[str, Any]) -> bool:
    """Whether a tensor may be changed in place for certain; else it depends on who recorded gradients, and when."""
    return told.get("facts", {}).get("requires_grad") is False


def _is_opaque(step: str, name: str, facts: Mapping[str, Any]) -> bool:
    """Whether elements of an array decide what happens: objects, bytes that are read as text, records."""
    dtype = str(facts.get("dtype", ""))
    if facts["type"] in tables.KINDS:
        return False  # tables.py says which steps look at what they hold
    if dtype == "object":
        return facts["type"] != "numpy.ndarray" or name not in _OF_OBJECTS
    is_record = dtype.startswith(("[", "|V", "V"))
    return dtype.startswith(("|S", "S")) or is_record and step not in ("item", "attribute")


def _size(facts: Mapping[str, Any]) -> int:
    n_elements = 1
    for length in facts.get("shape", (facts.get("length", 1),)):
        n_elements *= length if type(length) is int else 1
    return n_elements


def _is_text(facts: Mapping[str, Any]) -> bool:
    dtypes = [str(facts.get("dtype", "")), *facts.get("dtypes", ())]
    of_objects = "object of texts" in dtypes
    return of_objects or any(dtype.startswith("str") or dtype.lstrip("<>|=")[:1] in ("U", "S") for dtype in dtypes)


def _tells_place(step: str, index: Mapping[str, Any]) -> bool:
    """Whether values of an index cannot decide of which shape the part is that it selects: arrays but no bounds.

    Nor whether there is such a part, which is asked before it is changed.
    """
    parts = list(tables.parts(index))
    if any(form == "slice" and not tables.is_known({form: held}) for form, held in parts):
        return False
    arrays = [held for form, held in parts if form == "facts"]
    masks = [held for held in arrays if "bool" in f"{held['type']} {held.get('dtype')}"]
    if masks:
        return "facts" in index
    return step == "item" or not arrays


def tells_refusal(order: Mapping[str, Any], exception: str, message: str) -> bool:
    """Whether what an operation raised is about the schema of its operands, where it may be about values."""
    if not tables.tells_refusal(order, exception) or any(said in message for said in _NOT_OF_OPERANDS):
        return False
    by_values = order["name"].rpartition(".")[2] in _OF_MATRICES
    return not by_values or exception == "TypeError" or _OF_SCHEMA.search(message) is not None


def takes_indices(step: str, name: str) -> bool:
    """Whether every integer of a tensor counts, so that the least and the largest one decide what is refused."""
    return step == "item" or name.rpartition(".")[2] in _INDEXING


def is_about_shapes(order: Mapping[str, Any], exception: str, message: str, *, is_of_any_version: bool) -> bool:
    """Whether this is about shapes, or what is not a tensor, as on every device, and in every version if asked.

    Elsewhere than on the processor nobody looks at indices before they are used. Of Keras only layers count.
    """
    if order["step"] == "learns":
        return _OF_LEARNING_EVER.search(message) is not None
    if order["of"].startswith("matplotlib"):
        return _OF_DRAWING.search(message) is not None
    if order["of"].startswith(("keras", "sklearn")):
        return order["step"] == "method" and _OF_LAYERS.search(message) is not None
    given = [*order["operands"][1:], *order["keywords"].values()]
    held = {form for told in given for form, _ in tables.parts(told)}
    if _ABOUT_INDEX.search(message) and not held.isdisjoint(("facts", "list")):
        return False
    if is_of_any_version and _is_of_some_version(order, exception, message):
        return False
    return (_NO_TENSOR if exception == "TypeError" else _ABOUT_SHAPES).search(message) is not None


def _is_of_some_version(order: Mapping[str, Any], exception: str, message: str) -> bool:
    """Whether torch or NumPy refuses this since some version, or with another class since then."""
    is_pooling = exception == "IndexError" and "pool" in f"{order['of']} {order['name']}".lower()
    is_changed = order["name"] in _OF_VERSION_NAMES or "where" in order["keywords"]
    return is_pooling or is_changed or _OF_VERSION.search(message) is not None


def tells_strides(step: str, name: str) -> bool:
    """Whether how a tensor lies in memory is the same on every device, and in every version of torch."""
    return step == "item" or name in _VIEWS


def tells_result(step: str, of: str, name: str) -> bool:
    """Whether what an operation gives is certain too, not only what it refuses."""
    if step in ("set_item", "truth") or step == "attribute" and name not in _READ:
        return False
    if of.startswith(("scipy", "sklearn")):
        return False
    if name in _BY_VALUES.get(of, ()) or name.startswith(_UNTOLD) or of.startswith("torch") and _is_change(name):
        return False
    return not name.endswith("=") or name in _COMPARED
