"""TensorFlow: which functions and methods are tried, and what of its own Keras is made."""

from __future__ import annotations

from . import of_keras
from .places import FIRST, NONE, REST, TWO, listed, prefixed, words

_KNOWN = "zeros ones fill range linspace eye ragged.constant random.normal random.uniform random.truncated_normal"
_TENSORS = (
    "Variable abs argmax argmin argsort broadcast_to cast clip_by_value concat constant convert_to_tensor cos cumsum"
    " exp expand_dims identity linalg.adjoint linalg.diag linalg.diag_part linalg.trace math.abs math.log"
    " math.reduce_mean math.reduce_std math.reduce_sum math.reduce_variance negative nn.relu nn.sigmoid nn.softmax norm"
    " one_hot ones_like pad rank reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum reshape"
    " reverse roll round shape sigmoid sign sin size slice sort split sqrt square squeeze stack tan tanh tile transpose"
    " unstack zeros_like"
)
_ASSIGNING = "assign assign_add assign_sub"
_TWO_TENSORS = (
    "add divide equal greater greater_equal less less_equal linalg.matmul logical_and logical_or math.add math.divide"
    " math.multiply math.subtract matmul maximum minimum multiply not_equal pow subtract tensordot"
)
CALLS = listed(
    (NONE, f"{_KNOWN} {prefixed('keras.', of_keras.MADE)}"),
    (FIRST, _TENSORS),
    (TWO, _TWO_TENSORS),
    (REST, "einsum"),
)
METHODS = {
    "tensorflow.EagerTensor": listed((NONE, "numpy get_shape __len__")),
    "tensorflow.ResourceVariable": listed((NONE, "numpy"), (FIRST, _ASSIGNING)),
}
BY_VALUES = {
    "tensorflow.ResourceVariable": words(_ASSIGNING) | {""}
}  # an item of it can be assigned to
# The build for processors alone has another name.
DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu")
# In graphs and in the mode of TensorFlow 1, nothing is computed at once.
UNLESS_MENTIONED = (
    *of_keras.UNLESS_MENTIONED,
    "as_default",
    "disable_eager",
    "disable_v2",
    "compat.v1",
)
