// The trace that dragged points leave; it shows what the figure can reach.

import { THREE } from "nicegui-scene";
import { atop, shade } from "poise-studio/marks/lines.js";

const MOST_POINTS = 20000; // points that are kept; new ones replace the oldest
const POINT_SPACING = 0.004; // distance between points of the trace, as a share of the figure's size

export class Trace {
  constructor(figure) {
    this.apart = POINT_SPACING * figure.extent;
    this.geometry = new THREE.BufferGeometry();
    this.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * MOST_POINTS), 3));
    this.points = atop(new THREE.Points(this.geometry, new THREE.PointsMaterial({ size: 3, sizeAttenuation: false })), 1);
    this.group = this.points;
    this.leaves = false;
    this.clear();
  }

  clear() {
    this.count = 0;
    this.last = new Map();
    this.geometry.setDrawRange(0, 0);
  }

  follow(targets) {
    if (!this.leaves) return;
    const pulled = targets.filter((target) => target.task < 0);
    if (!pulled.length) this.last.clear();
    pulled.forEach(({ got }, i) => {
      const before = this.last.get(i);
      if (before && before.distanceTo(got) < this.apart) return;
      this.last.set(i, got.clone());
      const positions = this.geometry.getAttribute("position");
      positions.setXYZ(this.count % MOST_POINTS, got.x, got.y, got.z);
      positions.needsUpdate = true;
      this.count += 1;
      this.geometry.setDrawRange(0, Math.min(this.count, MOST_POINTS));
    });
  }

  paint(theme) {
    this.points.material.color.copy(shade(theme.loop));
  }
}
