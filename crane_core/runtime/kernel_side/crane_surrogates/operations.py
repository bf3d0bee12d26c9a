"""Which operations of libraries are asked: those that raise by the schema of their operands, whatever the values are.

Data alone: libraries are not imported here. An operation that is not listed is never run. Never listed: what draws from
values whether it raises (probabilities), what reads or writes files, what takes code.
"""

from __future__ import annotations

_NUMPY_SHAPES = (
    "reshape ravel transpose moveaxis rollaxis swapaxes squeeze expand_dims atleast_1d atleast_2d atleast_3d"
    " broadcast_to broadcast_arrays broadcast_shapes concatenate concat stack vstack hstack dstack column_stack"
    " row_stack block split array_split hsplit vsplit dsplit tile repeat roll rot90 flip fliplr flipud append insert"
    " delete resize pad diag diagonal diagflat tril triu trace ndim shape size take take_along_axis permute_dims"
    " matrix_transpose"
)
_NUMPY_CREATION = (
    "array asarray asanyarray ascontiguousarray zeros ones empty full zeros_like ones_like empty_like full_like eye"
    " identity arange linspace logspace geomspace meshgrid indices tri vander fromiter copy"
)
_NUMPY_ELEMENTS = (
    "add subtract multiply divide true_divide floor_divide mod remainder fmod power float_power maximum minimum fmax"
    " fmin hypot arctan2 logaddexp logaddexp2 copysign nextafter heaviside gcd lcm bitwise_and bitwise_or bitwise_xor"
    " left_shift right_shift logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal"
    " abs absolute fabs exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal sin cos tan arcsin arccos"
    " arctan sinh cosh tanh arcsinh arccosh arctanh radians degrees deg2rad rad2deg floor ceil trunc rint round around"
    " fix sign negative positive invert logical_not isnan isinf isfinite signbit conj conjugate real imag angle clip"
    " nan_to_num isclose allclose array_equal array_equiv isreal iscomplex isscalar where select sinc i0 modf ldexp"
    " frexp divmod bitwise_not float64 float32 int64 int32 interp unwrap real_if_close isnat"
)
_NUMPY_SUMS = (
    "sum prod mean std var median average min max amin amax ptp argmin argmax all any cumsum cumprod nansum nanprod"
    " nanmean nanstd nanvar nanmedian nanmin nanmax nancumsum nancumprod count_nonzero percentile quantile"
    " nanpercentile nanquantile diff ediff1d gradient trapezoid convolve correlate corrcoef cov sort argsort lexsort"
    " partition argpartition searchsorted digitize bincount histogram histogram2d histogramdd histogram_bin_edges"
    " cross dot vdot inner outer matmul tensordot einsum kron linalg.norm linalg.matrix_power linalg.det linalg.inv"
    " linalg.solve linalg.cholesky linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.svd linalg.qr"
    " linalg.lstsq linalg.pinv linalg.matrix_rank linalg.multi_dot linalg.slogdet linalg.cond fft.fft fft.ifft"
    " fft.fft2 fft.ifft2 fft.fftn fft.rfft fft.irfft fft.fftfreq fft.rfftfreq fft.fftshift fft.ifftshift unravel_index"
    " ravel_multi_index polyfit polyval poly roots polyadd polymul polyder polyint polydiv polysub vecdot matvec"
    " vecmat"
)
_NUMPY_OTHERS = (
    "unique nonzero argwhere flatnonzero extract intersect1d union1d setdiff1d setxor1d isin in1d compress choose"
    " apply_over_axes result_type promote_types can_cast min_scalar_type finfo iinfo dtype ix_ mask_indices"
    " tril_indices triu_indices tril_indices_from triu_indices_from diag_indices diag_indices_from hanning hamming"
    " bartlett blackman kaiser packbits unpackbits datetime64 timedelta64 trim_zeros array2string array_repr array_str"
    " base_repr binary_repr format_float_positional random.rand random.randn random.randint random.random"
    " random.random_sample random.normal random.uniform random.standard_normal random.permutation random.default_rng"
    " random.seed random.RandomState random.MT19937 random.PCG64 random.SeedSequence random.Generator sort_complex"
    " unstack single double float16 longdouble uint8 uint16 uint32 uint64 int8 int16 complex64 complex128 bool str_"
    " vsplit broadcast nested_iters ndindex r_ c_ dtypes poly1d matrix asmatrix recarray chararray strings.*"
    " char.* linalg.* fft.* ma.* polynomial.polynomial.*"
)
_ARRAY_METHODS = (
    "reshape ravel flatten transpose swapaxes squeeze repeat take diagonal trace sum prod mean std var min max ptp"
    " argmin argmax all any cumsum cumprod round clip conj conjugate dot sort argsort partition argpartition"
    " searchsorted nonzero astype copy tolist item fill put compress choose byteswap __len__"
)
_TENSOR_SHAPES = (
    "reshape view_as transpose permute movedim moveaxis swapaxes swapdims t squeeze unsqueeze flatten unflatten"
    " broadcast_to flip fliplr flipud roll rot90 tile repeat_interleave chunk split tensor_split hsplit vsplit dsplit"
    " unbind narrow narrow_copy select slice_scatter select_scatter diagonal_scatter msort conj view_as_complex"
    " view_as_real resolve_conj diagonal diag diag_embed diagflat tril triu take gather index_select masked_select"
    " masked_fill scatter scatter_add index_add index_fill take_along_dim expand_as atleast_1d adjoint"
)
_TENSOR_ELEMENTS = (
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow float_power maximum minimum"
    " fmax fmin atan2 hypot logaddexp eq ne lt le gt ge equal allclose isclose logical_and logical_or logical_xor"
    " bitwise_and bitwise_or bitwise_xor abs absolute exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal"
    " sin cos tan asin acos atan sinh cosh tanh sigmoid floor ceil trunc round frac sign neg negative relu clamp clip"
    " lerp isnan isinf isfinite logical_not bitwise_not erf erfc softmax log_softmax addcmul addcdiv where real imag"
)
_TENSOR_SUMS = (
    "sum mean std var median mode amin amax aminmax argmax argmin max min prod norm all any cumsum cumprod logsumexp"
    " cummax cummin count_nonzero nansum nanmean quantile sort argsort topk kthvalue unique dot mm bmm matmul mv addmm"
    " baddbmm addmv outer ger cross tensordot inner vdot cdist trace det inverse logdet dist cholesky histc bincount"
    " nonzero diff renorm multinomial"
)
_TORCH_CREATION = (
    "tensor as_tensor zeros ones empty full zeros_like ones_like empty_like full_like rand_like randn_like"
    " randint_like eye arange linspace logspace rand randn randint randperm cat concat concatenate stack hstack vstack"
    " dstack column_stack block_diag meshgrid cartesian_prod combinations einsum chain_matmul tril_indices"
    " triu_indices broadcast_tensors broadcast_shapes complex polar vander numel is_tensor is_floating_point bucketize"
    " searchsorted embedding conv1d conv2d conv3d manual_seed finfo iinfo Size Generator"
)
_TORCH_PARTS = (
    "linalg.norm linalg.vector_norm linalg.matrix_norm linalg.det linalg.inv linalg.solve linalg.eig linalg.eigh"
    " linalg.svd linalg.qr linalg.cholesky linalg.lstsq linalg.matrix_power linalg.matrix_rank linalg.multi_dot"
    " linalg.pinv linalg.cross linalg.slogdet fft.fft fft.ifft fft.rfft fft.irfft fft.fft2 fft.fftn fft.fftshift"
)
_FUNCTIONAL = (
    "relu relu6 leaky_relu elu selu celu gelu silu mish prelu rrelu glu softplus softsign tanh sigmoid hardtanh"
    " hardsigmoid hardswish logsigmoid softmin softmax log_softmax gumbel_softmax linear bilinear embedding"
    " embedding_bag one_hot conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d unfold fold"
    " max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d"
    " adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d lp_pool1d lp_pool2d max_unpool1d max_unpool2d"
    " batch_norm instance_norm layer_norm group_norm rms_norm local_response_norm normalize dropout dropout1d"
    " dropout2d dropout3d alpha_dropout feature_alpha_dropout pad interpolate grid_sample affine_grid pixel_shuffle"
    " pixel_unshuffle cosine_similarity pairwise_distance pdist cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss"
    " huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits hinge_embedding_loss margin_ranking_loss"
    " cosine_embedding_loss triplet_margin_loss poisson_nll_loss gaussian_nll_loss multi_margin_loss soft_margin_loss"
    " multilabel_margin_loss multilabel_soft_margin_loss ctc_loss scaled_dot_product_attention threshold hardshrink"
    " softshrink tanhshrink"
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
_TENSOR_METHODS = (
    "view expand repeat size dim ndimension numel nelement type float double half int long bool clone detach"
    " contiguous tolist item numpy to cpu masked_fill new_zeros new_ones new_full new_tensor stride element_size"
    " is_floating_point type_as requires_grad_ unfold add_ sub_ mul_ div_ zero_ fill_ copy_ clamp_ exp_ sqrt_ pow_"
    " squeeze_ unsqueeze_ transpose_ t_ scatter_ scatter_add_ index_add_ index_copy_ index_fill_ masked_fill_ resize_"
    " normal_ uniform_ __len__"
)
_BUILTINS = "abs bool complex enumerate float int iter len list max min range round set sorted sum tuple zip"
_STEPS = "attribute call element format item member method operator set_item truth"
_TORCH_BY_VALUES_WORDS = (
    "Generator allclose bincount combinations embedding_bag equal is_tensor item manual_seed masked_select nonzero"
    " one_hot randperm repeat_interleave tolist unique where"
)
_BY_VALUES_WORDS = (
    "numpy.arange numpy.argwhere numpy.array2string numpy.bincount numpy.choose numpy.compress numpy.delete"
    " numpy.extract numpy.flatnonzero numpy.histogram numpy.insert numpy.intersect1d numpy.linalg.lstsq"
    " numpy.mask_indices numpy.ndarray.choose numpy.ndarray.compress numpy.ndarray.nonzero numpy.ndarray.repeat"
    " numpy.nonzero numpy.poly numpy.polydiv numpy.real_if_close numpy.repeat numpy.resize numpy.roots numpy.select"
    " numpy.setdiff1d numpy.setxor1d numpy.tile numpy.trim_zeros numpy.union1d numpy.unique numpy.where"
)
_BOUND = "lightgbm matplotlib numpy pandas scipy seaborn sklearn statsmodels torch torchvision"


def _prefixed(prefix: str, words: str) -> str:
    return " ".join(prefix + word for word in words.split())


_OF_TORCH = " ".join(
    (
        *(_TENSOR_SHAPES, _TENSOR_ELEMENTS, _TENSOR_SUMS, _TORCH_CREATION, _TORCH_PARTS),
        *(_prefixed("nn.functional.", _FUNCTIONAL), _prefixed("nn.", _TORCH_LAYERS)),
    )
)
CALLS = {
    "numpy": frozenset(" ".join((_NUMPY_SHAPES, _NUMPY_CREATION, _NUMPY_ELEMENTS, _NUMPY_SUMS, _NUMPY_OTHERS)).split()),
    "torch": frozenset(_OF_TORCH.split()),
}
"""By package: functions and classes, their dotted names without the package."""
BUILTINS = frozenset(_BUILTINS.split())
"""Python's own functions, asked where one of the operands is a library's."""
METHODS = {
    "numpy.ndarray": frozenset(_ARRAY_METHODS.split()),
    "torch.Tensor": frozenset(" ".join((_TENSOR_SHAPES, _TENSOR_ELEMENTS, _TENSOR_SUMS, _TENSOR_METHODS)).split()),
    **{f"torch.{name}": frozenset(["__call__"]) for name in _TORCH_LAYERS.split()},
}
"""By class, written package.Class."""
STEPS = frozenset(_STEPS.split())
_TORCH_BY_VALUES = frozenset(_TORCH_BY_VALUES_WORDS.split())
BY_VALUES = frozenset(_BY_VALUES_WORDS.split())
"""What these give depends on values, or may: only what they refuse counts."""
CHANGES = frozenset(
    [
        "numpy.nan_to_num",
        "numpy.ndarray.sort",
        "numpy.ndarray.partition",
        "numpy.ndarray.fill",
        "numpy.ndarray.put",
        "numpy.ndarray.byteswap",
    ]
)
"""What changes its operand, or the state of the library: only what it refuses counts."""


BOUND = frozenset(_BOUND.split())
"""Packages whose functions, classes and methods are asked which arguments they take, and are not called."""
NEVER = frozenset(["load", "save", "dump", "dumps", "fromfile", "tofile", "loads", "index", "rindex"])
"""Never, whatever the list says: names of what reads and writes files, or looks for a text in values."""
UNLESS_MENTIONED = {
    "numpy": ("__array_", "set_array_function"),
    "torch": ("autocast", "set_default", "__torch_", "use_deterministic", "torch.overrides"),
}
"""By package: what a notebook may not spell where it is asked, as it may change what all its operations do."""
OTHER_DEVICES = ("cuda", "mps", "xpu", "device")
"""What a notebook spells that may move tensors away from the processor."""


_UNTOLD = ("numpy.random.", "numpy.ma.")
"""Modules of functions that draw values or may change what they are given."""


def is_listed(step: str, of: str, name: str) -> bool:
    """Whether an operation may be asked; `of` is a package of functions, else a class as package.Class."""
    if step == "call":
        listed = BUILTINS if of == "builtins" else CALLS.get(of, frozenset())
        module, dot, last = name.rpartition(".")
        return (
            name in listed or bool(dot) and not last.startswith("_") and last not in NEVER and f"{module}.*" in listed
        )
    if step == "method":
        return name in METHODS.get(of, frozenset())
    return step in STEPS


def tells_result(step: str, of: str, name: str) -> bool:
    """Whether what an operation gives is certain too, not only what it refuses."""
    full = f"{of}.{name}"
    if step in ("set_item", "truth", "member") or full in BY_VALUES or full in CHANGES or full.startswith(_UNTOLD):
        return False
    if of.startswith("torch") and (name.rpartition(".")[2] in _TORCH_BY_VALUES or name.endswith("_")):
        return False
    return not name.endswith("=") or name in ("==", "!=", "<=", ">=")
