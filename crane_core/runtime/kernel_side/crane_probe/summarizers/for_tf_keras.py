"""The Keras of older TensorFlow under the name tf_keras: as Keras, which tells its objects apart itself."""

from __future__ import annotations

from . import for_keras

FOLLOW = for_keras.follow
SUMMARIZERS = for_keras.SUMMARIZERS
