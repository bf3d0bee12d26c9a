"""Keras: which layers, losses and optimizers are made and tried."""

from __future__ import annotations

import re

from .places import FIRST, NONE, TWO, listed, prefixed

# Without Lambda, which runs code of the notebook, and without layers that learn from data by
# adapt().
_LAYERS = (
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
_LOSSES = (
    "BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy CategoricalHinge"
    " CosineSimilarity Hinge Huber KLDivergence LogCosh MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError"
    " MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge"
)
_JOINING = "Add Average Concatenate Maximum Minimum Multiply Subtract"
_WRAPPERS = "layers.Bidirectional layers.TimeDistributed"
_OPTIMIZERS = (
    "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lion Nadam RMSprop SGD"
)
_SYMBOLS = (
    f"{_WRAPPERS} layers.add layers.average layers.concatenate layers.maximum layers.minimum layers.multiply"
    " layers.subtract"
)
_OPS = "ops.arange ops.array ops.cast ops.convert_to_tensor ops.eye ops.full ops.linspace ops.ones ops.zeros"
MADE = (
    f"Input {prefixed('layers.', f'{_LAYERS} {_JOINING}')} {prefixed('losses.', _LOSSES)}"
    f" {prefixed('optimizers.', _OPTIMIZERS)}"
)
"""What is made of known operands, by TensorFlow's own Keras too."""
CALLS = listed(
    (NONE, f"{MADE} layers.Input layers.InputLayer {_OPS}"), (FIRST, _SYMBOLS)
)
METHODS = {
    **{
        f"keras.{name}": {"__call__": FIRST}
        for name in f"{_LAYERS} {_JOINING} Bidirectional TimeDistributed".split()
    },
    **{f"keras.{name}": {"__call__": TWO} for name in _LOSSES.split()},
}
# Another backend, a policy of dtypes or NumPy's rules change what layers accept.
UNLESS_MENTIONED = (
    "KERAS_BACKEND",
    "set_backend",
    "policy",
    "mixed_precision",
    "set_floatx",
    "set_image",
    "numpy_behavior",
)
# A layer gets attributes when it is built.
GROWING = ("keras.layers.", "keras.src.layers.")
NOT_OF_OPERANDS = ("value (None)", "stateless scope")
"""Where a length is open, or as only shapes are tried."""
ALWAYS_REFUSED = re.compile(
    r"expected (?:m\w\w_)?ndim|expected axis|size would be negative"
)
"""What layers have always refused of shapes."""
IS_OF_ANY_VERSION = True
