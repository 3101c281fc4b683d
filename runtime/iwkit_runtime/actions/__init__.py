"""What the wearer does in the physical world: each primitive as motion, screened frame by frame (ACT)."""
