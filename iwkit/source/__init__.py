"""Read a YAML TaskPack with the place of every value, and check it against its schema."""
