"""Reading glTF: joints from nodes, clips from animations, containers and buffers."""

import numpy as np
import pytest

from poise.errors import FormatError
from poise.figure.model.pose import turn
from poise.formats.gltf.read import parse_gltf, read_gltf_clips, read_gltf_figure
from tests.unit.formats.gltf.samples import CHAIN, Sample, motion, sparse_part, walking, xyzw


def kinds(sample):
    return {joint.name: joint.kind for joint in motion(sample).figure.joints}


def positions(sample, name, scale=1.0):
    made = motion(sample, scale)
    return made.figure.pose_of(name, made.figure.neutral()).position


# Skeletons


def test_joints_of_a_skin_are_ball_joints_below_a_free_root():
    assert kinds(Sample(CHAIN, [0, 1, 2])) == {"hip": "free", "knee": "ball", "foot": "ball"}
    assert np.allclose(positions(Sample(CHAIN, [0, 1, 2]), "foot"), [0, 0, 0])


def test_the_up_axis_is_y():
    assert motion(Sample(CHAIN)).figure.up == "y"


def test_nodes_below_a_joint_belong_to_it_and_are_fixed():
    assert kinds(Sample(CHAIN, [0, 1])) == {"hip": "free", "knee": "ball", "foot": "fixed"}


def test_still_nodes_above_the_joints_only_place_them():
    sample = Sample(
        [{"children": [1], "rotation": xyzw("z", 90), "translation": [5, 0, 0]}, *shifted(CHAIN)], [1, 2, 3]
    )
    assert kinds(sample) == {"hip": "free", "knee": "ball", "foot": "ball"}
    assert np.allclose(positions(sample, "hip"), [4, 0, 0])
    assert np.allclose(positions(sample, "foot"), [5, 0, 0])


def test_moving_nodes_above_the_joints_belong_to_the_skeleton():
    top = [{"name": "armature", "children": [1, 4]}, *shifted(CHAIN), {"name": "camera"}]
    sample = Sample(top, [2, 3]).animate([(0, "rotation", [0, 1], [xyzw("y", 0), xyzw("y", 90)], "LINEAR")])
    assert kinds(sample) == {"armature": "free", "hip": "fixed", "knee": "ball", "foot": "ball"}


def shifted(nodes):
    return [node | {"children": [c + 1 for c in node["children"]]} if "children" in node else node for node in nodes]


def test_without_skins_animated_nodes_move_and_others_are_fixed():
    sample = Sample(CHAIN).animate([(2, "rotation", [0, 1], [xyzw("y", 0), xyzw("y", 90)], "LINEAR")])
    assert kinds(sample) == {"hip": "free", "knee": "fixed", "foot": "ball"}


def test_without_skins_and_animations_every_node_moves():
    assert kinds(Sample(CHAIN)) == {"hip": "free", "knee": "ball", "foot": "ball"}


def test_two_skins_make_one_figure_with_two_roots():
    sample = Sample([{"name": "a"}, {"name": "b", "translation": [1, 2, 3]}])
    sample.top["skins"] = [{"joints": [0]}, {"joints": [1]}]
    assert kinds(sample) == {"a": "free", "b": "free"}
    assert np.allclose(positions(sample, "b"), [1, 2, 3])


def test_names_that_are_missing_or_repeated():
    nodes = [{"name": "bone", "children": [1, 2]}, {"name": "bone", "children": [3]}, {}, {"name": "bone_2"}]
    assert motion(Sample(nodes)).figure.bodies.names == ("bone", "bone_3", "bone_2", "node_2")


def test_a_uniform_scale_lengthens_the_bones_below():
    nodes = [CHAIN[0] | {"scale": [2, 2, 2]}, CHAIN[1] | {"scale": [3, 3, 3]}, CHAIN[2]]
    assert np.allclose(positions(Sample(nodes, [0, 1, 2]), "foot"), [0, 1 - 2 * 0.5 - 6 * 0.5, 0])
    assert np.allclose(positions(Sample(nodes, [1, 2]), "foot"), [0, 1 - 2 * 0.5 - 6 * 0.5, 0])
    assert np.allclose(positions(Sample(nodes, [1, 2]), "foot", scale=0.1), [0, 0.1 * (1 - 2 * 0.5 - 6 * 0.5), 0])


@pytest.mark.parametrize("scale", [[1, 2, 1], [-1, -1, -1], [1, 1, -1], [0, 0, 0]])
def test_other_scales_are_refused_where_bones_hang_from_them(scale):
    nodes = [CHAIN[0], CHAIN[1] | {"scale": scale}, CHAIN[2]]
    with pytest.raises(FormatError, match=r"nodes\[1\] has the scale .* the same along all axes"):
        motion(Sample(nodes, [0, 1, 2]))
    nodes = [CHAIN[0], CHAIN[1], CHAIN[2] | {"scale": scale}]
    assert np.allclose(positions(Sample(nodes, [0, 1, 2]), "foot"), [0, 0, 0])


def matrix_node(matrix, translation):
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = matrix, translation
    return {"matrix": whole.T.ravel().tolist()}


def test_a_matrix_is_a_translation_a_rotation_and_a_scale():
    turned = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    node = matrix_node(2 * turned, [1, 2, 3]) | {"name": "top", "children": [1]}
    sample = Sample([node, {"name": "tip", "translation": [1, 0, 0]}], [0, 1])
    assert np.allclose(positions(sample, "top"), [1, 2, 3])
    assert np.allclose(positions(sample, "tip"), [1, 4, 3])


def test_a_matrix_that_shears_or_mirrors_or_flattens_is_refused():
    for matrix, sentence in (
        ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], "shear"),
        (np.diag([-1, 1, 1]), "has the scale"),
        (np.diag([0, 1, 1]), "has the scale"),
    ):
        sample = Sample([matrix_node(matrix, [0, 0, 0]) | {"children": [1]}, {}], [0, 1])
        with pytest.raises(FormatError, match=sentence):
            motion(sample)


# Animations


def test_a_linear_rotation_turns_steadily_the_short_way():
    end = [-v for v in xyzw("x", 120)]
    sample = Sample(CHAIN, [0, 1, 2]).animate([(1, "rotation", [0, 1], [xyzw("x", 0), end], "LINEAR")], "bend")
    clip = motion(sample).clips(4.0)["bend"]
    assert len(clip) == 5
    for i, degrees in enumerate((0, 30, 60, 90, 120)):
        assert abs(clip[i]["knee"] @ turn("x", degrees)) == pytest.approx(1.0, abs=1e-7)


def test_joint_values_are_relative_to_the_rest_rotation():
    nodes = [CHAIN[0], CHAIN[1] | {"rotation": xyzw("z", 90)}, CHAIN[2]]
    sample = Sample(nodes, [0, 1, 2]).animate([(1, "rotation", [0], [xyzw("z", 130)], "LINEAR")], "bend")
    clip = motion(sample).clips()["bend"]
    assert np.allclose(clip[0]["knee"], turn("z", 40), atol=1e-7)
    assert np.allclose(clip.figure.neutral()["knee"], [1, 0, 0, 0])


def test_an_animated_translation_makes_a_free_joint():
    nodes = [CHAIN[0] | {"scale": [2, 2, 2]}, CHAIN[1] | {"rotation": xyzw("z", 90)}, CHAIN[2]]
    sample = Sample(nodes, [0, 1, 2]).animate(
        [(1, "translation", [0, 1], [[0, -0.5, 0], [1, 2, 3]], "LINEAR")], "slide"
    )
    assert kinds(sample) == {"hip": "free", "knee": "free", "foot": "ball"}
    clip = motion(sample).clips(1.0)["slide"]
    assert np.allclose(clip.positions(["knee"])[:, 0], [[0, 0, 0], [2, 5, 6]], atol=1e-6)


def test_a_constant_translation_channel_moves_nothing():
    still = [(1, "translation", [0, 1], [CHAIN[1]["translation"]] * 2, "LINEAR")]
    assert kinds(Sample(CHAIN, [0, 1, 2]).animate(still))["knee"] == "ball"


def test_the_root_moves():
    sample = Sample(CHAIN, [0, 1, 2]).animate([(0, "translation", [0, 2], [[0, 1, 0], [4, 1, 0]], "LINEAR")], "walk")
    clip = motion(sample).clips(1.0)["walk"]
    assert np.allclose(clip.positions(["foot"])[:, 0], [[0, 0, 0], [2, 0, 0], [4, 0, 0]], atol=1e-6)


def test_steps_hold_until_the_next_key():
    sample = Sample(CHAIN, [0, 1, 2]).animate(
        [(0, "translation", [0, 1, 2], [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "STEP")], "hop"
    )
    assert motion(sample).clips(2.0)["hop"].positions(["hip"])[:, 0, 0] == pytest.approx([0, 0, 1, 1, 2])


def test_a_spline_passes_its_keys_with_their_slopes():
    zero, one = [0, 0, 0], [1, 0, 0]
    values = [zero, zero, zero, zero, one, zero]
    sample = Sample(CHAIN, [0, 1, 2]).animate([(0, "translation", [0, 1], values, "CUBICSPLINE")], "ease")
    x = motion(sample).clips(4.0)["ease"].positions(["hip"])[:, 0, 0]
    assert x == pytest.approx([3 * u**2 - 2 * u**3 for u in (0, 0.25, 0.5, 0.75, 1)])


def test_a_spline_of_rotations_stays_unit():
    values = np.zeros((6, 4))
    values[1], values[4] = xyzw("y", 0), xyzw("y", 90)
    sample = Sample(CHAIN, [0, 1, 2]).animate([(1, "rotation", [0, 1], values, "CUBICSPLINE")], "ease")
    clip = motion(sample).clips(4.0)["ease"]
    assert abs(clip[2]["knee"] @ turn("y", 45)) == pytest.approx(1.0, abs=1e-7)
    assert np.allclose(np.linalg.norm(clip.q[:, 7:11], axis=1), 1.0)


def test_one_key_holds():
    for interpolation, rows in (("LINEAR", 1), ("STEP", 1), ("CUBICSPLINE", 3)):
        values = [xyzw("x", 50)] * rows
        sample = Sample(CHAIN, [0, 1, 2]).animate([(1, "rotation", [0.5], values, interpolation)], "hold")
        clip = motion(sample).clips()["hold"]
        assert clip.duration == pytest.approx(0.5)
        assert np.allclose(clip.q[:, 7:11], turn("x", 50), atol=1e-7)


@pytest.mark.parametrize(
    ("times", "interpolation", "rate"),
    [
        (np.arange(10) / 24, "LINEAR", 24.0),
        (np.arange(1, 10) / 30, "LINEAR", 30.0),
        (np.arange(10) / 29.97, "LINEAR", 29.97),
        ([0, 0.1, 0.5], "LINEAR", 60.0),
        ([0.05, 0.15, 0.25], "LINEAR", 60.0),
        (np.arange(10) / 24, "STEP", 60.0),
    ],
)
def test_the_rate_is_that_of_evenly_spaced_keys_or_else_sixty(times, interpolation, rate):
    values = [xyzw("x", 10 * i) for i in range(len(times))]
    sample = Sample(CHAIN, [0, 1, 2]).animate([(1, "rotation", times, values, interpolation)], "bend")
    assert motion(sample).clips()["bend"].rate == pytest.approx(rate, rel=1e-6)


def test_normalised_integers_stand_for_rotations():
    for values, unit in ((np.int16, 32767), (np.int8, 127), (np.uint8, 255)):
        sample = Sample(CHAIN, [0, 1, 2])
        keys = np.array([[0, 0, 0, unit], [0, 0, unit, 0]], dtype=values)
        output = sample.accessor(keys, normalized=True)
        sample.animate([(1, "rotation", [0, 1], output, "LINEAR")], "spin")
        assert abs(motion(sample).clips(1.0)["spin"][1]["knee"] @ turn("z", 180)) == pytest.approx(1.0)


def test_sparse_values_replace_those_of_the_view():
    sample = Sample(CHAIN, [0, 1, 2])
    output = sample.accessor(np.zeros((4, 3)))
    sample.top["accessors"][output]["sparse"] = sparse_part(sample, [1, 3], [[1, 0, 0], [3, 0, 0]])
    sample.animate([(0, "translation", [0, 1, 2, 3], output, "LINEAR")], "hop")
    assert motion(sample).clips()["hop"].positions(["hip"])[:, 0, 0] == pytest.approx([0, 1, 0, 3])


def test_sparse_values_without_a_view_replace_zeros():
    sample = Sample(CHAIN, [0, 1, 2])
    output = sample.accessor(np.ones((4, 3)))
    del sample.top["accessors"][output]["bufferView"]
    sample.top["accessors"][output]["sparse"] = sparse_part(sample, [2], [[5, 0, 0]])
    sample.animate([(0, "translation", [0, 1, 2, 3], output, "LINEAR")], "hop")
    assert motion(sample).clips()["hop"].positions(["hip"])[:, 0, 0] == pytest.approx([0, 0, 5, 0])


def test_a_stride_skips_bytes():
    sample = Sample(CHAIN, [0, 1, 2])
    output = sample.accessor(np.array([[1, 0, 0], [9, 9, 9], [2, 0, 0], [9, 9, 9]]))
    sample.top["accessors"][output]["count"] = 2
    sample.top["bufferViews"][-1]["byteStride"] = 24
    sample.animate([(0, "translation", [0, 1], output, "LINEAR")], "hop")
    assert motion(sample).clips()["hop"].positions(["hip"])[:, 0, 0] == pytest.approx([1, 2])


def test_animations_that_do_not_move_the_figure_are_left_out():
    nodes = [*CHAIN, {"name": "camera"}]
    sample = Sample(nodes, [0, 1, 2]).animate([(3, "rotation", [0, 1], [xyzw("y", 0), xyzw("y", 90)], "LINEAR")])
    sample.top["animations"].append({"samplers": [], "channels": []})
    assert motion(sample).clips() == {}


def test_names_of_animations_that_are_missing_or_repeated():
    sample = Sample(CHAIN, [0, 1, 2])
    for name in ("run", "run", None):
        sample.animate([(1, "rotation", [0, 1], [xyzw("y", 0), xyzw("y", 90)], "LINEAR")], name)
    assert list(motion(sample).clips()) == ["run", "run_2", "animation_2"]


def test_morph_weights_and_channels_without_a_node_are_passed_over():
    sample = Sample(CHAIN, [0, 1, 2]).animate([(1, "rotation", [0, 1], [xyzw("y", 0), xyzw("y", 90)], "LINEAR")], "run")
    channels = sample.top["animations"][0]["channels"]
    channels += [
        {"sampler": 0, "target": {"node": 0, "path": "weights"}},
        {"sampler": 0, "target": {"path": "rotation"}},
    ]
    assert len(motion(sample).clips()["run"]) == 2


def test_a_constant_scale_channel_is_accepted_and_another_is_refused():
    turning = (1, "rotation", [0, 1], [xyzw("y", 0), xyzw("y", 90)], "LINEAR")
    still = (1, "scale", [0, 1], [[1, 1, 1], [1, 1, 1]], "LINEAR")
    growing = (1, "scale", [0, 1], [[1, 1, 1], [2, 2, 2]], "LINEAR")
    at_the_end = (2, "scale", [0, 1], [[1, 1, 1], [2, 3, 4]], "LINEAR")
    assert len(motion(Sample(CHAIN, [0, 1, 2]).animate([turning, still, at_the_end])).clips()) == 1
    squashed = motion(Sample(CHAIN, [0, 1, 2]).animate([turning, growing], "squash"))
    with pytest.raises(FormatError, match=r"animation 'squash' scales nodes\[1\]"):
        squashed.clips()


def test_more_frames_than_fit_are_refused_before_they_are_made():
    sample = Sample(CHAIN, [0, 1, 2]).animate(
        [(1, "rotation", [0, 1, 1e9], [xyzw("y", a) for a in (0, 1, 2)], "LINEAR")]
    )
    with pytest.raises(FormatError, match="give a lower rate"):
        motion(sample).clips()
    assert len(motion(sample).clips(1e-6)["animation_0"]) == 1001


# Files


def test_figure_and_clips_of_a_file(tmp_path):
    path = tmp_path / "leg.gltf"
    path.write_bytes(walking().gltf())
    assert read_gltf_figure(path).name == "leg"
    assert list(read_gltf_clips(path)) == ["walk"]
    assert read_gltf_clips(path)["walk"].figure == read_gltf_figure(path)
    assert np.allclose(read_gltf_clips(path, rate=2, scale=0.5)["walk"].positions(["hip"])[1, 0], [1, 0.5, 0])


@pytest.mark.parametrize("options", [{"rate": 0.0}, {"rate": np.nan}, {"scale": 0.0}, {"scale": np.inf}])
def test_rate_and_scale_must_be_positive(tmp_path, options):
    path = tmp_path / "leg.gltf"
    path.write_bytes(walking().gltf())
    with pytest.raises(FormatError, match="must be a positive number"):
        read_gltf_clips(path, **options)


def test_a_glb_contains_its_buffer(tmp_path):
    path = tmp_path / "leg.glb"
    path.write_bytes(walking().glb())
    (tmp_path / "leg.gltf").write_bytes(walking().gltf())
    assert read_gltf_clips(path) == read_gltf_clips(tmp_path / "leg.gltf")


def test_a_buffer_beside_the_file(tmp_path):
    sample = walking()
    (tmp_path / "my data").mkdir()
    (tmp_path / "my data" / "leg.bin").write_bytes(sample.data)
    path = tmp_path / "leg.gltf"
    path.write_bytes(sample.text({"uri": "my%20data/leg.bin"}))
    assert list(read_gltf_clips(path)) == ["walk"]


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("../secret.bin", "leads out of the folder"),
        ("a/../../secret.bin", "leads out of the folder"),
        ("%2e%2e/secret.bin", "leads out of the folder"),
        ("link.bin", "leads out of the folder"),
        ("/etc/passwd", "only files beside"),
        ("%2Fetc%2Fpasswd", "only files beside"),
        ("\\\\host\\share", "only files beside"),
        ("C:/secret.bin", "only files beside"),
        ("file:///etc/passwd", "only files beside"),
        ("https://example.org/leg.bin", "only files beside"),
        ("a\0b", "only files beside"),
        ("", "only files beside"),
        ("missing.bin", "there is no such file"),
        (f"{'long' * 200}.bin", "there is no such file"),
        (".", "there is no such file"),
        ("data:application/octet-stream,abc", "not base64"),
        ("data:application/octet-stream;base64", "not base64"),
        ("data:application/octet-stream;base64,%%%", "broken base64"),
        ("data:application/octet-stream;base64,AAA", "broken base64"),
        ("data:application/octet-stream;base64,AAAA", "must have 32 bytes and has 3"),
    ],
)
def test_no_other_buffer_is_opened(tmp_path, uri, sentence):
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(walking().data)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    path = folder / "leg.gltf"
    path.write_bytes(walking().text({"uri": uri}))
    with pytest.raises(FormatError, match=sentence):
        read_gltf_clips(path)


def test_bytes_without_a_file_have_no_separate_buffers():
    with pytest.raises(FormatError, match="came without a file"):
        parse_gltf(walking().text({"uri": "leg.bin"}))
