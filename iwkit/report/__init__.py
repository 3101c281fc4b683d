"""Reading a run folder: figures, tables, transcripts."""
