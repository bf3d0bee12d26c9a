"""Targets with tensors of TensorFlow: what is predicted beside what TensorFlow does."""

from __future__ import annotations

import os

import pytest

from tests.optional import needs

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = needs("tensorflow")

SETUP = """
import numpy as np
import tensorflow as tf

a, b = tf.zeros((2, 3)), tf.zeros((3, 4))
i, d = tf.ones((2, 3), tf.int32), tf.zeros((2, 3), tf.float64)
array = np.zeros((2, 3))
variable = tf.Variable(a)
"""

RAISES = [
    ("a @ a", "InvalidArgumentError"),
    ("tf.matmul(a, i)", "InvalidArgumentError"),
    ("tf.matmul(a, a[0])", "InvalidArgumentError"),
    ("a + b", "InvalidArgumentError"),
    ("a + i", "InvalidArgumentError"),
    ("a * d", "InvalidArgumentError"),
    ("a > b", "InvalidArgumentError"),
    ("a > i", "InvalidArgumentError"),
    ("tf.concat([a, b], axis=0)", "InvalidArgumentError"),
    ("tf.concat([a, i], 0)", "InvalidArgumentError"),
    ("tf.concat([a, a], 2)", "InvalidArgumentError"),
    ("tf.stack([a, b])", "InvalidArgumentError"),
    ("tf.stack([a, a], axis=4)", "ValueError"),
    ("tf.reshape(a, (4, 2))", "InvalidArgumentError"),
    ("tf.reshape(a, [-1, 4])", "InvalidArgumentError"),
    ("a[0] = 1", "TypeError"),
    ("variable[0] = 1", "TypeError"),
    ("d * variable", "InvalidArgumentError"),
    ("variable @ variable", "InvalidArgumentError"),
    (
        "with tf.GradientTape() as tape:\n    loss = tf.reduce_mean(variable - d)",
        "InvalidArgumentError",
    ),
    ("variable.assign(b)", "ValueError"),
    ("variable.assign_sub(b)", "InvalidArgumentError"),
    ("a[5]", "InvalidArgumentError"),
    ("a[0, 0, 0]", "InvalidArgumentError"),
    ("a.reshape(3, 2)", "AttributeError"),
    ("a.astype('float32')", "AttributeError"),
    ("a.T", "AttributeError"),
    ("a.item()", "AttributeError"),
]

RUNS = [
    "variable.assign_sub(0.1 * a)\nvariable + array - a",
    "variable @ b + 2 / (variable @ b + 1)",
    "loose = tf.Variable(a, shape=tf.TensorShape(None))\nloose.assign(b)",
    "a @ b",
    "a + 1 - 2.5",
    "a + array",
    "array + a",
    "a + a[0]",
    "a == b",
    "i / i",
    "tf.cast(a, tf.int32) + i",
    "tf.cast(i, 'float32') @ b",
    "tf.cast(i, d.dtype) + d",
    "tf.matmul(a, a, transpose_b=True)",
    "tf.concat([a, a], axis=-1) @ tf.concat([b, b], 0)",
    "tf.stack([a, a], axis=1)",
    "tf.reshape(a, [-1, 2])",
    "tf.reshape(a, (3, -1)) @ a",
    "a[0, 1] + a[-1]",
    "a[:, 1:] + tf.zeros((2, 2))",
    "a[..., tf.newaxis]",
    "variable.assign(a + 1)",
    "variable[0].assign(tf.ones(3))",
    "a.numpy()[0, 0] = 1",
    "a.numpy().reshape(3, 2)",
    "a.shape[0] + len(a)",
    "float(tf.reduce_sum(a))",
    "with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(variable * variable)\ntape.gradient(loss, variable)",
]


@pytest.mark.parametrize(
    ("target", "exception"), RAISES, ids=[target for target, _ in RAISES]
)
def test_what_tensorflow_refuses_is_predicted(check, target, exception):
    assert check(SETUP, target).raised == exception


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_tensorflow_accepts_is_let_pass(check, target):
    assert check(SETUP, target).raised is None
