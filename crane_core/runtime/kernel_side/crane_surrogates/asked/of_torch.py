"""PyTorch: which functions, methods and layers are tried, and what depends on devices, gradients and versions."""

from __future__ import annotations

import re

from .places import ALL, FIRST, NONE, REST, THREE, TWO, listed, prefixed, words

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
_TENSOR_METHODS = listed(
    (
        NONE,
        # Those that change their tensor are tried only where it certainly requires no gradient.
        "view expand repeat size dim ndimension numel nelement float double half int long bool clone detach contiguous"
        " tolist item numpy new_zeros new_ones new_full stride element_size is_floating_point requires_grad_ unfold"
        " zero_ fill_ exp_ sqrt_ squeeze_ unsqueeze_ transpose_ t_ resize_ normal_ uniform_ __len__ short cpu",
    ),
    (
        FIRST,
        "backward to type type_as add_ sub_ mul_ div_ copy_ pow_ masked_fill_",
    ),
    (TWO, "clamp_"),
    (NONE, _TENSOR_ALONE),
    (FIRST, _TENSOR_WITH_ONE),
    (TWO, _TENSOR_WITH_TWO),
    # The axis must be known, while index and source may be stand-ins.
    ((1,), "gather index_select index_fill index_fill_"),
    (
        (1, 2),
        "scatter scatter_add index_add scatter_add_ index_add_ index_copy_",
    ),
    ((0,), "where"),
)
_FUNCTIONAL = listed(
    (
        FIRST,
        "relu relu6 leaky_relu elu selu celu gelu silu mish rrelu glu softplus softsign tanh sigmoid hardtanh"
        " hardsigmoid hardswish logsigmoid softmin softmax log_softmax gumbel_softmax one_hot unfold fold max_pool1d"
        " max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d"
        " adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d lp_pool1d lp_pool2d local_response_norm normalize"
        " dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout pad interpolate affine_grid"
        " pixel_shuffle pixel_unshuffle pdist threshold hardshrink softshrink tanhshrink",
    ),
    (
        TWO,
        "prelu embedding grid_sample cosine_similarity pairwise_distance cross_entropy nll_loss mse_loss l1_loss"
        " smooth_l1_loss huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits hinge_embedding_loss"
        " poisson_nll_loss multi_margin_loss soft_margin_loss multilabel_margin_loss multilabel_soft_margin_loss"
        " max_unpool1d max_unpool2d",
    ),
    (
        THREE,
        "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d margin_ranking_loss"
        " cosine_embedding_loss triplet_margin_loss scaled_dot_product_attention",
    ),
    (range(4), "bilinear"),
    (range(5), "batch_norm instance_norm"),
    ((0, 2, 3), "layer_norm group_norm rms_norm"),
)
_LAYERS = (
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
LOSSES = (
    "L1Loss MSELoss CrossEntropyLoss NLLLoss PoissonNLLLoss KLDivLoss BCELoss BCEWithLogitsLoss HuberLoss SmoothL1Loss"
    " SoftMarginLoss MultiLabelSoftMarginLoss HingeEmbeddingLoss MarginRankingLoss CosineEmbeddingLoss"
)
CALLS = listed(
    (
        NONE,
        "zeros ones empty full eye arange linspace logspace rand randn randint randperm tril_indices triu_indices"
        " broadcast_shapes manual_seed finfo iinfo Size Generator",
    ),
    (
        FIRST,
        "tensor as_tensor asarray from_numpy zeros_like ones_like empty_like full_like rand_like randn_like"
        " randint_like cat concat concatenate stack hstack vstack dstack column_stack combinations vander numel"
        " is_tensor is_floating_point multinomial atleast_1d linalg.norm linalg.vector_norm linalg.matrix_norm"
        " linalg.det linalg.inv linalg.eig linalg.eigh linalg.svd linalg.qr linalg.cholesky linalg.matrix_power"
        " linalg.matrix_rank linalg.multi_dot linalg.pinv linalg.slogdet fft.fft fft.ifft fft.rfft fft.irfft"
        " fft.fft2 fft.fftn fft.fftshift bernoulli linalg.svdvals linalg.eigvals linalg.eigvalsh linalg.lu"
        " linalg.lu_factor linalg.inv_ex is_complex atleast_2d atleast_3d corrcoef cov ravel as_strided"
        " fake_quantize_per_tensor_affine quantize_per_tensor",
    ),
    (
        TWO,
        "normal result_type linalg.tensorsolve linalg.vecdot complex polar bucketize searchsorted embedding"
        " linalg.solve linalg.lstsq linalg.cross",
    ),
    (THREE, "conv1d conv2d conv3d"),
    (ALL, "block_diag meshgrid cartesian_prod chain_matmul broadcast_tensors"),
    (REST, "einsum"),
    (FIRST, _TENSOR_ALONE),
    (TWO, _TENSOR_WITH_ONE),
    (THREE, f"where {_TENSOR_WITH_TWO}"),
    ((0, 2), "gather index_select index_fill"),
    ((0, 2, 3), "scatter scatter_add index_add"),
    (NONE, prefixed("nn.", _LAYERS)),
    (TWO, prefixed("nn.", LOSSES)),
    (ALL, "nn.Sequential utils.data.TensorDataset"),
    (
        FIRST,
        prefixed(
            "optim.", "SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam"
        ),
    ),
    *(
        (places, f"nn.functional.{name}")
        for name, places in _FUNCTIONAL.items()
    ),
)
METHODS = {
    "torch.Tensor": _TENSOR_METHODS,
    "torch.Parameter": _TENSOR_METHODS,
    **{
        f"torch.{name}": {"__call__": THREE, "forward": THREE}
        for name in _LAYERS.split()
    },
}
# Of these the number of elements, or a boolean, depends on values or is drawn.
_OF_VALUES = words(
    "Generator allclose bincount combinations equal is_tensor manual_seed masked_select nn.functional.one_hot"
    " nonzero randperm tolist unique where"
)
BY_VALUES = dict.fromkeys(
    ("torch", "torch.Tensor", "torch.Parameter"), _OF_VALUES
)
OF_DATA = ("tensor", "as_tensor", "from_numpy")
"""What makes a tensor of data."""
LENGTHS = words(
    "shape ndim size itemsize dim ndimension numel nelement stride element_size __len__"
)
"""Attributes and methods of tensors that give lengths, counts of axes and the like."""
VIEWS = words(
    "T mT H mH data real adjoint broadcast_to chunk detach diagonal expand expand_as flatten movedim moveaxis narrow"
    " permute reshape select split squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold unsqueeze"
    " view view_as"
)
"""What returns tensors that lie in the memory of another one, if they can."""
INDEXING = words(
    "cross_entropy nll_loss embedding one_hot gather index_select __call__ forward"
)
"""What looks at every integer of a tensor."""
# Modes and hooks change what operations do, wherever in the notebook they were set.
UNLESS_MENTIONED = (
    "autocast",
    "set_default",
    "__torch_",
    "use_deterministic",
    "torch.overrides",
    "vmap",
    "FakeTensor",
    "hook",
    "parametriz",
    "torch.library",
)
OTHER_DEVICES = ("cuda", "mps", "xpu", "device")
"""What a notebook spells that may move tensors away from the processor."""
ELSEWHERE = re.compile(
    r"(?i)\b(?:cuda|mps|xpu|hpu|npu|xla|meta|musa|mlu|vulkan|privateuseone)\b"
)
"""A text that names a device that may be there, or not."""
MOVING = words("cpu to type tensor as_tensor asarray")
"""What returns a tensor that may be on another device than what it is given."""
NOT_RECORDING = (
    "no_grad",
    "inference_mode",
    "grad_enabled",
    "functional_call",
    "ightning",
)
"""Where a notebook spells none of these, gradients are recorded."""
FREEZING = ("requires_grad", "freeze", "from_pretrained")
"""Where it spells none of these, weights of layers require a gradient."""
# A module gets parameters and hooks as it is used.
GROWING = ("torch.nn.modules.",)
NO_TENSOR = re.compile(
    r"must be Tensor, not|got \((?:list|tuple|str|int|float|NoneType)\b"
)
"""What it says of an operand that is not a tensor."""
OF_VERSION = re.compile(
    r"Expected (?:target size|more than 1 spatial|input to be)|when training, got input size \[|^Softmax2d|^For 1D"
    r"|^num_channels|converted to Scalar|reduction dim|^start out of|^Padding length"
    r"|should have same dimension|target tensor expects|^1D target|(?<!'numpy\.ndarray' object )has no attribute"
)
IS_LAZY = True
IS_OF_ANY_VERSION = True
