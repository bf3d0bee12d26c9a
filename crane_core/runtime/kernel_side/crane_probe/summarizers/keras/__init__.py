"""Objects of Keras, by kind."""
