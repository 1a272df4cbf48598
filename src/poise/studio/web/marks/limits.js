// Joint limits: sectors for revolute joints and cones for ball joints, on the joints' parent bodies; red at a limit.

import { THREE } from "nicegui-scene";
import { atop, facing, shade } from "poise-studio/marks/lines.js";

const LIMIT_RADIUS = 0.085; // radius of sectors and cones, as a share of the figure's size
const SECTOR_STEPS = 32;

export class Limits {
  constructor(figure, bodies) {
    this.group = new THREE.Group();
    this.fans = figure.limits.map((limit) => this.build(limit, LIMIT_RADIUS * figure.extent, bodies));
    this.show(false);
  }

  build(limit, radius, bodies) {
    const seat = new THREE.Group();
    seat.position.set(...limit.at);
    seat.quaternion.set(...limit.turned);
    const shapes = limit.cone ? [cone(limit.cone)] : limit.sectors.map(sector);
    const meshes = shapes.map((geometry) => {
      const look = { transparent: true, opacity: 0.4, side: THREE.DoubleSide, depthWrite: false };
      return atop(new THREE.Mesh(geometry.scale(radius, radius, radius), new THREE.MeshBasicMaterial(look)), 1);
    });
    seat.add(...meshes);
    (limit.body < 0 ? this.group : bodies[limit.body]).add(seat);
    return { joint: limit.joint, seat, meshes, reached: false };
  }

  show(shown) {
    this.shown = shown;
    for (const { seat } of this.fans) seat.visible = shown;
  }

  pose(frame) {
    for (const fan of this.fans) fan.reached = frame.joints.number(fan.joint, "at_limit") > 0;
    this.recolor();
  }

  paint(theme) {
    this.theme = theme;
    this.recolor();
  }

  recolor() {
    if (!this.theme) return;
    for (const { meshes, reached } of this.fans) {
      for (const mesh of meshes) mesh.material.color.copy(shade(reached ? this.theme.gap : this.theme.passive));
    }
  }
}

function fan(tip, rim, closed) {
  const points = [];
  const last = closed ? rim.length : rim.length - 1;
  for (let i = 0; i < last; i += 1) points.push(tip, rim[i], rim[(i + 1) % rim.length]);
  return new THREE.BufferGeometry().setFromPoints(points);
}

function cone(directions) {
  return fan(new THREE.Vector3(), directions.map((each) => new THREE.Vector3(...each)), true);
}

function sector({ axis, rest, low, high }) {
  const turn = facing(new THREE.Vector3(...axis), new THREE.Vector3(...rest));
  const rim = Array.from({ length: SECTOR_STEPS + 1 }, (_, i) => {
    const angle = low + ((high - low) * i) / SECTOR_STEPS;
    return new THREE.Vector3(Math.cos(angle), Math.sin(angle), 0).applyQuaternion(turn);
  });
  return fan(new THREE.Vector3(), rim, false);
}
