"""The labelling desk in the browser: cards, snapshot, component."""
