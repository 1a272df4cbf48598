// The views: one that turns around the figure, and three along the axes; each has a place on the page of its own.

import { OrbitControls, THREE } from "nicegui-scene";

const AROUND = (32 * Math.PI) / 180;
const ABOVE = (17 * Math.PI) / 180;
const FIELD = 26; // [degrees]
const ROOM = 1.08; // how much more than the figure is shown

const vector = (values) => new THREE.Vector3(...values);

export function makeViews(host, onChange) {
  return ["perspective", "front", "side", "top"].map((name) => new View(host, name, onChange));
}

class View {
  constructor(host, name, onChange) {
    this.name = name;
    this.onChange = onChange;
    this.shown = false;
    this.box = [0, 0, 1, 1];
    this.pane = document.createElement("div");
    this.pane.className = "poise-view";
    this.pane.dataset.view = name;
    this.label = document.createElement("span");
    this.label.textContent = name;
    this.pane.append(this.label);
    host.append(this.pane);
    this.camera =
      name === "perspective"
        ? new THREE.PerspectiveCamera(FIELD, 1, 0.01, 100)
        : new THREE.OrthographicCamera(-1, 1, 1, -1, 0.01, 100);
  }

  // `box` is left, top, width and height in pixels of the canvas.
  place(box, shown, labelled) {
    this.box = box;
    this.shown = shown;
    const [left, top, width, height] = box.map((number) => `${number}px`);
    Object.assign(this.pane.style, { left, top, width, height, display: shown ? "block" : "none" });
    this.pane.classList.toggle("poise-view-framed", labelled);
    this.label.style.display = labelled ? "block" : "none";
    this.shape();
  }

  shape() {
    const aspect = this.box[2] / Math.max(1, this.box[3]);
    if (this.camera.isPerspectiveCamera) this.camera.aspect = aspect;
    else {
      const high = (this.half ?? 1) / Math.min(1, aspect);
      Object.assign(this.camera, { left: -high * aspect, right: high * aspect, top: high, bottom: -high });
    }
    this.camera.updateProjectionMatrix();
    this.onChange();
  }

  orbit(figure) {
    this.controls?.dispose();
    this.camera.up.copy(vector(this.name === "top" ? figure.forward : figure.up));
    this.controls = new OrbitControls(this.camera, this.pane);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.18;
    if (this.name !== "perspective") {
      this.controls.enableRotate = false;
      this.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
    }
    this.controls.addEventListener("change", this.onChange);
    this.up = String(figure.up);
  }

  // Look at the whole figure.
  frame(figure) {
    if (!this.controls || this.up !== String(figure.up)) this.orbit(figure);
    const center = vector(figure.center);
    this.half = ROOM * figure.radius;
    const distance = this.camera.isPerspectiveCamera ? this.half / Math.sin(this.narrow()) : 6 * figure.radius;
    this.controls.enableDamping = false; // an update without damping forgets the motion that still goes on
    this.controls.update();
    this.controls.target.copy(center);
    this.camera.zoom = 1;
    this.camera.position.copy(center).addScaledVector(this.away(figure), distance);
    this.camera.near = 0.02 * distance;
    this.camera.far = 20 * distance;
    this.shape();
    this.controls.update();
    this.controls.enableDamping = true;
  }

  narrow() {
    const half = (0.5 * FIELD * Math.PI) / 180;
    return Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
  }

  // The direction from the figure to the eye.
  away({ forward, left, up }) {
    if (this.name === "front") return vector(forward);
    if (this.name === "side") return vector(left);
    if (this.name === "top") return vector(up);
    return vector(forward)
      .multiplyScalar(Math.cos(AROUND))
      .addScaledVector(vector(left), Math.sin(AROUND))
      .multiplyScalar(Math.cos(ABOVE))
      .addScaledVector(vector(up), Math.sin(ABOVE));
  }

  update() {
    if (this.shown) this.controls?.update();
  }

  // The pointer in this view, from -1 to 1 each way.
  spot(event) {
    const box = this.pane.getBoundingClientRect();
    return new THREE.Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1,
      1 - (2 * (event.clientY - box.top)) / box.height,
    );
  }

  // Where a point of the world is in this view [pixels of the page].
  pixel(point) {
    const box = this.pane.getBoundingClientRect();
    const spot = point.clone().project(this.camera);
    return [box.left + (0.5 * spot.x + 0.5) * box.width, box.top + (0.5 - 0.5 * spot.y) * box.height];
  }

  close() {
    this.controls?.dispose();
    this.pane.remove();
  }
}
