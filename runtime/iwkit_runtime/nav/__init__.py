"""Ways for the wearer: occupancy, path search, doors, stances and trajectories (B.2.1). Plain data in and out."""
