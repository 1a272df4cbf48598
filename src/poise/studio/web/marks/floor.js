// The floor: a grid of lines that fades with the distance from the figure and goes with it, and the shadows on it.

import { THREE } from "nicegui-scene";

const FLOOR_RADIUS = 4.5; // radius of the floor, as a multiple of the figure's radius
const SHADOW_RADIUS = 1.6; // half the edge of the square in which things cast shadows, as a multiple of the same
const SHADOW_PIXELS = { card: 1024, software: 512 }; // edge of the picture that the shadows are taken from
const SHADOW_DEPTH = { light: 0.16, dark: 0.4 }; // opacity of a shadow, by theme

export class Floor {
  // `software`: whether the browser draws without a graphics card.
  constructor(figure, software) {
    this.figure = figure;
    this.pixels = software ? SHADOW_PIXELS.software : SHADOW_PIXELS.card;
    this.up = new THREE.Vector3(...figure.up);
    this.axes = [figure.forward, figure.left].map((values) => new THREE.Vector3(...values));
    this.middle = new THREE.Vector3(...figure.center);
    this.middle.addScaledVector(this.up, figure.floor - this.middle.dot(this.up));
    this.group = new THREE.Group();
    this.lines = this.grid();
    this.shade = this.sheet();
    this.sun = this.light();
    this.group.add(this.shade, this.lines, this.sun, this.sun.target);
  }

  turned(object) {
    object.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(...this.axes, this.up));
    return object;
  }

  grid() {
    const { figure, middle, axes } = this;
    const { points, shades } = grid(...axes.map((axis) => middle.dot(axis)), FLOOR_RADIUS * figure.radius, figure.spacing);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(shades, 4));
    const material = new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false });
    const lines = this.turned(new THREE.LineSegments(geometry, material));
    lines.position.copy(this.up).multiplyScalar(figure.floor);
    return lines;
  }

  sheet() {
    const size = 2 * FLOOR_RADIUS * this.figure.radius;
    const material = new THREE.ShadowMaterial({ transparent: true, depthWrite: false });
    const sheet = this.turned(new THREE.Mesh(new THREE.PlaneGeometry(size, size), material));
    sheet.position.copy(this.middle).addScaledVector(this.up, -1e-3 * this.figure.radius);
    sheet.receiveShadow = true;
    sheet.renderOrder = -1;
    return sheet;
  }

  // A sun straight above that lights nothing, so that a shadow lies under what casts it.
  light() {
    const sun = new THREE.DirectionalLight(0xffffff, 1e-6);
    const reach = SHADOW_RADIUS * this.figure.radius;
    sun.castShadow = true;
    sun.shadow.mapSize.set(this.pixels, this.pixels);
    sun.shadow.radius = 6;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0, far: 6 * this.figure.radius });
    sun.position.copy(this.middle).addScaledVector(this.up, 5 * this.figure.radius);
    sun.target.position.copy(this.middle);
    return sun;
  }

  // Go with the figure, by whole squares of the grid.
  follow(place) {
    const way = new THREE.Vector3();
    for (const axis of this.axes) {
      const squares = Math.round((place.dot(axis) - this.middle.dot(axis)) / this.figure.spacing);
      way.addScaledVector(axis, squares * this.figure.spacing);
    }
    this.group.position.copy(way);
  }

  paint(theme, name, ratio) {
    this.lines.material.color.setRGB(...theme.line, THREE.SRGBColorSpace);
    this.shade.material.opacity = SHADOW_DEPTH[name] ?? SHADOW_DEPTH.light;
    // Grid lines are one drawn pixel wide, so they need more opacity when pixels are finer.
    this.lines.material.opacity = Math.min(1, theme.line_strength * Math.max(1, ratio));
  }
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
