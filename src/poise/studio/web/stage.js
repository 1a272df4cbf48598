// What is drawn: one mesh per body, discs on joints, rings where loops close, a floor, and the camera.

import { OrbitControls, THREE } from "nicegui-scene";
import { makeFloor } from "poise-studio/floor.js";

const VIEW_AROUND = (32 * Math.PI) / 180;
const VIEW_ABOVE = (17 * Math.PI) / 180;
const FIELD = 26; // [degrees]
const GAP = 1e-5; // a loop open by more than this is drawn as broken [m]

const vector = (values) => new THREE.Vector3(...values);
const color = (values) => new THREE.Color().setRGB(...values, THREE.SRGBColorSpace);

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(FIELD, 1, 0.01, 100);
    this.lights();
    this.figure = null;
    this.bodies = [];
    this.theme = "light";
    this.jointsShown = true;
    this.frames = 0;
    this.stale = true;
    this.draw = () => {
      this.request = requestAnimationFrame(this.draw);
      this.controls?.update();
      if (!this.stale) return;
      this.stale = false;
      this.renderer.render(this.scene, this.camera);
    };
    this.draw();
  }

  lights() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0x8890a0, 1.25);
    this.key = new THREE.DirectionalLight(0xffffff, 1.9);
    this.fill = new THREE.DirectionalLight(0xffffff, 0.45);
    this.key.position.set(-0.6, 0.9, 0.7);
    this.fill.position.set(0.9, 0.1, 0.5);
    this.camera.add(this.key, this.fill, this.key.target, this.fill.target);
    this.key.target.position.set(0, 0, -1);
    this.fill.target.position.set(0, 0, -1);
    this.scene.add(this.camera, this.sky);
  }

  // A new figure: everything of the old one goes.

  build(figure) {
    this.clear();
    const isFirst = this.figure === null;
    const turnedUp = !isFirst && String(this.figure.up) !== String(figure.up);
    this.figure = figure;
    this.root = new THREE.Group();
    const count = 1 + Math.max(...figure.parts.map((part) => part.body));
    this.bodies = Array.from({ length: count }, () => new THREE.Group());
    this.surfaces = figure.parts.map((part) => this.surface(part));
    this.root.add(...this.bodies);
    this.joints = this.discs(figure.joints.length, 9);
    this.loops = this.discs(2 * figure.loops, 12);
    this.rings = [ring(this.joints), ring(this.loops)];
    this.gaps = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ depthTest: false }));
    this.gaps.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6 * figure.loops), 3));
    this.gaps.frustumCulled = false;
    this.root.add(...this.rings, this.joints, this.loops, this.gaps);
    this.floor = makeFloor(figure);
    this.root.add(this.floor);
    this.scene.add(this.root);
    this.sky.position.copy(vector(figure.up));
    if (isFirst || turnedUp || !this.controls) this.orbit();
    this.paint();
    this.frameFigure();
  }

  surface(part) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(part.positions, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(part.normals, 3));
    geometry.setIndex(new THREE.BufferAttribute(part.indices, 1));
    const material = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.02, side: THREE.DoubleSide });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.userData = part;
    this.bodies[part.body].add(mesh);
    return mesh;
  }

  discs(count, size) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
    const material = new THREE.PointsMaterial({
      size: size * this.renderer.getPixelRatio(),
      sizeAttenuation: false,
      vertexColors: true,
      depthTest: false,
      transparent: true,
      map: discTexture(),
      alphaTest: 0.02,
    });
    const points = new THREE.Points(geometry, material);
    points.frustumCulled = false;
    points.renderOrder = 2;
    return points;
  }

  clear() {
    if (!this.root) return;
    this.scene.remove(this.root);
    this.root.traverse((object) => {
      object.geometry?.dispose();
      object.material?.map?.dispose();
      object.material?.dispose();
    });
    this.root = null;
  }

  // A new frame: bodies and marks move.

  pose(frame) {
    const rows = frame.bodies;
    this.bodies.forEach((body, i) => {
      const k = 7 * i;
      body.position.set(rows[k], rows[k + 1], rows[k + 2]);
      body.quaternion.set(rows[k + 3], rows[k + 4], rows[k + 5], rows[k + 6]);
    });
    this.move(this.joints, frame.joints);
    this.move(this.loops, frame.loops);
    this.move(this.gaps, openLoops(frame.loops));
    this.step = frame.step;
    this.frames += 1;
    this.stale = true;
  }

  move(object, rows) {
    const positions = object.geometry.getAttribute("position");
    positions.array.set(rows);
    positions.needsUpdate = true;
  }

  // Colours

  setTheme(theme) {
    this.theme = theme;
    this.paint();
  }

  paint() {
    if (!this.figure) return;
    const theme = this.figure.themes[this.theme];
    this.scene.background = color(theme.bottom).lerp(color(theme.top), 0.5);
    for (const mesh of this.surfaces) {
      const part = mesh.userData;
      mesh.material.color.copy(color(part.color ?? (part.bone ? theme.bone : theme.body)));
    }
    this.tint(this.joints, (i) => (this.figure.joints[i] ? theme.active : theme.passive));
    this.tint(this.loops, () => theme.loop);
    for (const around of this.rings) around.material.color.copy(color(theme.ring));
    this.gaps.material.color.copy(color(theme.gap));
    this.floor.material.uniforms.tint.value.copy(color(theme.line));
    this.floor.material.uniforms.strength.value = theme.line_strength;
    this.stale = true;
  }

  tint(points, colorOf) {
    const colors = points.geometry.getAttribute("color");
    for (let i = 0; i < colors.count; i += 1) {
      const shade = color(colorOf(i));
      colors.setXYZ(i, shade.r, shade.g, shade.b);
    }
    colors.needsUpdate = true;
  }

  showJoints(shown) {
    this.jointsShown = shown;
    for (const marks of this.rings ? [this.joints, this.loops, ...this.rings] : []) marks.visible = shown;
    this.stale = true;
  }

  // The camera

  orbit() {
    this.controls?.dispose();
    this.camera.up.copy(vector(this.figure.up));
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.18;
    this.controls.addEventListener("change", () => (this.stale = true));
  }

  frameFigure() {
    if (!this.figure) return;
    const { forward, left, up, center, radius } = this.figure;
    const away = vector(forward)
      .multiplyScalar(Math.cos(VIEW_AROUND))
      .addScaledVector(vector(left), Math.sin(VIEW_AROUND))
      .multiplyScalar(Math.cos(VIEW_ABOVE))
      .addScaledVector(vector(up), Math.sin(VIEW_ABOVE));
    const half = (0.5 * FIELD * Math.PI) / 180;
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    const distance = (1.02 * radius) / Math.sin(narrow);
    this.controls.enableDamping = false; // an update without damping forgets the motion that still goes on
    this.controls.update();
    this.controls.target.copy(vector(center));
    this.camera.position.copy(vector(center)).addScaledVector(away, distance);
    this.camera.near = 0.02 * distance;
    this.camera.far = 20 * distance;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.controls.enableDamping = true;
    this.showJoints(this.jointsShown);
  }

  resize(width, height) {
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    const first = this.camera.aspect === 1;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (first) this.frameFigure();
    this.stale = true;
  }

  close() {
    cancelAnimationFrame(this.request);
    this.clear();
    this.controls?.dispose();
    this.renderer.dispose();
  }
}

// The two ends of every open loop; closed ones shrink to a point that draws nothing.
function openLoops(rows) {
  const open = rows.slice();
  for (let k = 0; k < open.length; k += 6) {
    const gap = Math.hypot(open[k] - open[k + 3], open[k + 1] - open[k + 4], open[k + 2] - open[k + 5]);
    if (gap <= GAP) open.copyWithin(k + 3, k, k + 3);
  }
  return open;
}

// A wider disc behind each disc of `points`.
function ring(points) {
  const material = points.material.clone();
  material.size *= 1.4;
  material.vertexColors = false;
  const around = new THREE.Points(points.geometry, material);
  around.frustumCulled = false;
  around.renderOrder = 1;
  return around;
}

function discTexture() {
  const size = 64;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d");
  pen.beginPath();
  pen.arc(size / 2, size / 2, size / 2 - 3, 0, 2 * Math.PI);
  pen.fillStyle = "#ffffff";
  pen.fill();
  return new THREE.CanvasTexture(canvas);
}
