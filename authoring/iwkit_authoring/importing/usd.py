"""USD files, exported objects of BEHAVIOR-1K among them: meshes by rigid link, joints, meta links (docs/import.md).

Quaternions and matrices are USD's own here; what comes out is in the stage's units and axes.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from iwkit.errors import UsageError
from iwkit.spec.recipe import BODY
from iwkit.suggest import snake
from iwkit_authoring.importing.model import (
    MOST_TRIANGLES,
    Model,
    Surface,
    Zone,
    beside,
    check_model,
    read_bytes,
    too_many,
)
from iwkit_authoring.importing.usd_looks import Looks, geometry
from iwkit_runtime.physical.spec import Floats, Joint, Vector

META, META_TYPE = "ig:isMetaLink", "ig:metaLinkType"
CATEGORY = "ig:category"
COLLISIONS = "collisions"
"""The name of the prim below which BEHAVIOR's objects keep what is only touched."""
MOST_LAYERS = 200
MAGIC = {b"PXR-USDC", b"#usda 1."}


def pxr() -> Any:
    """The modules of usd-core.

    Raises:
        UsageError: it isn't installed.
    """
    try:
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError("reading USD files needs usd-core: pip install 'iwkit[usd]'") from None
    return _Modules(Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade)


@dataclass(frozen=True)
class _Modules:
    gf: Any
    sdf: Any
    tf: Any
    usd: Any
    geom: Any
    physics: Any
    shade: Any


def read_usd(path: Path) -> Model:
    """The model in a USD file: its default prim, or all of it. It is read in a process of its own, since a damaged
    file can make the USD library end the process that reads it.

    Raises:
        UsageError: usd-core is missing, the file isn't USD, or it names a file that is missing or outside its folder.
    """
    pxr()
    if read_bytes(path)[:8] not in MAGIC:
        raise UsageError(f"{path}: this is no USD file, or an encrypted one: export it as .usda or .usdc")
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "model"
        code = f"from {__name__} import answer_to; answer_to()"
        child = subprocess.run([sys.executable, "-c", code, path, answer], capture_output=True, check=False)
        if child.returncode or not answer.is_file():
            raise UsageError(f"{path}: it is damaged (the USD library gave up on it): export it again")
        found = pickle.loads(answer.read_bytes())  # noqa: S301  our own process wrote it
    if isinstance(found, str):
        raise UsageError(found)
    model: Model = found
    return model


def answer_to() -> None:
    """The child's side: read the file named first and write its model, or what is wrong, to the file named second."""
    path, answer = map(Path, sys.argv[1:3])
    try:
        found: Model | str = read_here(path)
    except UsageError as error:
        found = str(error)
    answer.write_bytes(pickle.dumps(found))


def read_here(path: Path) -> Model:
    """As `read_usd`, in this process."""
    usd = pxr()
    try:
        model = _Reader(usd, path, _opened(usd, path)).model()
    except (usd.tf.ErrorException, RuntimeError, ValueError, TypeError, IndexError) as error:
        raise UsageError(f"{path}: it can't be read as USD ({_said(error)}): export it again") from None
    return check_model(path, model)


def _said(error: Exception) -> str:
    """What a library says is wrong; USD quotes bytes that may be no text."""
    try:
        return " ".join(str(error).split())[:200]
    except UnicodeDecodeError:
        return "its text is not UTF-8"


def _opened(usd: Any, path: Path) -> Any:
    """The stage, once every layer that it is composed of is known to lie in or below its folder."""
    todo, seen = [path], {path.resolve()}
    while todo:
        here = todo.pop()
        layer = usd.sdf.Layer.FindOrOpen(str(here.resolve()))
        if layer is None:
            raise UsageError(f"{here}: it can't be read as USD: export it again")
        for name in sorted(layer.GetCompositionAssetDependencies()):
            found = beside(here, name, "layer")
            if found.resolve() not in seen:
                read_bytes(found)
                seen.add(found.resolve())
                todo.append(found)
        if len(seen) > MOST_LAYERS:
            raise UsageError(f"{path}: it is composed of more than {MOST_LAYERS} files: flatten it into one")
    stage = usd.usd.Stage.Open(str(path.resolve()))
    stage.Reload()
    return stage


@dataclass
class _Reader:
    usd: Any
    path: Path
    stage: Any
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        default = self.stage.GetDefaultPrim()
        self.root = default if default else self.stage.GetPseudoRoot()
        self.at = self.usd.geom.XformCache()
        self.looks = Looks(self.usd, self.path)

    def model(self) -> Model:
        prims = list(self._prims())
        links = {p.GetPath() for p in prims if p.HasAPI(self.usd.physics.RigidBodyAPI)}
        joints = self._joints(prims, links)
        seen: dict[str, list[Surface]] = {}
        solid: dict[str, list[Surface]] = {}
        self._count(prims)
        for prim in prims:
            if self._meta_above(prim) or not prim.IsA(self.usd.geom.Gprim):
                continue
            link = self._link(prim, links, joints)
            if self._is_only_touched(prim):
                solid.setdefault(link, []).extend(self._surfaces(prim))
            elif self._is_seen(prim):
                seen.setdefault(link, []).extend(self._surfaces(prim))
        up = "z" if self.usd.geom.GetStageUpAxis(self.stage) == "Z" else "y"
        return Model(
            surfaces=seen,
            unit=float(self.usd.geom.GetStageMetersPerUnit(self.stage)),
            up=up,
            front="-y" if up == "z" else "z",
            solids=solid,
            joints=dict(joints.values()),
            zones=tuple(self._zones(prims, links, joints)),
            mass=self._mass(prims),
            category=self._said(CATEGORY),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _prims(self) -> Iterator[Any]:
        yield from self.usd.usd.PrimRange(self.root, self.usd.usd.TraverseInstanceProxies())

    def _count(self, prims: list[Any]) -> None:
        corners = 0
        for prim in prims:
            if prim.IsA(self.usd.geom.Mesh):
                counts = self.usd.geom.Mesh(prim).GetFaceVertexCountsAttr().Get() or ()
                corners += int(np.maximum(np.asarray(counts, dtype=np.int64) - 2, 0).sum())
        if corners > 2 * MOST_TRIANGLES:
            raise too_many(self.path, corners)

    def _surfaces(self, prim: Any) -> Iterator[Surface]:
        matrix = np.array(self.at.GetLocalToWorldTransform(prim), dtype=np.float64).T
        shape = geometry(self.usd, self.path, prim)
        if shape is None:
            self.notes.append(f"left out {prim.GetPath()}: a {prim.GetTypeName()} is no mesh")
            return
        for surface in self.looks.surfaces(prim, shape):
            yield surface.moved(matrix)

    def _meta_above(self, prim: Any) -> bool:
        while prim and not prim.IsPseudoRoot():
            if prim.GetAttribute(META).Get():
                return True
            prim = prim.GetParent()
        return False

    def _is_only_touched(self, prim: Any) -> bool:
        if any(step.name == COLLISIONS for step in prim.GetPath().GetPrefixes()):
            return True
        guide = self.usd.geom.Imageable(prim).ComputePurpose() == self.usd.geom.Tokens.guide
        return bool(prim.HasAPI(self.usd.physics.CollisionAPI) and (guide or not self._is_seen(prim)))

    def _is_seen(self, prim: Any) -> bool:
        image = self.usd.geom.Imageable(prim)
        tokens = self.usd.geom.Tokens
        shown = image.ComputePurpose() in (tokens.default_, tokens.render)
        return bool(shown and image.ComputeVisibility() != tokens.invisible)

    def _link(self, prim: Any, links: set[Any], joints: dict[Any, tuple[str, Joint]]) -> str:
        for path in reversed(prim.GetPath().GetPrefixes()):
            if path in joints:
                return joints[path][0]
            if path in links:
                return BODY
        return BODY

    def _joints(self, prims: list[Any], links: set[Any]) -> dict[Any, tuple[str, Joint]]:
        """The joint that is kept, by the path of the link it moves; an asset opens in one way."""
        found: list[tuple[str, Any, Joint]] = []
        moving = set()
        for prim in prims:
            hinge, slide = (prim.IsA(k) for k in (self.usd.physics.RevoluteJoint, self.usd.physics.PrismaticJoint))
            if not (hinge or slide):
                continue
            joint = self.usd.physics.Joint(prim)
            base, child = (list(rel.GetTargets()) for rel in (joint.GetBody0Rel(), joint.GetBody1Rel()))
            if len(child) == 1 and child[0] in links and (made := self._joint(prim, base, hinge=hinge)):
                moving.add(child[0])
                found.append((str(prim.GetName()), (base, child[0]), made))
        opening = self._opening()
        kept = [(n, ends, j) for n, ends, j in found if not any(b in moving for b in ends[0])]
        kept.sort(key=lambda item: (item[0] not in opening, item[0]))
        self.notes += [f"joint {name} stays closed: a thing opens in one way" for name, _, _ in kept[1:]]
        self.notes += [f"joint {n} stays closed: it moves against another moving link" for n, e, _ in found
                       if any(b in moving for b in e[0])]  # fmt: skip
        if not kept:
            return {}
        _, (_, child), joint_ = kept[0]
        plain = snake(child.name) or "door"
        return {child: ("moving" if plain == BODY else plain, joint_)}

    def _opening(self) -> set[str]:
        """Names of the joints that the file calls openable."""
        metadata = self.root.GetCustomData().get("metadata", {})
        names = metadata.get("openable_joint_ids", ()) if isinstance(metadata, dict) else ()
        return {str(name) for name in (names.values() if isinstance(names, dict) else names)}

    def _joint(self, prim: Any, base: list[Any], *, hinge: bool) -> Joint | None:
        kind = self.usd.physics.RevoluteJoint if hinge else self.usd.physics.PrismaticJoint
        joint = kind(prim)
        low, high = (attribute.Get() for attribute in (joint.GetLowerLimitAttr(), joint.GetUpperLimitAttr()))
        bounds = np.array([0.0 if low is None else low, 0.0 if high is None else high], dtype=np.float64)
        if not np.isfinite(bounds).all():
            bounds = np.array([0.0, 90.0 if hinge else 0.3])
            self.notes.append(f"joint {prim.GetName()} has no limits: it opens by {bounds[1]:g}")
        reach = float(bounds[np.argmax(np.abs(bounds))])
        if reach == 0:
            return None
        frame = np.eye(4)
        if base:
            frame = np.array(self.at.GetLocalToWorldTransform(self.stage.GetPrimAtPath(base[0])), dtype=np.float64).T
        at = np.array(joint.GetLocalPos0Attr().Get() or (0, 0, 0), dtype=np.float64)
        turn = np.array(
            self.usd.gf.Matrix3d(self.usd.gf.Quatd(joint.GetLocalRot0Attr().Get() or self.usd.gf.Quatf(1)))
        ).T
        axis = turn @ np.eye(3)["XYZ".index(joint.GetAxisAttr().Get() or "X")] * np.sign(reach)
        axis = frame[:3, :3] @ axis
        scale = float(np.linalg.norm(axis))
        travel = float(np.radians(abs(reach))) if hinge else abs(reach) * scale
        anchor = frame[:3, :3] @ at + frame[:3, 3]
        return Joint("hinge" if hinge else "slide", _vector(axis / scale), _vector(anchor), 0.0, travel)

    def _zones(self, prims: list[Any], links: set[Any], joints: dict[Any, tuple[str, Joint]]) -> Iterator[Zone]:
        for prim in prims:
            if not prim.GetAttribute(META).Get():
                continue
            box = self._bounds(prim)
            yield Zone(str(prim.GetAttribute(META_TYPE).Get() or ""), self._link(prim, links, joints), *box)

    def _bounds(self, prim: Any) -> tuple[Floats, Floats]:
        """The box of a meta link: of the shapes below it, or its own unit cube, scaled as the link is."""
        points = []
        for below in self.usd.usd.PrimRange(prim):
            shape = geometry(self.usd, self.path, below) if below.IsA(self.usd.geom.Gprim) else None
            if shape is not None:
                matrix = np.array(self.at.GetLocalToWorldTransform(below), dtype=np.float64).T
                points.append(shape.points @ matrix[:3, :3].T + matrix[:3, 3])
        if not points:
            matrix = np.array(self.at.GetLocalToWorldTransform(prim), dtype=np.float64).T
            corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            points.append(corners @ matrix[:3, :3].T + matrix[:3, 3])
        every = np.concatenate(points)
        return every.min(0), every.max(0)

    def _mass(self, prims: list[Any]) -> float | None:
        masses = [self.usd.physics.MassAPI(p).GetMassAttr().Get() for p in prims if p.HasAPI(self.usd.physics.MassAPI)]
        total = sum(float(mass) for mass in masses if mass)
        scale = float(self.usd.physics.GetStageKilogramsPerUnit(self.stage))
        return round(total * scale, 4) if total > 0 and np.isfinite(total * scale) else None

    def _said(self, name: str) -> str | None:
        attribute = self.root.GetAttribute(name) if not self.root.IsPseudoRoot() else None
        value = attribute.Get() if attribute else None
        return str(value) if value else None


def _vector(values: Floats) -> Vector:
    x, y, z = values.tolist()
    return x, y, z
