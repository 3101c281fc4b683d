"""Physics engines: each loads a scene, moves what it is told to and settles what is let go (`base.Engine`)."""
