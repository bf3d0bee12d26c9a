"""What the target asks for and will not find: names, attributes, keys, columns, arguments, files, modules."""
