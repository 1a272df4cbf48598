"""Every clip beside the repository, onto the human and a walking machine: limits and contacts hold in every frame."""

import numpy as np
import pytest

import poise
from poise.errors import TaskError
from poise.formats.gltf.read import read_gltf_clips
from poise.motion.report.report import measure
from tests import real_data

pytestmark = pytest.mark.real_data
BVH = sorted(real_data.BVH.rglob("*.bvh"))
GLTF = sorted((real_data.FOLDER / "gltf").glob("*.gltf"))
FIGURES = ["human", "walker"]


def name(path):
    return f"{path.parent.name}/{path.stem}"


def check(clip, figure, **options):
    motion = poise.retarget(clip, poise.load(figure), **options)
    quality = measure(motion)
    assert len(motion) == len(clip)
    assert np.isfinite(motion.q).all()
    assert quality.violations == 0
    assert not quality.hurried
    assert not quality.spikes
    assert quality.closure <= 1e-9
    assert quality.drift <= 1e-3
    assert quality.skate.max(initial=0.0) <= 1e-3
    assert quality.penetration.max(initial=0.0) <= 1e-3
    return quality


PEOPLE = [path for path in BVH if path.parent.name != "parser_fixtures"]


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("path", PEOPLE, ids=name)
def test_every_bvh_clip(path, figure):
    check(poise.load_clip(path), figure)


@pytest.mark.filterwarnings("ignore::poise.errors.UnmappedWarning")
@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("path", [path for path in BVH if path not in PEOPLE], ids=name)
def test_clips_of_hardly_anything_are_refused_or_warned_about(path, figure):
    """They have a root and a few joints, and at most one leg."""
    clip, performer = poise.load_clip(path), poise.load(figure)
    try:
        motion = poise.retarget(clip, performer)
    except TaskError as problem:
        assert "no leg or arm" in str(problem)
    else:
        assert motion.track.mapping.warnings


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("path", GLTF, ids=name)
def test_every_gltf_clip(path, figure):
    for clip in read_gltf_clips(path).values():
        check(clip, figure)


@pytest.mark.slow
@pytest.mark.parametrize("path", PEOPLE, ids=name)
def test_every_clip_of_a_person_balanced(path):
    assert check(poise.load_clip(path), "walker", balance=True).unbalanced == 0
