"""Models and scenes that others made, brought into a project as categories, recipes, mesh files and scene files."""
