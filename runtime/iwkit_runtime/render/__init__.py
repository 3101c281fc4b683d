"""Pictures of a scene, from the wearer's head or from outside (EVAL-5). Physics and scoring need none of this."""
