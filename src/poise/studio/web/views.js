// The views: a perspective view that can be rotated, and orthographic views from the front, the side and the top.

import { OrbitControls, THREE } from "nicegui-scene";

const CAMERA_AZIMUTH = (32 * Math.PI) / 180;
const CAMERA_ELEVATION = (17 * Math.PI) / 180;
const FIELD_OF_VIEW = 26; // [degrees]
const FRAME_MARGIN = 1.08; // radius that is framed, as a multiple of the figure's radius

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
    this.pane.tabIndex = 0;
    this.pane.setAttribute("role", "application");
    this.pane.setAttribute("aria-label", `${name[0].toUpperCase()}${name.slice(1)} view of the figure`);
    this.label = document.createElement("span");
    this.label.textContent = name[0].toUpperCase() + name.slice(1);
    this.pane.append(this.label);
    host.append(this.pane);
    this.camera =
      name === "perspective"
        ? new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100)
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

  // Frame the whole figure.
  frame(figure) {
    if (!this.controls || this.up !== String(figure.up)) this.orbit(figure);
    const center = vector(figure.center);
    this.half = FRAME_MARGIN * figure.radius;
    const distance = this.camera.isPerspectiveCamera ? this.half / Math.sin(this.narrow()) : 6 * figure.radius;
    this.controls.enableDamping = false; // an update without damping stops a movement that is still running
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
    const half = (0.5 * FIELD_OF_VIEW * Math.PI) / 180;
    return Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
  }

  // The direction from the figure to the camera.
  away({ forward, left, up }) {
    if (this.name === "front") return vector(forward);
    if (this.name === "side") return vector(left);
    if (this.name === "top") return vector(up);
    return vector(forward)
      .multiplyScalar(Math.cos(CAMERA_AZIMUTH))
      .addScaledVector(vector(left), Math.sin(CAMERA_AZIMUTH))
      .multiplyScalar(Math.cos(CAMERA_ELEVATION))
      .addScaledVector(vector(up), Math.sin(CAMERA_ELEVATION));
  }

  update() {
    if (this.shown) this.controls?.update();
  }

  // The pointer's position in this view, from -1 to 1 in each direction.
  spot(event) {
    const box = this.pane.getBoundingClientRect();
    return new THREE.Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1,
      1 - (2 * (event.clientY - box.top)) / box.height,
    );
  }

  // The position of a world point on the page [pixels].
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
