"""The wearer's body: skeleton and skin, camera, walking, postures, arms and hands (docs/body.md; paper B.1, B.2)."""
