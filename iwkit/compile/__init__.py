"""From a checked pack to a compiled task: names resolved, commands parsed, scripts bound, handles given."""

from iwkit.compile.task import CompiledTask, Cursor, Script, ScriptLine, compile_pack, compile_variant, load_task
from iwkit.compile.things import Handle, Thing

__all__ = [
    "CompiledTask",
    "Cursor",
    "Handle",
    "Script",
    "ScriptLine",
    "Thing",
    "compile_pack",
    "compile_variant",
    "load_task",
]
