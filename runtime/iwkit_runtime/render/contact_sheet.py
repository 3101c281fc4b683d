"""A picture of every category, to see whether it can be recognised.

`python -m iwkit_runtime.render.contact_sheet OUT.png [CATEGORY ...]`
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image, ImageDraw

from iwkit.catalogue import load_catalogue
from iwkit.recipes import load_recipes
from iwkit_runtime.assets import build_asset
from iwkit_runtime.physical.spec import Asset, Link, Material

TILE = 256
"""Width and height of one picture in pixels."""
COLUMNS = 8
BACKGROUND = (0.75, 0.78, 0.82)


def render_asset(
    asset: Asset, *, opened: bool = False, tile: int = TILE, azimuth: float = 62, elevation: float = -24
) -> Image.Image:
    """A picture of the thing alone, from its front and a little from above and from its right."""
    model = _compiled(asset)
    data = mujoco.MjData(model)
    for joint in range(model.njnt):
        data.qpos[joint] = model.jnt_range[joint, 1] if opened else 0
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    width, depth, height = asset.size
    camera.lookat[:] = (0, 0, height / 2)
    camera.distance = 1.95 * float(np.linalg.norm([width, depth, height])) * (1.25 if opened else 1)
    camera.azimuth, camera.elevation = azimuth, elevation
    with mujoco.Renderer(model, tile, tile) as renderer:
        renderer.update_scene(data, camera)
        return Image.fromarray(renderer.render())


def _compiled(asset: Asset) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.visual.global_.offwidth = spec.visual.global_.offheight = 1024
    spec.visual.global_.fovy = 32
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.55] * 3
    spec.visual.quality.offsamples = 4
    spec.visual.map.znear = 0.01
    spec.stat.extent, spec.stat.center = float(np.linalg.norm(asset.size)), [0, 0, asset.size[2] / 2]
    sky = spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=384)
    sky.builtin, sky.rgb1, sky.rgb2 = mujoco.mjtBuiltin.mjBUILTIN_FLAT, BACKGROUND, BACKGROUND
    light = spec.worldbody.add_light(pos=[-1, -2, 3], dir=[0.3, 0.6, -1], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    light.diffuse, light.castshadow = [0.35] * 3, False
    bodies: dict[str | None, mujoco.MjsBody] = {None: spec.worldbody}
    for link in asset.links:
        bodies[link.name] = bodies[link.parent].add_body(name=link.name)
        _add_link(spec, bodies[link.name], link)
    return spec.compile()


def _add_link(spec: mujoco.MjSpec, body: mujoco.MjsBody, link: Link) -> None:
    if link.joint:
        kind = mujoco.mjtJoint.mjJNT_HINGE if link.joint.kind == "hinge" else mujoco.mjtJoint.mjJNT_SLIDE
        joint = body.add_joint(type=kind, axis=link.joint.axis, pos=link.joint.anchor, limited=True)
        joint.range = [link.joint.low, link.joint.high]
        body.mass, body.inertia, body.explicitinertial = 1, [1, 1, 1], True
    for number, visual in enumerate(link.visuals):
        name = f"{link.name}_{number}"
        mesh = spec.add_mesh(name=name, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = visual.vertices.ravel(), visual.faces.ravel()
        if visual.uv is not None:
            u, v = visual.uv.T
            mesh.usertexcoord = np.column_stack([u, 1 - v]).astype(np.float32).ravel()
        _add_material(spec, name, visual.material)
        geom = body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=name)
        geom.contype = geom.conaffinity = 0


def _add_material(spec: mujoco.MjSpec, name: str, material: Material) -> None:
    made = spec.add_material(name=name, rgba=material.rgba)
    if material.texture is not None:
        height, width, _ = material.texture.shape
        texture = spec.add_texture(
            name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3
        )
        texture.data = material.texture.tobytes()
        made.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name


def contact_sheet(names: Iterable[str], *, named: bool = True, tile: int = TILE) -> Image.Image:
    """Pictures of the categories; what opens is shown closed and open."""
    catalogue, recipes = load_catalogue(), load_recipes()
    tiles: list[tuple[str, Image.Image]] = []
    for name in names:
        asset = build_asset(name, catalogue.categories[name], recipes.get(name))
        tiles.append((name, render_asset(asset, tile=tile)))
        if len(asset.links) > 1:
            tiles.append((f"{name}, open", render_asset(asset, opened=True, tile=tile)))
    rows = -(-len(tiles) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * tile, rows * (tile + 16)), "white")
    pen = ImageDraw.Draw(sheet)
    for number, (title, picture) in enumerate(tiles):
        x, y = number % COLUMNS * tile, number // COLUMNS * (tile + 16)
        sheet.paste(picture, (x, y))
        pen.text((x + 4, y + tile + 2), title if named else str(number + 1), fill="black")
    return sheet


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Draw a picture of every category, or of those named.")
    parser.add_argument("out", type=Path)
    parser.add_argument("categories", nargs="*")
    parser.add_argument(
        "--numbered", action="store_true", help="numbers instead of names, for readers who shall name them"
    )
    arguments = parser.parse_args()
    names = arguments.categories or list(load_catalogue().categories)
    contact_sheet(names, named=not arguments.numbered).save(arguments.out)


if __name__ == "__main__":
    main()
