// The three-dimensional scene: bodies, discs on joints and loops, the floor, targets, forces, obstacles, and the views.

import { THREE } from "nicegui-scene";
import { discs, ring } from "poise-studio/marks/discs.js";
import { Floor } from "poise-studio/marks/floor.js";
import { Forces } from "poise-studio/marks/forces.js";
import { Limits } from "poise-studio/marks/limits.js";
import { Obstacles } from "poise-studio/marks/obstacles.js";
import { Overlays } from "poise-studio/marks/overlays.js";
import { Trace } from "poise-studio/marks/trace.js";
import { Selection } from "poise-studio/pointer/selection.js";
import { drawsInSoftware, Quality } from "poise-studio/quality.js";
import { makeViews } from "poise-studio/views.js";

const SELECTION_RADIUS = 0.35; // radius that is framed around the selection, as a share of the figure's radius
const TARGET_MARGIN = 1.06; // margin around targets that are framed
const FARTHEST_TARGET = 1.7; // distance up to which targets are framed with the figure, as a multiple of its radius
const HIGHLIGHT = "#7a3d00"; // colour that is added to a highlighted body
const FRAME_SIZE = 0.07; // length of the axes of a body's frame, as a share of the figure's radius
const FRAMES_UNDERWAY = 400; // time in which a frame of a mode that was left or entered arrives [ms]
const OPEN_LOOP_GAP = 1e-5; // closure error above which a loop is drawn as open [m]

const vector = (values) => new THREE.Vector3(...values);
const color = (values) => new THREE.Color().setRGB(...values, THREE.SRGBColorSpace);

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.size = [0, 0];
    const software = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !software });
    this.quality = new Quality(software, (ratio, coarse) => this.refine(ratio, coarse));
    this.quality.finest();
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.shadowMap.autoUpdate = false; // once for all views
    this.scene = new THREE.Scene();
    this.views = makeViews(canvas.parentElement, () => (this.stale = true));
    this.camera = this.views[0].camera;
    this.lights();
    this.figure = null;
    this.bodies = [];
    this.theme = "light";
    this.jointsShown = true;
    this.shown = { limits: false, collision: false, trace: false, frames: false, names: false };
    this.frames = 0;
    this.stale = true;
    this.draw = (time) => {
      this.request = requestAnimationFrame(this.draw);
      for (const view of this.views) view.update();
      if (this.stale) this.quality.move(time);
      else if (!this.quality.rest(time)) return;
      this.stale = false;
      this.render();
      if (this.quality.resting && software) this.quality.took(this.waited());
    };
    this.draw(performance.now());
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

  // Build a new figure and remove the old one.

  build(figure) {
    const again = this.figure?.name === figure.name;
    this.clear();
    this.figure = figure;
    this.root = new THREE.Group();
    this.axes = null;
    const count = 1 + Math.max(...figure.parts.map((part) => part.body));
    this.bodies = Array.from({ length: count }, () => new THREE.Group());
    const meshes = figure.parts.map((part) => this.surface(part));
    this.surfaces = meshes.filter((mesh) => !mesh.userData.collides);
    this.solids = meshes.filter((mesh) => mesh.userData.collides);
    this.root.add(...this.bodies);
    this.joints = discs(figure.joints.length, 9);
    this.loops = discs(2 * figure.loops, 12);
    this.rings = [ring(this.joints), ring(this.loops)];
    this.gaps = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ depthTest: false }));
    this.gaps.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6 * figure.loops), 3));
    this.gaps.frustumCulled = false;
    this.root.add(...this.rings, this.joints, this.loops, this.gaps);
    this.floor = new Floor(figure, this.quality.software);
    this.overlays = new Overlays(figure);
    this.forces = new Forces(figure);
    this.obstacles = new Obstacles(figure);
    this.limits = new Limits(figure, this.bodies);
    this.trace = new Trace(figure);
    this.selection = new Selection(figure, this);
    this.layers = [this.overlays, this.forces, this.obstacles, this.limits, this.trace, this.selection];
    this.root.add(this.floor.group, ...this.layers.map((layer) => layer.group));
    this.scene.add(this.root);
    this.sky.position.copy(vector(figure.up));
    this.paint();
    this.refine(this.ratio, this.coarse);
    this.showMore(this.shown);
    if (again) this.showJoints(this.jointsShown);
    else this.frameFigure();
    this.unframed = !again;
  }

  surface(part) {
    const geometries = [part, part.coarse].map(skin);
    const side = part.closed ? THREE.FrontSide : THREE.DoubleSide;
    const material = new THREE.MeshLambertMaterial({ side });
    const mesh = new THREE.Mesh(geometries[Number(this.coarse)], material);
    mesh.castShadow = true;
    mesh.userData = { ...part, geometries };
    this.bodies[part.body].add(mesh);
    return mesh;
  }

  clear() {
    if (!this.root) return;
    this.scene.remove(this.root);
    this.root.traverse((object) => {
      for (const geometry of object.userData.geometries ?? [object.geometry]) geometry?.dispose();
      object.material?.map?.dispose();
      object.material?.dispose();
    });
    this.root = null;
  }

  // Show a new frame: move bodies and marks.

  pose(frame) {
    this.bodies.forEach((body, i) => {
      body.position.fromArray(frame.bodies.get(i, "position"));
      body.quaternion.fromArray(frame.bodies.get(i, "quaternion"));
    });
    const ends = loopEnds(frame.loops);
    this.move(this.joints, frame.joints.all("position"));
    this.move(this.loops, ends);
    this.move(this.gaps, openLoops(ends));
    this.floor.follow(this.bodies[0].position);
    for (const layer of this.layers) layer.pose?.(frame);
    this.trace.follow(this.overlays.targets);
    if (this.unframed) this.frameFigure();
    this.unframed = false;
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
    if (theme === this.theme) return;
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
    for (const mesh of this.solids) mesh.material.color.copy(color(theme.collision));
    this.tint(this.joints, (i) => (this.figure.joints[i] ? theme.active : theme.passive));
    this.tint(this.loops, () => theme.loop);
    for (const around of this.rings) around.material.color.copy(color(theme.ring));
    this.gaps.material.color.copy(color(theme.gap));
    for (const layer of this.layers) layer.paint(theme);
    this.floor.paint(theme, this.theme, this.ratio);
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

  // Show or hide joint limits, collision shapes, and the trace of dragged points.
  showMore(shown) {
    this.shown = { ...this.shown, ...shown };
    if (!this.figure) return;
    this.limits.show(this.shown.limits);
    this.trace.leaves = this.shown.trace;
    if (!this.shown.trace) this.trace.clear();
    this.showFrames(this.shown.frames);
    for (const mesh of this.surfaces) mesh.visible = !this.shown.collision;
    for (const mesh of this.solids) mesh.visible = this.shown.collision;
    this.stale = true;
  }

  // Light up the surfaces of a body; null for none.
  highlight(body) {
    for (const mesh of this.surfaces ?? []) mesh.material.emissive.set(mesh.userData.body === body ? HIGHLIGHT : "#000000");
    this.stale = true;
  }

  // Show or hide the frames of all bodies: red, green and blue axes.
  showFrames(shown) {
    if (shown && !this.axes) {
      this.axes = this.bodies.map((body) => {
        const axes = new THREE.AxesHelper(FRAME_SIZE * this.figure.radius);
        axes.material.depthTest = false;
        axes.renderOrder = 3;
        body.add(axes);
        return axes;
      });
    }
    for (const axes of this.axes ?? []) axes.visible = shown;
  }

  // Set the drawing quality: the pixel ratio, and whether coarse surfaces are drawn.
  refine(ratio, coarse) {
    this.ratio = ratio;
    this.coarse = coarse;
    this.renderer.setPixelRatio(ratio);
    if (!this.root) return;
    this.floor.paint(this.figure.themes[this.theme], this.theme, ratio);
    this.root.traverse((object) => {
      if (object.userData.geometries) object.geometry = object.userData.geometries[Number(coarse)];
    });
  }

  // The views

  render() {
    this.drawn = this.step;
    const height = this.size[1];
    this.castShadows();
    this.renderer.setScissorTest(true);
    for (const view of this.views.filter((each) => each.shown)) {
      const [left, top, wide, high] = view.box;
      this.renderer.setViewport(left, height - top - high, wide, high);
      this.renderer.setScissor(left, height - top - high, wide, high);
      this.renderer.render(this.scene, view.camera);
    }
  }

  // Shadows are as expensive as all the rest: without a graphics card they are drawn only while nothing moves.
  castShadows() {
    if (!this.root) return;
    const shown = !this.quality.software || this.quality.resting;
    this.floor.shade.visible = shown;
    this.renderer.shadowMap.needsUpdate = shown;
  }

  // Wait until the graphics commands so far are executed; returns the time that took [ms].
  waited() {
    const pen = this.renderer.getContext();
    const begun = performance.now();
    pen.readPixels(0, 0, 1, 1, pen.RGBA, pen.UNSIGNED_BYTE, new Uint8Array(4));
    return performance.now() - begun;
  }

  frameFigure() {
    if (!this.figure) return;
    for (const view of this.views) view.frame(this.whole());
    this.showJoints(this.jointsShown);
  }

  // The sphere to frame: the figure and the targets that are not far from it.
  whole() {
    const { center, radius } = this.room ?? this.extent();
    const far = this.overlays.targets.map((target) => TARGET_MARGIN * target.wanted.distanceTo(vector(center)));
    return { ...this.figure, center, radius: Math.max(radius, ...far.filter((each) => each < FARTHEST_TARGET * radius)) };
  }

  // The centre and radius of the figure where it is now.
  extent() {
    this.root.updateMatrixWorld();
    const box = new THREE.Box3();
    for (const mesh of this.surfaces) box.expandByObject(mesh);
    if (box.isEmpty()) return this.figure;
    return { center: box.getCenter(new THREE.Vector3()).toArray(), radius: 0.5 * box.getSize(new THREE.Vector3()).length() };
  }

  // Frame the figure now, and again with the frames that are on their way.
  frameSoon() {
    this.frameFigure();
    this.unframed = true;
    setTimeout(() => (this.unframed = false), FRAMES_UNDERWAY);
  }

  // Frame the selection, or the whole figure if nothing is selected.
  frameSelected() {
    const place = this.selection?.gizmo.handles.length ? this.selection.gizmo.place : null;
    if (!place) return this.frameFigure();
    const near = { ...this.figure, center: place.toArray(), radius: SELECTION_RADIUS * this.figure.radius };
    for (const view of this.views) view.frame(near);
    return undefined;
  }

  showFour(four) {
    this.four = four;
    this.layOut();
    for (const view of this.views.slice(1)) if (this.figure) view.frame(this.whole());
  }

  resize(width, height) {
    if (!width || !height) return;
    const first = this.size[0] === 0;
    this.size = [width, height];
    this.renderer.setSize(width, height, false);
    this.layOut();
    if (first) this.frameFigure();
  }

  layOut() {
    const [width, height] = this.size;
    const half = [Math.floor(width / 2), Math.floor(height / 2)];
    this.views.forEach((view, i) => {
      const [column, row] = [i % 2, Math.floor(i / 2)];
      const box = [column * half[0], row * half[1], column ? width - half[0] : half[0], row ? height - half[1] : half[1]];
      view.place(this.four ? box : [0, 0, width, height], i === 0 || this.four === true, this.four === true);
    });
    this.stale = true;
  }

  close() {
    cancelAnimationFrame(this.request);
    this.clear();
    for (const view of this.views) view.close();
    this.renderer.dispose();
  }
}

function skin({ positions, normals, indices }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  geometry.setIndex(new THREE.BufferAttribute(indices, 1));
  return geometry;
}

// The two ends of every loop, on its parent and on its child: six numbers each.
function loopEnds(loops) {
  const ends = new Float32Array(6 * loops.count);
  for (let i = 0; i < loops.count; i += 1) {
    ends.set(loops.get(i, "on_parent"), 6 * i);
    ends.set(loops.get(i, "on_child"), 6 * i + 3);
  }
  return ends;
}

// The two ends of every open loop; those of a closed loop are the same point, so that no line is drawn.
function openLoops(ends) {
  const open = ends.slice();
  for (let k = 0; k < open.length; k += 6) {
    const gap = Math.hypot(open[k] - open[k + 3], open[k + 1] - open[k + 4], open[k + 2] - open[k + 5]);
    if (gap <= OPEN_LOOP_GAP) open.copyWithin(k + 3, k, k + 3);
  }
  return open;
}
