// The floor: a grid of lines that fades with the distance from the figure.

import { THREE } from "nicegui-scene";

const FLOOR_RADIUS = 4.5; // radius of the floor, as a multiple of the figure's radius

export function makeFloor(figure) {
  const [x, y, up] = [figure.forward, figure.left, figure.up].map((values) => new THREE.Vector3(...values));
  const center = new THREE.Vector3(...figure.center);
  center.addScaledVector(up, figure.floor - center.dot(up));
  const { points, shades } = grid(center.dot(x), center.dot(y), FLOOR_RADIUS * figure.radius, figure.spacing);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(shades, 4));
  const material = new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false });
  const floor = new THREE.LineSegments(geometry, material);
  floor.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, up));
  floor.position.copy(up).multiplyScalar(figure.floor);
  return floor;
}

// Line segments on multiples of `spacing` around a middle; the opacity of each end falls with its distance from there.
function grid(middleX, middleY, radius, spacing) {
  const [points, shades] = [[], []];
  const corner = (x, y) => {
    const near = Math.max(0, 1 - Math.hypot(x - middleX, y - middleY) / radius);
    points.push(x, y, 0);
    shades.push(1, 1, 1, near * near);
  };
  const steps = (middle) => {
    const [first, last] = [Math.ceil((middle - radius) / spacing), Math.floor((middle + radius) / spacing)];
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * spacing);
  };
  const inside = (x, y) => Math.hypot(x - middleX, y - middleY) < radius;
  for (const x of steps(middleX)) {
    for (const y of steps(middleY)) {
      if (!inside(x, y)) continue;
      for (const [toX, toY] of [[x + spacing, y], [x, y + spacing]]) {
        corner(x, y);
        corner(toX, toY);
      }
    }
  }
  return { points, shades };
}
