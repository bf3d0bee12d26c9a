"""What assistants that run cells may ask, as tools of the Model Context Protocol. Needs the extra `agents`."""
