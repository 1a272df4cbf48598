// Marks of forces: forces and torques as arrows, friction cones, joint torques as arcs, moments of inertia as rings.

import { THREE } from "nicegui-scene";
import { readMark } from "poise-studio/frame_layout.js";
import { across, arrow, atop, discard, facing, hoop, shade, stretch, through } from "poise-studio/marks/lines.js";

const DRAW = { force: "arrow", torque: "arrow", ground: "arrow", cone: "cone", arc: "arc", ring: "ring" }; // method by kind
const GRAB_DISTANCE = 11; // distance to the tip of an arrow at which a press grabs it [pixels]
const ARROW_SIZE = 0.2; // thickness of arrows, as a share of the figure's size
const ARC_STEP = 0.02; // change of an arc's angle above which its mesh is built anew [rad]

export class Forces {
  constructor(figure) {
    this.figure = figure;
    this.group = new THREE.Group();
    this.things = new Map();
    this.tips = [];
  }

  pose(frame) {
    const seen = new Set();
    this.tips = [];
    for (let i = 0; i < frame.marks.count; i += 1) this.mark(readMark(frame.marks, i, this.figure.frame), seen);
    for (const [key, thing] of this.things) {
      if (seen.has(key)) continue;
      discard(thing.object);
      this.things.delete(key);
    }
  }

  mark(mark, seen) {
    const { kind, number, tone } = mark;
    if (!DRAW[kind]) return;
    const key = `${kind}-${number}-${kind === "ring" ? tone : ""}`;
    seen.add(key);
    const thing = this.things.get(key) ?? { kind, key };
    this[DRAW[kind]](thing, mark);
    if (!this.things.has(key)) this.things.set(key, thing);
    thing.tone = tone;
    this.tint(thing);
  }

  add(thing, object) {
    if (thing.object) discard(thing.object);
    thing.object = object;
    this.group.add(object);
  }

  arrow(thing, { kind, number, tail, tip }) {
    const [from, to] = [new THREE.Vector3(...tail), new THREE.Vector3(...tip)];
    if (!thing.object) this.add(thing, arrow(through({ opacity: 0.9 }), 0.03, 0.2));
    stretch(thing.object, from, to, ARROW_SIZE * this.figure.extent);
    if (kind === "ground") return;
    this.tips.push({ load: number, part: kind, from, to, scale: this.figure.arrows[kind === "force" ? 0 : 1] });
  }

  cone(thing, { apex, axis: direction, friction, height }) {
    const axis = new THREE.Vector3(...direction);
    if (!thing.object) {
      const geometry = new THREE.ConeGeometry(1, 1, 32, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
      this.add(thing, atop(new THREE.Mesh(geometry, through({ opacity: 0.22, depthWrite: false })), 2));
    }
    thing.object.position.fromArray(apex);
    thing.object.quaternion.copy(facing(axis, across(axis)));
    thing.object.scale.set(Math.max(friction * height, 1e-4), Math.max(friction * height, 1e-4), height);
  }

  arc(thing, { center, axis, start, radius, angle }) {
    if (!thing.object || Math.abs(angle - thing.angle) > ARC_STEP) {
      const group = new THREE.Group();
      const material = through({ opacity: 0.95 });
      const large = Math.min(1, 0.25 + angle);
      const head = atop(new THREE.Mesh(new THREE.ConeGeometry(0.2 * large, 0.45 * large, 12), material));
      head.position.set(Math.cos(angle), Math.sin(angle), 0);
      head.rotation.z = angle;
      group.add(hoop(0.075, angle, material), head);
      this.add(thing, group);
      thing.angle = angle;
    }
    thing.object.position.fromArray(center);
    thing.object.quaternion.copy(facing(new THREE.Vector3(...axis), new THREE.Vector3(...start)));
    thing.object.scale.setScalar(radius);
  }

  ring(thing, { center, axis: direction, radius, tone }) {
    const axis = new THREE.Vector3(...direction);
    if (!thing.object) this.add(thing, hoop(tone > 0 ? 0.05 : 0.018, 2 * Math.PI, through({ opacity: tone > 0 ? 0.5 : 1 })));
    thing.object.position.fromArray(center);
    thing.object.quaternion.copy(facing(axis, across(axis)));
    thing.object.scale.setScalar(Math.max(radius, 1e-4));
  }

  paint(theme) {
    this.theme = theme;
    for (const thing of this.things.values()) this.tint(thing);
  }

  tint({ kind, object, tone }) {
    if (!this.theme || !object) return;
    const { active, loop, target, gap, balance } = this.theme;
    const ground = tone > 1 ? gap : target; // red if the ground cannot hold the figure
    const arc = tone > 1 ? gap : active; // red if the torque exceeds the joint's strength
    const colors = { force: active, torque: loop, ground, cone: ground, arc, ring: balance };
    object.traverse((each) => each.material?.color.copy(shade(colors[kind])));
  }

  // The tip of a force or torque under the pointer.
  tipAt(view, event) {
    let [found, nearest] = [null, GRAB_DISTANCE];
    for (const tip of this.tips) {
      const [x, y] = view.pixel(tip.to);
      const far = Math.hypot(x - event.clientX, y - event.clientY);
      if (far < nearest) [found, nearest] = [tip, far];
    }
    return found;
  }
}
