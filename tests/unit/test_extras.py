"""What works with the core packages alone, and what each call says whose extra is not installed."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from poise.extras import EXTRAS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = (*EXTRAS, "fastapi", "uvicorn", "starlette", "numba_cuda")

CORE = """
import poise
human = poise.load("human")
answer = poise.solve(human, [poise.Position("right_hand", at=human.pose_of("right_hand", "standing").position)])
assert answer.status == "solved"
print(answer.report())
there = human.pose_of("left_hand", human.neutral())
assert poise.reach(human, "left_hand", position=there.position).status == "solved"
lamp = poise.load("adelino")
assert poise.Expressive(lamp).solve(lamp.posture("sad"), poise.facing([1, 0.3, 0.5])).orientation_error < 1e-6
poise.solve(lamp, [poise.Avoid([poise.Plane("y")])], max_steps=2)
human.describe()
import poise.pictures
poise.pictures.draw(human, size=(32, 32)).save("human.png")
far = poise.solve(human, [poise.Position("right_hand", at=[0, 1, 9]), poise.Hold("standing", joints=["base"])])
assert far.status != "solved" and far.report()
live = poise.Character(lamp)
live.play(poise.Clip(lamp, [lamp.neutral().q] * 3, 30.0))
assert len(list(live.frames(seconds=0.1, realtime=False)))
poise.Motion(lamp, [lamp.neutral().q] * 3, 30.0).save("nod.json")
assert len(poise.load_clip("nod.json")) == 3
from poise.figures import BUILT_IN
assert all(poise.load(name) for name in BUILT_IN)
"""

FEATURES = {
    "PIL": "import poise.pictures; poise.pictures.strip(poise.load('adelino'), ['sad'])",
    "coal": """
from poise.figure import Builder, free
from poise.figure.model.shapes import Box, Mesh
from pathlib import Path
Path("block.obj").write_text("v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 3 2\\nf 1 2 4\\nf 1 4 3\\nf 2 3 4\\n")
made = Builder("block")
made.body("block", joint=free("base"), shapes=[Mesh("block.obj")])
poise.Solver(made.build(), [poise.Avoid([poise.Obstacle(Box((0.1, 0.1, 0.1)))])])
""",
    "distributed": "from poise.cli.cluster import cluster; cluster('tcp://127.0.0.1:9').__enter__()",
    "lxml": "poise.load('robot.urdf')",
    "yaml": "poise.load('robot.urdf')",
    "mujoco": "poise.load('robot.mjcf')",
    "rerun": "poise.load('adelino').to_rerun()",
    "scipy": "poise.load('walk.bvh')",
    "xacrodoc": "poise.load('robot.xacro')",
    "uvicorn": "import poise.service.server",
    "serial": "import poise.robots; poise.robots.connect('firmata:/dev/none', poise.load('adelino')).start()",
    "nicegui": "import poise.studio.server.server",
    "matplotlib": "import poise.evaluation.retarget.report",
}
"""For each optional module, a call that needs it."""


def run(code: str, absent: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process in which some modules cannot be imported."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({absent!r}))"
    return subprocess.run(
        [sys.executable, "-c", f"{blocked}\nimport poise\n{code}"], capture_output=True, text=True, cwd=folder
    )


def test_figures_solving_reaching_and_gaze_need_the_core_only(tmp_path):
    answer = run(CORE, OPTIONAL, tmp_path)
    assert answer.returncode == 0, answer.stderr


def test_all_names_can_be_imported_with_the_core_only(tmp_path):
    answer = run("from poise import *; print(solve, Position); retarget(None, None)", OPTIONAL, tmp_path)
    assert "function solve" in answer.stdout
    assert answer.stderr.strip().endswith("retargeting needs scipy: pip install 'poise[motion]'.")


@pytest.mark.parametrize("module", EXTRAS)
def test_a_call_that_lacks_its_extra_names_it_in_one_sentence(module, tmp_path):
    (tmp_path / "robot.urdf").write_text("<robot name='r'><link name='a'/></robot>")
    (tmp_path / "robot.mjcf").write_text("<mujoco/>")
    (tmp_path / "walk.bvh").write_text("HIERARCHY")
    (tmp_path / "robot.xacro").write_text("<robot name='r'/>")
    answer = run(FEATURES[module], (module,), tmp_path)
    package, extra = EXTRAS[module]
    sentence = answer.stderr.splitlines()[-1]
    assert sentence.startswith("poise.errors.MissingPackageError: ")
    assert sentence.endswith(f" needs {package}: pip install 'poise[{extra}]'.")


def test_the_command_line_names_the_extra_of_the_studio(tmp_path):
    answer = run("import poise.cli; sys.argv = ['poise', 'studio']; poise.cli.main()", ("nicegui",), tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.strip() == "the studio needs nicegui: pip install 'poise[studio]'."


def test_every_module_is_in_its_extra_and_in_no_requirement_of_the_core():
    for package, extra in EXTRAS.values():
        assert any(line.lower().startswith(package.lower()) for line in PROJECT["optional-dependencies"][extra])
        assert not any(line.lower().startswith(package.lower()) for line in PROJECT["dependencies"])


def test_all_has_every_extra_but_those_for_gpus_clusters_and_rerun():
    (line,) = PROJECT["optional-dependencies"]["all"]
    named = set(line.removeprefix("poise[").removesuffix("]").split(","))
    assert named == set(PROJECT["optional-dependencies"]) - {"all", "cuda", "dask", "rerun"}
