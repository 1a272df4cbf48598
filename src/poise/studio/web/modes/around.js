// Drawings of modes around the figure: a ghost of the wanted posture, coloured paths along loops, the clip's stick figure.

import { THREE } from "nicegui-scene";
import { bodiesTable } from "poise-studio/frame_layout.js";
import { Pairs } from "poise-studio/modes/pairs.js";
import { Sticks } from "poise-studio/modes/sticks.js";

const GHOST = { light: "#3b76c4", dark: "#7fb2f0" };
const THIN = 0.006; // radius of a path, as a share of the figure's radius
const THICK = 0.02; // radius of a stick figure's bones, as a share of the figure's radius

export class Around {
  constructor(send) {
    this.send = send;
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

  // The drawings are built again for a new figure, and moved with every frame.
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
    if (this.overlay.marks) this.addPairs(stage);
    stage.root.add(this.group);
    stage.stale = true;
    if (this.overlay.middle) this.makeRoom(stage, this.overlay);
    else if (stage.room) this.giveRoomBack(stage);
  }

  // Frame the figure together with the stick figure beside it.
  makeRoom(stage, { middle, radius }) {
    stage.room = { center: middle, radius };
    stage.frameFigure();
  }

  // Frame the figure alone again, once nothing is beside it.
  giveRoomBack(stage) {
    stage.room = null;
    stage.frameSoon();
  }

  // Marks on the parts of the clip and of the figure that belong together.
  addPairs(stage) {
    this.pairs = new Pairs(stage, this.overlay, this.send);
    this.group.add(...this.pairs.objects);
    this.moving.push(() => this.pairs.place(this.places));
    if (this.places) this.pairs.place(this.places);
  }

  clear() {
    this.pairs?.close();
    this.pairs = null;
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

  // All views follow a figure that walks away.
  keepInView(stage) {
    const now = stage.bodies[0].position;
    if (this.seen) {
      const moved = now.clone().sub(this.seen);
      const up = new THREE.Vector3(...stage.figure.up);
      moved.addScaledVector(up, -moved.dot(up));
      if (stage.room) stage.room.center = new THREE.Vector3(...stage.room.center).add(moved).toArray();
      for (const view of stage.views) {
        view.camera.position.add(moved);
        view.controls?.target.add(moved);
      }
      stage.stale = true;
    }
    this.seen = now.clone();
  }

  // A stick figure whose joint positions are sent with every frame of a clip.
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
    this.pairs?.place(places);
    window.poiseStage.stale = true;
  }

  close() {
    cancelAnimationFrame(this.request);
    this.clear();
  }
}

// A transparent copy of the figure in another posture; `numbers` are those of its table of bodies.
export function ghost(stage, numbers, opacity = 0.22) {
  const bodies = bodiesTable(numbers, stage.figure.frame);
  const material = new THREE.MeshBasicMaterial({
    color: GHOST[stage.theme] ?? GHOST.light,
    transparent: true,
    opacity,
    depthWrite: false,
  });
  const figure = new THREE.Group();
  for (const mesh of stage.surfaces) {
    const body = new THREE.Mesh(mesh.geometry, material);
    body.userData = { shared: true, geometries: mesh.userData.geometries };
    body.position.fromArray(bodies.get(mesh.userData.body, "position"));
    body.quaternion.fromArray(bodies.get(mesh.userData.body, "quaternion"));
    figure.add(body);
  }
  return figure;
}
