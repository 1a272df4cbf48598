// Ghosts of the keys, and the paths of hands, feet and head through the animation.

import { THREE } from "nicegui-scene";
import { ghost } from "poise-studio/modes/around.js";
import { discard } from "poise-studio/marks/lines.js";

const INKS = ["#e2591f", "#2f6fd0", "#2e9e4f", "#a04fc0", "#b8860b", "#0f9aa8"];

export class Traces {
  constructor() {
    this.about = { figure: -1, ghosts: [], trails: [] };
    this.group = null;
    this.follow = () => {
      this.request = requestAnimationFrame(this.follow);
      this.update();
    };
    this.follow();
  }

  show(about) {
    this.about = about;
    this.root = null;
  }

  // The drawings are built again for a new figure, and hidden in other modes.
  update() {
    const stage = window.poiseStage;
    if (!stage?.root) return;
    const shown = document.body.dataset.mode === "pose" && stage.figure.number === this.about.figure;
    if (this.group && this.group.visible !== shown) {
      this.group.visible = shown;
      stage.stale = true;
    }
    if (this.root === stage.root || stage.figure.number !== this.about.figure) return;
    this.clear();
    this.root = stage.root;
    this.group = new THREE.Group();
    this.group.name = "traces";
    for (const bodies of this.about.ghosts) this.group.add(ghost(stage, bodies, 0.13));
    this.about.trails.forEach((path, k) => this.group.add(trail(path, INKS[k % INKS.length])));
    stage.root.add(this.group);
    stage.stale = true;
  }

  clear() {
    if (!this.group) return;
    this.group.traverse((object) => {
      if (object.userData.shared) object.geometry = new THREE.BufferGeometry(); // it belongs to the figure
    });
    discard(this.group);
    this.group = null;
  }

  close() {
    cancelAnimationFrame(this.request);
    this.clear();
  }
}

// A line through the places of all frames, with a dot for each frame: where dots are far apart, the point is fast.
function trail(path, ink) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(path, 3));
  const group = new THREE.Group();
  const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: ink, transparent: true, opacity: 0.85 }));
  const dots = new THREE.Points(geometry, new THREE.PointsMaterial({ color: ink, size: 3.5, sizeAttenuation: false }));
  for (const each of [line, dots]) each.frustumCulled = false;
  group.add(line, dots);
  return group;
}
