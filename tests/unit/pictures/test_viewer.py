"""Views that can be turned: in notebooks, and as pages of the browser."""

import base64
import html
import json
import re
import webbrowser

import numpy as np
import pytest

import poise
from poise.errors import PoiseError
from poise.figure.model.viewable import View
from poise.pictures import viewer


def data_of(page: str) -> dict:
    return json.loads(re.search(r'id="figure">(.*?)</script>', page, re.DOTALL).group(1))


def unpacked(data: dict, key: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(data[key]), dtype=kind)


@pytest.mark.parametrize("name", ["human", "adelino", "stewart", "erik_c"])
def test_a_page_has_the_figure_where_it_is(name):
    figure = poise.load(name)
    posture = figure.random(np.random.default_rng(3))
    data = data_of(viewer.page(posture.view()))
    frames, bodies = figure.frames(posture), len(figure.bodies)
    positions, rotations = (unpacked(data, key, "<f4") for key in ("positions", "rotations"))
    assert np.allclose(positions.reshape(-1, 3), frames.position[:bodies], atol=1e-6)
    assert np.allclose(rotations.reshape(-1, 4), frames.rotation[:bodies], atol=1e-6)
    assert len(unpacked(data, "vertices", "<f4")) == 3 * sum(part["vertices"] for part in data["parts"])
    triangles = unpacked(data, "triangles", "<u4")
    assert len(triangles) == 3 * sum(part["triangles"] for part in data["parts"])
    assert triangles.max() < max(part["vertices"] for part in data["parts"])


def test_a_page_needs_no_network():
    page = viewer.page(poise.load("human").view())
    assert not re.search(r"https?://|src=|import |fetch\(|url\(", page)
    assert len(page) < 700_000


def test_long_motions_are_thinned_out_and_keep_their_tempo():
    arm = poise.load("arm")
    clip = poise.Clip(arm, np.tile(arm.neutral().q, (2 * viewer.MAX_FRAMES + 1, 1)), 120.0)
    data = data_of(viewer.page(clip.view()))
    assert data["frames"] <= viewer.MAX_FRAMES
    assert data["rate"] == pytest.approx(40.0)


def test_notebooks_show_what_can_be_looked_at():
    human = poise.load("human")
    result = poise.solve(human, [poise.Position("right_hand", (-0.3, 1.2, 0.4), name="<wave>")])
    lamp = poise.load("adelino")
    clip = poise.Clip(lamp, [lamp.posture(name).q for name in lamp.posture_names], 2.0)
    answer = poise.Expressive(lamp).solve("sad", (1.0, 0.3, 0.5))
    for shown in (human, human.neutral(), result, clip, answer):
        inside = shown._repr_html_()
        assert inside.startswith("<iframe ")
        document = html.unescape(re.search(r'srcdoc="([^"]*)"', inside).group(1))
        assert data_of(document)["frames"] == len(shown.view().postures)
    assert html.escape(result.report()) in result._repr_html_()
    assert poise.pictures.draw(lamp, size=(64, 64))._repr_png_().startswith(b"\x89PNG")


def test_a_name_cannot_end_the_script():
    figure = poise.chain("Y", lengths=[0.1], limits=90)
    page = viewer.page(View(figure, [figure.neutral()], title="</script><b>"))
    assert "</script><b>" not in page
    assert page.count("</script>") == 2


def test_show_writes_a_page_and_opens_it(monkeypatch, tmp_path, capsys):
    opened = []
    monkeypatch.setattr(viewer.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    path = poise.load("adelino").posture("sad").show()
    assert opened == [path.as_uri()]
    assert data_of(path.read_text(encoding="utf-8"))["name"] == "adelino"
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    path = poise.load("adelino").show()
    assert str(path) in capsys.readouterr().err


def test_a_view_without_a_posture_is_refused():
    with pytest.raises(PoiseError, match="at least one posture"):
        viewer.page(View(poise.load("arm"), []))
