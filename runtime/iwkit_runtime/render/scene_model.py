"""What is seen of a scene as a MuJoCo model: meshes and materials, every link placed by the renderer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from iwkit_runtime.body.model import Body
from iwkit_runtime.body.pose import INDEX
from iwkit_runtime.physical.scene_spec import SceneSpec
from iwkit_runtime.physical.spec import Ints, Material, Vector, Visual
from iwkit_runtime.render.lamps import Lamp, lamps, lit

WEARER = "wearer"
"""The name under which the wearer's own body is counted."""
HEAD, REST = 1, 0
"""Skin groups: the head is left out of what the wearer sees."""
SKY = (0.72, 0.80, 0.88)
AMBIENT = 0.60
LIGHTS = (
    ((0.40, 0.72, -0.57), 0.34),
    ((-0.80, -0.25, -0.55), 0.20),
    ((0.20, -0.35, 0.91), 0.26),
)
"""Directions and strengths of lights without shadows; unequal, so that walls that meet differ in brightness. The last
one comes from below: light that floors throw back to ceilings and undersides."""
HEADLIGHT = 0.10
"""Strength of a light at the camera, which gives near things their shape."""
SHADE = ((0.0, 0.09), (0.03, 0.07), (0.07, 0.05))
"""The soft shadow of a fixture on the floor: layers that reach so far (metres) beyond its footprint, and how dark."""
SHADES = 3
"""Geom group of these shadows, which are left out where things are counted."""


@dataclass(frozen=True, eq=False)
class SkinPart:
    """Faces of the body of one colour: the body's vertices (n,) that it uses, and where it begins among all skins'."""

    vertices: Ints
    start: int


@dataclass(frozen=True, eq=False)
class Drawn:
    """A model to draw, the mocap number of each (thing, link), the name for each geom, and the parts of the body.

    `when` gives the state in which a geom is drawn; those that are always drawn are not in it. `lamps` light their
    rooms while they run.
    """

    model: mujoco.MjModel
    mocap: dict[tuple[str, str], int]
    owners: tuple[str, ...]
    when: dict[int, str]
    skins: tuple[SkinPart, ...]
    lamps: tuple[Lamp, ...]


def drawn(spec: SceneSpec, body: Body | None, size: tuple[int, int], samples: int) -> Drawn:
    """The model of a scene, with the wearer's body if given, for pictures up to `size` with `samples` per pixel."""
    made, found_lamps = _Drawing(size, samples), lamps(spec)
    building = {static.name: lit(static, found_lamps) for static in spec.statics}
    for name, visuals in building.items():
        made.visuals(made.spec.worldbody.add_body(name=f"static/{name}"), visuals)
    for placed in spec.placed:
        for link in placed.asset.links:
            body_ = made.spec.worldbody.add_body(name=f"{placed.name}/{link.name}", mocap=True)
            made.visuals(body_, link.visuals)
            if placed.kind == "fixture" and link.parent is None and placed.position[2] == 0:
                made.shade(body_, placed.asset.size)
    skins = made.body(body) if body else ()
    model = made.spec.compile()
    names = {model.body(f"static/{static.name}").id: static.name for static in spec.statics}
    mocap = {}
    for placed in spec.placed:
        for link in placed.asset.links:
            found = model.body(f"{placed.name}/{link.name}").id
            names[found] = placed.name
            mocap[placed.name, link.name] = int(model.body_mocapid[found])
    when = {model.geom(name).id: state for name, state in made.when.items()}
    return Drawn(model, mocap, tuple(names[int(number)] for number in model.geom_bodyid), when, skins, found_lamps)


class _Drawing:
    """A MuJoCo specification in the making; assets used twice share their meshes and textures."""

    def __init__(self, size: tuple[int, int], samples: int) -> None:
        self.spec = mujoco.MjSpec()
        visual = self.spec.visual
        visual.global_.offwidth, visual.global_.offheight = size
        visual.quality.offsamples = samples
        visual.headlight.ambient, visual.headlight.diffuse = [AMBIENT] * 3, [HEADLIGHT] * 3
        visual.headlight.specular = [0, 0, 0]
        self.spec.stat.extent = 1.0  # so that near and far planes are in metres
        self.spec.compiler.balanceinertia = True  # flat meshes have no proper one, and nothing here has any use for it
        visual.map.znear, visual.map.zfar = 0.02, 60
        sky = self.spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=16, height=96)
        sky.builtin, sky.rgb1, sky.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_FLAT, SKY, SKY
        for direction, strength in LIGHTS:
            light = self.spec.worldbody.add_light(dir=direction, type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
            light.diffuse, light.specular, light.castshadow = [strength] * 3, [strength * 0.3] * 3, False
        self.when: dict[str, str] = {}
        self._meshes: dict[int, str] = {}
        self._materials: dict[tuple[object, ...], str] = {}

    def visuals(self, body: mujoco.MjsBody, visuals: Sequence[Visual]) -> None:
        for visual in visuals:
            geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=self._mesh(visual))
            geom.material = self._material(visual.material)
            geom.contype = geom.conaffinity = 0
            if visual.when is not None:
                geom.name = f"when{len(self.when)}"
                self.when[geom.name] = visual.when

    def shade(self, body: mujoco.MjsBody, size: Vector) -> None:
        """Darken the floor under and around a fixture."""
        for number, (reach, dark) in enumerate(SHADE):
            half = [size[0] / 2 + reach, size[1] / 2 + reach, 2e-4]
            geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=[0, 0, 2e-3 - 4e-4 * number])
            geom.rgba, geom.group = [0.04, 0.04, 0.06, dark], SHADES
            geom.contype = geom.conaffinity = 0

    def _mesh(self, visual: Visual) -> str:
        if id(visual) not in self._meshes:
            name = self._meshes[id(visual)] = f"mesh{len(self._meshes)}"
            mesh = self.spec.add_mesh(name=name, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
            mesh.uservert, mesh.userface = visual.vertices.ravel(), visual.faces.ravel()
            if visual.uv is not None:
                u, v = visual.uv.T
                mesh.usertexcoord = np.column_stack([u, 1 - v]).astype(np.float32).ravel()
        return self._meshes[id(visual)]

    def _material(self, material: Material) -> str:
        key = (material.rgba, material.emission, None if material.texture is None else id(material.texture))
        if key not in self._materials:
            name = self._materials[key] = f"material{len(self._materials)}"
            made = self.spec.add_material(
                name=name, rgba=material.rgba, emission=material.emission, specular=0.15, shininess=0.2
            )
            if material.texture is not None:
                height, width, _ = material.texture.shape
                texture = self.spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, nchannel=3)
                texture.width, texture.height, texture.data = width, height, material.texture.tobytes()
                made.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        return self._materials[key]

    def body(self, body: Body) -> tuple[SkinPart, ...]:
        """One skin for each colour of the body, head and rest apart. The renderer gives them their vertices."""
        self.spec.worldbody.add_body(name=WEARER, mocap=True)
        of_head = body.weight_table[:, [INDEX["head"]]].sum(1) > 0.5
        in_head = of_head[body.faces].all(1)
        parts: list[SkinPart] = []
        start = 0
        for number, colour in enumerate(body.part_rgb):
            for group in (REST, HEAD):
                faces = body.faces[(body.face_part == number) & (in_head == (group == HEAD))]
                if not len(faces):
                    continue
                used, inverse = np.unique(faces, return_inverse=True)
                self._skin(f"skin{len(parts)}", body.vertices[used], inverse.reshape(-1, 3), (*colour, 1.0), group)
                parts.append(SkinPart(used.astype(np.int32), start))
                start += len(used)
        return tuple(parts)

    def _skin(self, name: str, vertices: np.ndarray, faces: np.ndarray, rgba: tuple[float, ...], group: int) -> None:
        material = self.spec.add_material(name=name, rgba=rgba, specular=0.1, shininess=0.2)
        skin = self.spec.add_skin(name=name, material=material.name, group=group)
        skin.vert, skin.face = vertices.ravel().tolist(), faces.ravel().tolist()
        skin.bodyname, skin.bindpos, skin.bindquat = [WEARER], [0, 0, 0], [1, 0, 0, 0]
        skin.vertid, skin.vertweight = [list(range(len(vertices)))], [[1.0] * len(vertices)]
