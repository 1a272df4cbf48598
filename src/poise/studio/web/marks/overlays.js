// Drawings over the figure: targets, each with a line to the point that should be there, the support polygon, the centre of mass.

import { THREE } from "nicegui-scene";
import { discs, ring } from "poise-studio/marks/discs.js";

const MOST_TARGETS = 64; // targets that are drawn
const MOST_CORNERS = 64; // corners of the support polygon that are drawn
const TOGETHER = [0.95, 0.55, 0.12]; // colour of the targets that move together
const LIFT = 0.002; // height above the ground at which the support polygon is drawn [m]

const color = (values) => new THREE.Color().setRGB(...values, THREE.SRGBColorSpace);

export class Overlays {
  constructor(figure) {
    this.up = new THREE.Vector3(...figure.up);
    this.group = new THREE.Group();
    this.targets = [];
    this.chosen = []; // numbers of the targets that move together
    this.marks = discs(MOST_TARGETS, 13);
    this.weight = discs(2, 11);
    this.threads = lines(2 * MOST_TARGETS);
    this.plumb = lines(2);
    this.edge = lines(2 * MOST_CORNERS);
    this.ground = new THREE.Mesh(
      new THREE.BufferGeometry(),
      new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.28, side: THREE.DoubleSide, depthWrite: false }),
    );
    this.ground.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(9 * MOST_CORNERS), 3));
    this.ground.frustumCulled = false;
    this.rings = [ring(this.marks), ring(this.weight)];
    this.group.add(this.ground, this.edge, this.threads, this.plumb, ...this.rings, this.marks, this.weight);
  }

  pose(frame) {
    const count = Math.min(frame.targets.count, MOST_TARGETS);
    this.targets = Array.from({ length: count }, (_, i) => readTarget(frame.targets, i));
    fill(this.marks, this.targets.map((target) => target.wanted));
    fill(this.threads, this.targets.flatMap((target) => [target.got, target.wanted]));
    this.support(frame);
    this.recolor();
  }

  support(frame) {
    const corners = Array.from({ length: frame.corners.count }, (_, i) =>
      new THREE.Vector3(...frame.corners.get(i, "position")).addScaledVector(this.up, LIFT),
    );
    const next = (i) => corners[(i + 1) % corners.length];
    fill(this.edge, corners.flatMap((corner, i) => [corner, next(i)]));
    fill(this.ground, corners.slice(1, -1).flatMap((corner, i) => [corners[0], corner, next(i + 1)]));
    const center = frame.center_of_mass.count ? new THREE.Vector3(...frame.center_of_mass.get(0, "position")) : null;
    const below = corners.length ? corners[0] : null;
    const foot = center && below && center.clone().addScaledVector(this.up, below.clone().sub(center).dot(this.up));
    this.center = center;
    this.foot = foot;
    fill(this.weight, [center, foot].filter((point) => point));
    fill(this.plumb, foot ? [center, foot] : []);
  }

  paint(theme) {
    this.theme = theme;
    for (const object of [this.plumb, this.edge, this.ground]) object.material.color.copy(color(theme.balance));
    for (const around of this.rings) around.material.color.copy(color(theme.ring));
    this.threads.material.color.copy(color(theme.target));
    this.recolor();
  }

  ink(target) {
    if (this.chosen.includes(target?.task)) return TOGETHER;
    return target?.met ? this.theme.target : this.theme.gap;
  }

  recolor() {
    if (!this.theme) return;
    tint(this.marks, (i) => this.ink(this.targets[i]), this.targets.length);
    tint(this.weight, () => this.theme.balance, 2);
  }
}

function readTarget(targets, i) {
  return {
    task: targets.number(i, "task"),
    met: targets.number(i, "met") > 0,
    wanted: new THREE.Vector3(...targets.get(i, "wanted")),
    got: new THREE.Vector3(...targets.get(i, "got")),
    moves: targets.number(i, "moves") > 0,
    turns: targets.number(i, "turns") > 0,
    turn: new THREE.Quaternion(...targets.get(i, "quaternion")),
  };
}

function lines(count) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
  const object = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ depthTest: false, transparent: true }));
  object.frustumCulled = false;
  object.renderOrder = 1;
  return object;
}

function fill(object, points) {
  const positions = object.geometry.getAttribute("position");
  const count = Math.min(points.length, positions.count);
  for (let i = 0; i < count; i += 1) positions.setXYZ(i, points[i].x, points[i].y, points[i].z);
  positions.needsUpdate = true;
  object.geometry.setDrawRange(0, count);
}

function tint(points, colorOf, count) {
  const colors = points.geometry.getAttribute("color");
  for (let i = 0; i < count; i += 1) {
    const shade = color(colorOf(i));
    colors.setXYZ(i, shade.r, shade.g, shade.b);
  }
  colors.needsUpdate = true;
}
