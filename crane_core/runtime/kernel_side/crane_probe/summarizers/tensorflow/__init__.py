"""Objects of TensorFlow, by kind."""
