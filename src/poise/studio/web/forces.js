// Forces and torques as arrows, friction cones, joint torques as arcs, moments of inertia as rings (see marks.py).

import { THREE } from "nicegui-scene";
import { across, arrow, atop, discard, facing, hoop, shade, stretch, through } from "poise-studio/lines.js";

const WIDTH = 16;
const [FORCE, TORQUE, GROUND, CONE, ARC, RING] = [1, 2, 3, 4, 5, 6];
const NEAR = 11; // the tip of an arrow is taken hold of from this far [pixels]
const THICK = 0.2; // of arrows, in sizes of the figure
const STEP = 0.02; // arcs are built again when they change by more [rad]

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
    for (let k = 0; k < frame.marks.length; k += WIDTH) this.mark(frame.marks.subarray(k, k + WIDTH), seen);
    for (const [key, thing] of this.things) {
      if (seen.has(key)) continue;
      discard(thing.object);
      this.things.delete(key);
    }
  }

  mark([kind, number, tone, ...values], seen) {
    const draw = { [FORCE]: "arrow", [TORQUE]: "arrow", [GROUND]: "arrow", [CONE]: "cone", [ARC]: "arc", [RING]: "ring" }[kind];
    if (!draw) return;
    const key = `${kind}-${number}-${kind === RING ? tone : ""}`;
    seen.add(key);
    const thing = this.things.get(key) ?? { kind, key };
    this[draw](thing, values, tone, number);
    if (!this.things.has(key)) this.things.set(key, thing);
    thing.tone = tone;
    this.tint(thing);
  }

  add(thing, object) {
    if (thing.object) discard(thing.object);
    thing.object = object;
    this.group.add(object);
  }

  arrow(thing, values, tone, load) {
    const [from, to] = [new THREE.Vector3(...values.slice(0, 3)), new THREE.Vector3(...values.slice(3, 6))];
    if (!thing.object) this.add(thing, arrow(through({ opacity: 0.9 }), 0.03, 0.2));
    stretch(thing.object, from, to, THICK * this.figure.extent);
    if (thing.kind === GROUND) return;
    const part = thing.kind === FORCE ? "force" : "torque";
    this.tips.push({ load, part, from, to, scale: this.figure.arrows[part === "force" ? 0 : 1] });
  }

  cone(thing, values) {
    const [apex, axis] = [new THREE.Vector3(...values.slice(0, 3)), new THREE.Vector3(...values.slice(3, 6))];
    const [friction, height] = values.slice(6, 8);
    if (!thing.object) {
      const geometry = new THREE.ConeGeometry(1, 1, 32, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
      this.add(thing, atop(new THREE.Mesh(geometry, through({ opacity: 0.22, depthWrite: false })), 2));
    }
    thing.object.position.copy(apex);
    thing.object.quaternion.copy(facing(axis, across(axis)));
    thing.object.scale.set(Math.max(friction * height, 1e-4), Math.max(friction * height, 1e-4), height);
  }

  arc(thing, values) {
    const [center, axis, start] = [0, 3, 6].map((k) => new THREE.Vector3(...values.slice(k, k + 3)));
    const [radius, angle] = values.slice(9, 11);
    if (!thing.object || Math.abs(angle - thing.angle) > STEP) {
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
    thing.object.position.copy(center);
    thing.object.quaternion.copy(facing(axis, start));
    thing.object.scale.setScalar(radius);
  }

  ring(thing, values, tone) {
    const [center, axis] = [new THREE.Vector3(...values.slice(0, 3)), new THREE.Vector3(...values.slice(3, 6))];
    if (!thing.object) this.add(thing, hoop(tone > 0 ? 0.05 : 0.018, 2 * Math.PI, through({ opacity: tone > 0 ? 0.5 : 1 })));
    thing.object.position.copy(center);
    thing.object.quaternion.copy(facing(axis, across(axis)));
    thing.object.scale.setScalar(Math.max(values[6], 1e-4));
  }

  paint(theme) {
    this.theme = theme;
    for (const thing of this.things.values()) this.tint(thing);
  }

  tint({ kind, object, tone }) {
    if (!this.theme || !object) return;
    const { active, loop, target, gap, balance } = this.theme;
    const ground = tone > 1 ? gap : target;
    const arcs = tone > 1 ? gap : active;
    const color = { [FORCE]: active, [TORQUE]: loop, [GROUND]: ground, [CONE]: ground, [ARC]: arcs, [RING]: balance }[kind];
    object.traverse((each) => each.material?.color.copy(shade(color)));
  }

  // The tip of a force or torque under the pointer.
  tipAt(view, event) {
    let [found, nearest] = [null, NEAR];
    for (const tip of this.tips) {
      const [x, y] = view.pixel(tip.to);
      const far = Math.hypot(x - event.clientX, y - event.clientY);
      if (far < nearest) [found, nearest] = [tip, far];
    }
    return found;
  }
}
