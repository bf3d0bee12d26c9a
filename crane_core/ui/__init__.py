"""The only Streamlit inside the core: frame, cached readers, and the HTML we draw ourselves."""
