"""Targets with Keras: what is predicted beside what Keras does."""

from __future__ import annotations

import os
import re

import pytest

from tests.optional import needs

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = needs("tensorflow", keras=3)

IMPORTS = """
import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers
from keras.layers import Dense, Flatten, Conv2D, MaxPooling2D, LSTM, Input, Embedding
from tensorflow.keras.models import Sequential

X = np.zeros((12, 9), dtype="float32")
images = np.zeros((12, 10, 10, 3), dtype="float32")
gray = np.zeros((12, 10, 10), dtype="float32")
series = np.zeros((12, 6, 2), dtype="float32")
words = np.arange(48).reshape(12, 4) % 10
far = words + 1
y = np.arange(12) % 3
below = y - 1
y2 = np.arange(12) % 2
y4 = np.arange(12) % 4
hot = np.eye(3)[y]
frame = pd.DataFrame(X)

def made(loss, *parts):
    model = keras.Sequential(list(parts))
    model.compile(optimizer="sgd", loss=loss)
    return model

def dense(n_in, n_out, loss, activation=None):
    return made(loss, layers.Input((n_in,)), layers.Dense(4), layers.Dense(n_out, activation=activation))
"""
PARTS = {
    "sparse": "sparse = dense(9, 3, 'sparse_categorical_crossentropy', 'softmax')",
    "categorical": "categorical = dense(9, 3, 'categorical_crossentropy', 'softmax')",
    "binary": "binary = dense(9, 1, 'binary_crossentropy', 'sigmoid')",
    "mean": "mean = dense(9, 1, 'mse')",
    "eight": "eight = dense(8, 3, keras.losses.SparseCategoricalCrossentropy())",
    "raw": "raw = keras.Sequential([layers.Input((9,)), layers.Dense(3)])",
    "cnn": "cnn = made('sparse_categorical_crossentropy', layers.Input((10, 10, 3)), layers.Conv2D(2, 3),"
    " layers.MaxPooling2D(), layers.Flatten(), layers.Dense(3))",
    "pooled": "pooled = made('mse', layers.Input((10, 10, 3)), layers.Conv2D(2, 3), layers.GlobalAveragePooling2D(),"
    " layers.Dense(1))",
    "recurrent": "recurrent = made('mse', layers.Input((6, 2)), layers.LSTM(3), layers.Dense(1))",
    "embedded": "embedded = made('mse', layers.Input((4,)), layers.Embedding(10, 2), layers.GlobalAveragePooling1D(),"
    " layers.Dense(1))",
    "functional": "inputs = keras.Input((9,))\n"
    "functional = keras.Model(inputs, layers.Dense(3, activation='softmax')(layers.Dense(4)(inputs)))\n"
    "functional.compile(optimizer='sgd', loss='categorical_crossentropy')",
    "lazy": "lazy = made('mse', layers.GRU(3), layers.Dense(1))",
    "dataset": "dataset = tf.data.Dataset.from_tensor_slices((X, hot)).batch(4)",
    "flat_dataset": "flat_dataset = tf.data.Dataset.from_tensor_slices((X, y)).batch(4)",
    "wide_dataset": "wide_dataset = tf.data.Dataset.from_tensor_slices((images, y)).batch(4)",
    "history": "history = dense(9, 1, 'mse').fit(X, y, epochs=1, verbose=0)",
}
"""What only the targets need that name it."""


def setup_for(target: str) -> str:
    names = set(re.findall(r"\w+", target))
    return "\n".join(
        [IMPORTS, *(part for name, part in PARTS.items() if name in names)]
    )


RAISES = [
    ("eight.fit(X, y, verbose=0)", "ValueError"),
    ("eight.predict(X)", "ValueError"),
    ("eight(X)", "ValueError"),
    ("sparse.fit(X[:, :8], y)", "ValueError"),
    ("sparse.fit(X, hot, verbose=0)", "ValueError"),
    ("sparse.fit(X, y4, verbose=0)", "InvalidArgumentError"),
    ("sparse.fit(X, below, verbose=0)", "InvalidArgumentError"),
    ("sparse.evaluate(X, y4, verbose=0)", "InvalidArgumentError"),
    ("categorical.fit(X, y, verbose=0)", "ValueError"),
    ("categorical.fit(X, hot[:, :2], verbose=0)", "ValueError"),
    ("binary.fit(X, hot, verbose=0)", "ValueError"),
    ("functional.fit(X, y)", "ValueError"),
    ("functional.fit(images, hot)", "ValueError"),
    ("functional.predict(X[0])", "ValueError"),
    ("sparse.predict(X[0])", "ValueError"),
    ("raw.fit(X, y)", "ValueError"),
    ("raw.evaluate(X, y)", "ValueError"),
    ("sparse.fit(X, y[:10], verbose=0)", "ValueError"),
    ("sparse.fit(X, y, validation_data=(X[:, :5], y), verbose=0)", "ValueError"),
    ("cnn.fit(images[..., :1], y)", "ValueError"),
    ("cnn.fit(gray, y)", "ValueError"),
    ("cnn.fit(images[:, :8, :8], y)", "ValueError"),
    ("cnn.predict(images[0])", "ValueError"),
    ("pooled.fit(gray, y)", "ValueError"),
    ("recurrent.fit(X, y)", "ValueError"),
    ("recurrent.fit(series[:, :, :1], y)", "ValueError"),
    ("lazy.fit(X, y)", "ValueError"),
    ("embedded.fit(far, y, verbose=0)", "InvalidArgumentError"),
    ("sparse.fit(dataset, verbose=0)", "ValueError"),
    ("categorical.fit(flat_dataset, verbose=0)", "ValueError"),
    ("sparse.fit(wide_dataset, verbose=0)", "ValueError"),
    ("history.history['accuracy']", "KeyError"),
    ("history.history['val_loss'][-1]", "KeyError"),
    (
        "m = Sequential()\nm.add(Dense(4, input_shape=(9,)))\nm.add(Dense(2))\n"
        "m.compile('sgd', 'categorical_crossentropy')\n"
        "m.fit(X, hot, verbose=0)",
        "ValueError",
    ),
    (
        "m = Sequential()\nm.add(Dense(4, input_shape=(8,)))\nm.compile('sgd', 'mse')\nm.fit(X, y)",
        "ValueError",
    ),
    (
        "m = Sequential()\nm.add(Dense(4, input_shape=(8,)))\nm.add(LSTM(3))",
        "ValueError",
    ),
    ("m = Sequential([Input((10, 10)), Conv2D(4, 3)])", "ValueError"),
    (
        "m = Sequential([Input((10, 10, 1)), Conv2D(4, 3), MaxPooling2D(4), Conv2D(4, 3)])",
        "ValueError",
    ),
    ("m = Sequential([Input((6, 2)), LSTM(4), LSTM(4)])", "ValueError"),
    ("i = Input((9,)); LSTM(3)(i)", "ValueError"),
    (
        "i = Input((10, 10, 3)); x = Conv2D(4, 3)(i); j = Conv2D(4, 5)(i); layers.Concatenate()([x, j])",
        "ValueError",
    ),
    ("i = Input((9,)); layers.Add()([Dense(3)(i), Dense(4)(i)])", "ValueError"),
    (
        "i = Input((8, 8, 2)); layers.concatenate([Conv2D(4, 3)(i), Dense(3)(Flatten()(i))])",
        "ValueError",
    ),
    (
        "i = Input((8, 8, 2)); layers.Add()([Conv2D(4, 3)(i), Dense(3)(Flatten()(i))])",
        "ValueError",
    ),
    ("i = Input(9)", "ValueError"),
    ("sparse.predict_classes(X)", "AttributeError"),
    ("sparse.fit_generator(flat_dataset)", "AttributeError"),
    ("sparse.load('w.h5')", "AttributeError"),
    ("keras.optimizers.Adam(lr=0.001)", "ValueError"),
    ("m = Sequential([Input((9,)), Dense(3)]); m.fit(X, hot)", "ValueError"),
]

RUNS = [
    "i = Input((1, 4)); layers.Add()([Dense(3)(i), Dense(3)(Flatten()(i))])",
    "sparse.fit(X, y, verbose=0)",
    "sparse.fit(X, y.reshape(-1, 1), verbose=0)",
    "sparse.fit(frame, y, verbose=0, validation_split=0.25)",
    "sparse.fit(X[..., None], y, verbose=0)",
    "categorical.fit(X, hot, verbose=0)",
    "categorical.fit(X, keras.utils.to_categorical(y), verbose=0)",
    "binary.fit(X, y2, verbose=0)",
    "binary.fit(X, pd.Series(y2), verbose=0)",
    "mean.fit(X, y, batch_size=5, verbose=0)",
    "mean.fit(X, hot, verbose=0)",
    "functional.fit(X, hot, verbose=0, validation_data=(X, hot))",
    "functional.predict(X[:1], verbose=0).argmax(axis=1)",
    "sparse.predict(X[0].reshape(1, -1), verbose=0)",
    "sparse.predict(np.expand_dims(X[0], 0), verbose=0)",
    "raw.predict(X, verbose=0)",
    "raw.compile('adam', 'mse'); raw.fit(X, hot, verbose=0)",
    "cnn.fit(images, y, verbose=0)",
    "cnn.predict(images[:1], verbose=0)",
    "cnn.predict(images[0][None], verbose=0)",
    "pooled.fit(images[:, :7, :7], y, verbose=0)",
    "recurrent.fit(series, y, verbose=0)",
    "recurrent.fit(series[:, :4], y, verbose=0)",
    "lazy.fit(series, y, verbose=0)",
    "embedded.fit(words, y, verbose=0)",
    "embedded.fit(words[:, :3], y, verbose=0)",
    "categorical.fit(dataset, verbose=0)",
    "sparse.fit(flat_dataset, verbose=0, validation_data=flat_dataset)",
    "cnn.fit(wide_dataset, verbose=0)",
    "history.history['loss'][-1]",
    "m = Sequential()\nm.add(Dense(4, input_shape=(9,)))\nm.add(Dense(3))\n"
    "m.compile('sgd', 'categorical_crossentropy')\n"
    "m.fit(X, hot, verbose=0)",
    "m = Sequential([Dense(4), Dense(1)]); m.compile('sgd', 'mse'); m.fit(X, y, verbose=0)",
    "m = Sequential([Input((10, 10, 1)), Conv2D(4, 3, padding='same'), MaxPooling2D(),"
    " Conv2D(4, 3), Flatten(), Dense(2)])\n"
    "m.compile('sgd', 'sparse_categorical_crossentropy')\nm.fit(gray, y2, verbose=0)",
    "m = Sequential([Input((6, 2)), LSTM(4, return_sequences=True), LSTM(4), Dense(1)])",
    "m = Sequential([Input((10, 10, 3)), layers.MaxPooling2D(3, strides=1), Flatten(), Dense(2)])\n"
    "m.predict(images, verbose=0)",
    "i = Input((10, 10, 3)); x = Conv2D(4, 3, padding='same')(i); j = Conv2D(2, 5, padding='same')(i)\n"
    "m = keras.Model(i, Dense(1)(Flatten()(layers.Concatenate()([x, j]))))\n"
    "m.compile('sgd', 'mse')\nm.fit(images, y, verbose=0)",
    "i = Input((9,)); m = keras.Model(inputs=i, outputs=layers.Add()([Dense(3)(i), Dense(1)(i)]))",
    "a, b = Input((9,)), Input((2,))\n"
    "m = keras.Model([a, b], Dense(1)(layers.concatenate([a, b])))\nm.compile('sgd', 'mse')\n"
    "m.fit([X, X[:, :2]], y, verbose=0)",
    "base = keras.Sequential([Input((9,)), Dense(5)])\nm = keras.Sequential([base, Dense(3)])\n"
    "m.compile('sgd', 'sparse_categorical_crossentropy')\nm.fit(X, y, verbose=0)",
    "keras.optimizers.Adam(learning_rate=0.001, decay=0.01)",
    "sparse.add(Dense(2)); sparse.compile('sgd', 'sparse_categorical_crossentropy'); sparse.fit(X, y2, verbose=0)",
    "for xb, yb in dataset.take(1): categorical(xb)",
    "sparse.layers[-1].units + sparse.count_params()",
    "pred = (binary.predict(X, verbose=0) > 0.5).astype(int); (pred.ravel() == y2).mean()",
    "sparse.summary(print_fn=lambda text, **more: None); sparse.get_layer(index=0)",
    "class Own(keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.last = Dense(1)\n"
    "    def call(self, x):\n        return self.last(x)\nm = Own(); m.compile('sgd', 'mse'); m.fit(X, y, verbose=0)",
    "seen = []\nclass Noting(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs): seen.append(epoch)\n"
    "sparse.fit(X, y, epochs=1, verbose=0, callbacks=[Noting()]); seen[0]",
]


@pytest.mark.parametrize(
    ("target", "exception"), RAISES, ids=[target for target, _ in RAISES]
)
def test_what_keras_refuses_is_predicted(check, target, exception):
    assert check(setup_for(target), target).raised == exception


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_keras_accepts_is_let_pass(check, target):
    assert check(setup_for(target), target).raised is None


STAR = "import numpy as np\nfrom tensorflow.keras.layers import *\nfrom tensorflow.keras.models import *"


def test_classes_of_a_star_import_may_be_others(check):
    target = "m = Sequential([Input((4, 2)), LSTM(3), Dense(1)])\nm.predict(np.zeros((2, 4, 2)), verbose=0)"
    assert check(STAR, target).raised is None
