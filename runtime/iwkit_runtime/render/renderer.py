"""Frames of a scene at recorded poses: what the wearer sees, views from outside, and which thing fills which pixels."""

from __future__ import annotations

from collections.abc import Collection
from types import TracebackType
from typing import Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from iwkit.errors import UsageError
from iwkit_runtime.assets.colours import TINTS, tinted
from iwkit_runtime.body.model import Body
from iwkit_runtime.physical.kinematics import frame, link_frames, quaternion
from iwkit_runtime.physical.scene_spec import Joints, Pose, Poses, SceneSpec, States
from iwkit_runtime.physical.spec import Floats, Pixels
from iwkit_runtime.physical.trajectory import CATCHES, POURS
from iwkit_runtime.render.lamps import SHINES, is_before, walls
from iwkit_runtime.render.opengl import context, driver
from iwkit_runtime.render.scene_model import HEAD, REST, SHADES, WEARER, drawn

SIZE = (640, 480)
FIELD_OF_VIEW = 75.0
"""Vertical, in degrees."""
NEAR, FAR = 0.03, 60.0
"""Nothing nearer or farther than this is drawn, metres."""
SAMPLES = 4
"""Samples per pixel."""
AJAR = 0.05
"""From this part of its way on a door is drawn as one that is open: then the light inside goes on."""
LAMPLIGHT = 0.5
"""Brightness of a lamp that is on, at the lamp."""
FADES = (1.0, 0.1, 0.55)
"""By what its light is divided at a distance of d metres: these times 1, d, d squared."""
FAR_OFF = 9.0
"""Metres up to which a lamp is looked for; of those that are on and not behind a wall the nearest gives light."""
STREAM = (0.60, 0.80, 0.95, 0.9)
"""The colour of what is poured."""
THICK = 0.005
"""Half the thickness of a stream, metres."""
RIM = 0.01
"""The opening of a vessel is within so much of its top, metres."""
OUT_OF_VIEW = 5
"""Geom group of what the camera can't see; it is never drawn."""


class Renderer:
    """Draws one scene. Use it in a `with` statement: it holds memory of the graphics driver.

    Args:
        spec: the scene.
        body: the wearer's body, drawn where `frame` is given its vertices.
        size: width and height in pixels.
        fov: vertical field of view in degrees.

    Raises:
        NoOpenGL: the machine can't draw; the message says what to install.
    """

    def __init__(
        self,
        spec: SceneSpec,
        body: Body | None = None,
        *,
        size: tuple[int, int] = SIZE,
        fov: float = FIELD_OF_VIEW,
        samples: int = SAMPLES,
    ) -> None:
        if not (min(size) >= 1 and max(size) <= 4096 and 1 <= fov <= 170):
            raise UsageError(
                f"no picture of {size[0]} x {size[1]} pixels with a field of view of {fov:g} degrees: "
                "give 1 to 4096 pixels and 1 to 170 degrees"
            )
        self._context = context(*size)
        self._context.make_current()
        self._spec, self._body, self.size, self.fov = spec, body, size, fov
        self._assets = {placed.name: placed.asset for placed in spec.placed}
        self._drawn, self._walls = drawn(spec, body, size, samples), walls(spec)
        model = self._drawn.model
        self._data = mujoco.MjData(model)
        self._groups, self._plain = model.geom_group.copy(), model.geom_rgba.copy()
        self._placed: dict[str, tuple[Pose, dict[str, float]]] = {}
        self._geoms: dict[str, list[int]] = {}
        for geom, owner in enumerate(self._drawn.owners):
            self._geoms.setdefault(owner, []).append(geom)
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 8)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._scene.flags[mujoco.mjtRndFlag.mjRND_CULL_FACE] = True
        self._driver = driver(model)
        self._view = mujoco.MjrRect(0, 0, *size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free what the graphics driver holds."""
        self._context.make_current()
        self._driver.free()
        self._context.free()

    def frame(
        self,
        camera: ArrayLike,
        poses: Poses,
        joints: Joints,
        wearer: Floats | None = None,
        *,
        from_head: bool = True,
        hidden: Collection[str] = (),
        states: States | None = None,
    ) -> Pixels:
        """A picture (height, width, 3), row 0 on top.

        Args:
            camera: (4, 4) in the world, x to the right of the picture, y up, looking along -z.
            poses, joints: of every thing, as an engine or a trajectory gives them.
            wearer: the body's vertices (V, 3) in the world; without them it isn't drawn.
            from_head: leave the wearer's own head out.
            hidden: names of what isn't drawn.
            states: what shows on things; what is `open` is read off the joints.
        """
        self._set(camera, poses, joints, wearer, from_head=from_head, shaded=True, hidden=hidden, states=states)
        return self._draw()

    def counts(
        self,
        camera: ArrayLike,
        poses: Poses,
        joints: Joints,
        wearer: Floats | None = None,
        *,
        from_head: bool = True,
        hidden: Collection[str] = (),
        states: States | None = None,
    ) -> dict[str, int]:
        """How many pixels of such a picture show each thing, by name; the sky is left out, the body is `wearer`."""
        self._set(camera, poses, joints, wearer, from_head=from_head, shaded=False, hidden=hidden, states=states)
        names, table, codes = self._coded()
        pixels = np.bincount(codes.ravel(), minlength=len(table))
        found = np.bincount(table, weights=pixels, minlength=len(names))
        return {name: int(count) for name, count in zip(names, found, strict=True) if name and count}

    def ids(
        self,
        camera: ArrayLike,
        poses: Poses,
        joints: Joints,
        wearer: Floats | None = None,
        *,
        from_head: bool = True,
        hidden: Collection[str] = (),
        states: States | None = None,
    ) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Which thing each pixel shows: names, the first one empty for the sky, and an image (height, width)."""
        self._set(camera, poses, joints, wearer, from_head=from_head, shaded=False, hidden=hidden, states=states)
        names, table, codes = self._coded()
        return names, table[codes]

    def _coded(self) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.uint32]]:
        """The names, which of them each code of the image stands for, and the image (height, width) of codes."""
        flags = self._scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = True
        try:
            image = self._draw()
        finally:
            flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = False
        names = ("", *dict.fromkeys((*self._drawn.owners, WEARER)))
        number = {name: index for index, name in enumerate(names)}
        table = np.zeros(self._scene.ngeom + 1, np.int64)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            is_skin = geom.objtype == mujoco.mjtObj.mjOBJ_SKIN
            table[geom.segid + 1] = number[WEARER if is_skin else self._drawn.owners[geom.objid]]
        codes = image[..., 0].astype(np.uint32)
        for channel, high in ((1, 8), (2, 16)):
            if self._scene.ngeom >> high:
                codes |= image[..., channel].astype(np.uint32) << high
        return names, table, codes

    def _draw(self) -> Pixels:
        self._context.make_current()
        width, height = self.size
        mujoco.mjr_render(self._view, self._scene, self._driver)
        image = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_readPixels(image, None, self._view, self._driver)
        return image[::-1]

    def _set(
        self,
        camera: ArrayLike,
        poses: Poses,
        joints: Joints,
        wearer: Floats | None,
        *,
        from_head: bool,
        shaded: bool,
        hidden: Collection[str],
        states: States | None,
    ) -> None:
        lens = np.asarray(camera, dtype=np.float64)
        if lens.shape != (4, 4) or not np.isfinite(lens).all():
            raise UsageError("a camera is a 4 x 4 matrix of finite numbers")
        self._place(poses, joints)
        option, free = mujoco.MjvOption(), mujoco.MjvCamera()
        option.geomgroup[:] = 1
        option.geomgroup[SHADES], option.geomgroup[OUT_OF_VIEW] = shaded, 0
        drawn_ = self._in_view(lens)
        if hidden:
            drawn_ &= [owner not in hidden for owner in self._drawn.owners]
        for geom, when in self._drawn.when.items():
            drawn_[geom] &= self._shows(self._drawn.owners[geom], when, states or {}, joints)
        self._drawn.model.geom_group[:] = np.where(drawn_, self._groups, OUT_OF_VIEW)
        self._tint(states or {})
        option.skingroup[:] = 0
        option.skingroup[REST] = wearer is not None
        option.skingroup[HEAD] = wearer is not None and not from_head
        mujoco.mjv_updateScene(
            self._drawn.model, self._data, option, None, free, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
        if wearer is not None:
            self._dress(wearer, shaded=shaded)
        for light in self._scene.lights[: self._scene.nlight]:
            if light.headlight:
                light.pos[:], light.dir[:] = lens[:3, 3], -lens[:3, 2]
        if shaded:
            self._light_up(lens, states or {})
            self._pour(states or {})
        for eye in self._scene.camera:
            self._aim(eye, lens)

    def _pour(self, states: States) -> None:
        """Draw the stream from the lowest point of the rim of what pours down into what catches it."""
        below = [self._placed[name][0][0][2] for name in sorted(states) if CATCHES in states[name]]
        for name in (name for name in sorted(states) if POURS in states[name] and below):
            asset, at = self._assets[name], frame(self._placed[name][0])
            points = np.concatenate([visual.vertices for visual in asset.links[0].visuals if visual.when is None])
            rim = at.point(points[points[:, 2] > asset.size[2] - RIM])
            lip = rim[rim[:, 2].argmin()]
            fall = float(lip[2]) - below[0] - THICK
            if fall > 0:
                size, middle = np.array([THICK, fall / 2, 0.0]), lip - (0, 0, fall / 2)
                geom = self._scene.geoms[self._scene.ngeom]
                mujoco.mjv_initGeom(
                    geom, mujoco.mjtGeom.mjGEOM_CYLINDER, size, middle, np.eye(3).ravel(), np.array(STREAM, np.float32)
                )
                geom.category, geom.transparent = mujoco.mjtCatBit.mjCAT_DECOR, STREAM[3] < 1
                geom.objtype, geom.objid, geom.segid = mujoco.mjtObj.mjOBJ_UNKNOWN, -1, -1
                self._scene.ngeom += 1

    def _light_up(self, lens: Floats, states: States) -> None:
        """Let the nearest lamp that is on light what is around it, if it isn't behind a wall."""
        eye = lens[:3, 3]
        away = {lamp: float(np.linalg.norm(lamp.at - eye)) for lamp in self._drawn.lamps}
        on = [lamp for lamp in away if SHINES in states.get(lamp.name, ()) and away[lamp] < FAR_OFF]
        seen = [lamp for lamp in on if is_before(lamp, eye, self._walls)]
        if not seen:
            return
        lamp = min(seen, key=away.__getitem__)
        light = self._scene.lights[self._scene.nlight]
        light.type, light.headlight, light.castshadow = mujoco.mjtLightType.mjLIGHT_SPOT, 0, 0
        light.texid, light.id = -1, -1
        light.pos[:], light.dir[:] = lamp.at, (0, 0, -1)
        light.diffuse[:] = LAMPLIGHT * np.array(lamp.colour)
        light.ambient[:], light.specular[:] = 0, 0
        light.attenuation[:], light.cutoff, light.exponent = FADES, 180, 0
        self._scene.nlight += 1

    def _place(self, poses: Poses, joints: Joints) -> None:
        """Put every link where it belongs."""
        values: dict[str, dict[str, float]] = {}
        for (name, link), value in joints.items():
            values.setdefault(name, {})[link] = value
        data = self._data
        for placed in self._spec.placed:
            if placed.name not in poses:
                raise UsageError(f"no pose is given for {placed.name}: give one for every thing of the scene")
            now = (poses[placed.name], values.get(placed.name, {}))
            if self._placed.get(placed.name) == now:
                continue
            self._placed[placed.name] = now
            frames = link_frames(placed.asset, frame(now[0]), now[1])
            for link, where in frames.items():
                number = self._drawn.mocap[placed.name, link]
                data.mocap_pos[number], data.mocap_quat[number] = where.at, quaternion(where.turn)
        mujoco.mj_kinematics(self._drawn.model, data)
        mujoco.mj_camlight(self._drawn.model, data)

    def _tint(self, states: States) -> None:
        """Give what is dirty, cooked, ... its colour; a geom's own colour goes before its material's."""
        model = self._drawn.model
        model.geom_rgba[:] = self._plain
        for name in (name for name, shown in states.items() if not TINTS.keys().isdisjoint(shown)):
            for geom in self._geoms.get(name, ()):
                if (material := int(model.geom_matid[geom])) >= 0:
                    red, green, blue, opacity = model.mat_rgba[material].tolist()
                    model.geom_rgba[geom] = tinted((red, green, blue, opacity), states[name])

    def _shows(self, name: str, when: str, states: States, joints: Joints) -> bool:
        """Whether a thing is in the state in which a part of it is drawn."""
        word = when.removeprefix("not ")
        has = self._is_open(name, joints) if word == "open" else word in states.get(name, ())
        return has != when.startswith("not ")

    def _is_open(self, name: str, joints: Joints) -> bool:
        """Whether a joint is so far open that what is inside is to be seen."""
        asset = self._assets.get(name)  # what furnishes a scene for good has none, and never opens
        movers = [(link.name, link.joint) for link in asset.links if link.joint] if asset else []
        return any(joints.get((name, link), j.low) - j.low > AJAR * (j.high - j.low) for link, j in movers)

    def _in_view(self, lens: Floats) -> NDArray[np.bool_]:
        """Which geoms (n,) may be in the picture: their bounding spheres reach between the planes of its four edges."""
        centres = (self._data.geom_xpos - lens[:3, 3]) @ lens[:3, :3]
        high = np.radians(self.fov) / 2
        wide = np.arctan(np.tan(high) * self.size[0] / self.size[1])
        radius = self._drawn.model.geom_rbound
        inside = -centres[:, 2] > -radius
        for axis, half in ((0, wide), (1, high)):
            beyond = np.abs(centres[:, axis]) * np.cos(half) + centres[:, 2] * np.sin(half)
            inside &= beyond < radius
        return np.asarray(inside)

    def _dress(self, vertices: Floats, *, shaded: bool) -> None:
        """Give the skins the body's vertices; MuJoCo's own would move with bones. Ids need no normals."""
        if self._body is None:
            raise UsageError("this renderer was made without a body: give it one to draw the wearer")
        if vertices.shape != self._body.vertices.shape:
            raise UsageError(f"the wearer's vertices are {self._body.vertices.shape}, not {vertices.shape}")
        normals = self._body.normals(vertices) if shaded else vertices
        points, directions = self._scene.skinvert.reshape(-1, 3), self._scene.skinnormal.reshape(-1, 3)
        for part in self._drawn.skins:
            part_range = slice(part.start, part.start + len(part.vertices))
            points[part_range], directions[part_range] = vertices[part.vertices], normals[part.vertices]

    def _aim(self, eye: mujoco.MjvGLCamera, lens: Floats) -> None:
        half = NEAR * np.tan(np.radians(self.fov) / 2)
        eye.pos, eye.forward, eye.up = lens[:3, 3], -lens[:3, 2], lens[:3, 1]
        eye.frustum_near, eye.frustum_far = NEAR, FAR
        eye.frustum_bottom, eye.frustum_top = -half, half
        eye.frustum_center, eye.frustum_width = 0.0, half * self.size[0] / self.size[1]


def look_from(eye: ArrayLike, target: ArrayLike) -> Floats:
    """The camera (4, 4) at one point that looks at another with a level horizon; straight down, +y is up in it."""
    start = np.asarray(eye, dtype=np.float64)
    back = start - np.asarray(target, dtype=np.float64)
    distance = float(np.linalg.norm(back))
    if not np.isfinite(distance) or distance < 1e-6:
        raise UsageError("a camera needs a point to look at that is not its own place")
    back /= distance
    up = np.array([0.0, 0, 1]) if abs(back[2]) < 0.999 else np.array([0.0, 1, 0])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    out = np.eye(4)
    out[:3, :3] = np.column_stack([right, np.cross(back, right), back])
    out[:3, 3] = start
    return out


def overhead(spec: SceneSpec, *, fov: float = FIELD_OF_VIEW, aspect: float = SIZE[0] / SIZE[1]) -> Floats:
    """A camera (4, 4) above the building that sees all its floors."""
    floors = [piece.vertices for static in spec.statics if static.layer == "floor" for piece in static.pieces]
    if not floors:
        raise UsageError("this scene has no floor to look at")
    points = np.concatenate(floors)
    low, high = points.min(0), points.max(0)
    half = np.maximum((high[1] - low[1]) / 2, (high[0] - low[0]) / 2 / aspect) * 1.08
    middle = (low + high) / 2
    return look_from((middle[0], middle[1], 2.5 + half / np.tan(np.radians(fov) / 2)), (middle[0], middle[1], 0))
