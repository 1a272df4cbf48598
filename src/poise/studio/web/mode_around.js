// What modes draw around the figure: a ghost of the wanted posture, coloured paths along loops, a stick figure beside it.

import { THREE } from "nicegui-scene";
import { Sticks } from "poise-studio/mode_sticks.js";

const GHOST = { light: "#3b76c4", dark: "#7fb2f0" };
const THIN = 0.006; // radius of a path, in radii of the figure
const THICK = 0.02; // radius of a stick figure's bones, in radii of the figure

export class Around {
  constructor() {
    this.overlay = {};
    this.moving = [];
    this.step = -1;
    this.follow = () => {
      this.request = requestAnimationFrame(this.follow);
      this.update();
    };
    this.follow();
  }

  show(overlay) {
    this.overlay = overlay;
    this.root = null;
  }

  // Everything is built again for a new stage, and moves with every new frame of it.
  update() {
    const stage = window.poiseStage;
    if (!stage?.root || stage.figure.number !== this.overlay.figure) return;
    if (this.root !== stage.root) this.build(stage);
    if (this.step === stage.step) return;
    this.step = stage.step;
    for (const move of this.moving) move();
    if (this.overlay.follow) this.keepInView(stage);
    if (this.moving.length) stage.stale = true;
  }

  build(stage) {
    this.clear();
    this.root = stage.root;
    this.step = -1;
    this.group = new THREE.Group();
    if (this.overlay.ghost) this.group.add(ghost(stage, this.overlay.ghost));
    for (const path of this.overlay.paths ?? []) this.addPath(stage, path);
    if (this.overlay.bones) this.addBones(stage, this.overlay);
    stage.root.add(this.group);
    stage.stale = true;
    if (this.overlay.middle) this.makeRoom(stage, this.overlay);
  }

  // What stands beside the figure is framed with it.
  makeRoom(stage, { middle, radius }) {
    Object.assign(stage.figure, { center: middle, radius });
    stage.frameFigure();
  }

  clear() {
    this.moving = [];
    this.bones = this.seen = null;
    this.group?.removeFromParent();
    this.group?.traverse((object) => {
      object.material?.dispose();
      if (!object.userData.shared) object.geometry?.dispose();
    });
    this.group = null;
  }

  addPath(stage, { ink, through }) {
    const sticks = new Sticks(through.length - 1, THIN * stage.figure.radius, ink);
    const at = (k) => {
      const [marks, i] = k < 0 ? [stage.loops, 2 * (-1 - k)] : [stage.joints, k];
      return new THREE.Vector3().fromBufferAttribute(marks.geometry.getAttribute("position"), i);
    };
    this.moving.push(() => sticks.place((k) => [at(through[k]), at(through[k + 1])]));
    this.group.add(sticks.mesh);
  }

  // Whoever walks away is followed by all views.
  keepInView(stage) {
    const now = stage.bodies[0].position;
    if (this.seen) {
      const moved = now.clone().sub(this.seen);
      const up = new THREE.Vector3(...stage.figure.up);
      moved.addScaledVector(up, -moved.dot(up));
      stage.figure.center = new THREE.Vector3(...stage.figure.center).add(moved).toArray();
      for (const view of stage.views) {
        view.camera.position.add(moved);
        view.controls?.target.add(moved);
      }
      stage.stale = true;
    }
    this.seen = now.clone();
  }

  // A stick figure whose joints come with every frame of a clip.
  addBones(stage, { bones, ink }) {
    this.bones = { pairs: bones, sticks: new Sticks(bones.length, THICK * stage.figure.radius, ink, { solid: true }) };
    this.group.add(this.bones.sticks.mesh);
    if (this.places) this.placeBones(this.places);
  }

  placeBones(places) {
    this.places = places;
    if (!this.bones) return;
    const at = (i) => new THREE.Vector3(places[3 * i], places[3 * i + 1], places[3 * i + 2]);
    if (places.length < 3 * (1 + Math.max(...this.bones.pairs.flat()))) return;
    this.bones.sticks.place((k) => this.bones.pairs[k].map(at));
    window.poiseStage.stale = true;
  }

  close() {
    cancelAnimationFrame(this.request);
    this.clear();
  }
}

// The figure again, see-through, with every body where the row says.
function ghost(stage, row) {
  const material = new THREE.MeshBasicMaterial({
    color: GHOST[stage.theme] ?? GHOST.light,
    transparent: true,
    opacity: 0.22,
    depthWrite: false,
  });
  const figure = new THREE.Group();
  for (const mesh of stage.surfaces) {
    const k = 7 * mesh.userData.body;
    const body = new THREE.Mesh(mesh.geometry, material);
    body.userData = { shared: true, geometries: mesh.userData.geometries };
    body.position.set(row[k], row[k + 1], row[k + 2]);
    body.quaternion.set(row[k + 3], row[k + 4], row[k + 5], row[k + 6]);
    figure.add(body);
  }
  return figure;
}
