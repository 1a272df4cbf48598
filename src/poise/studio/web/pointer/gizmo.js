// The handles of the selected thing: arrows move it along an axis, rings rotate it about an axis.

import { THREE } from "nicegui-scene";
import { across, arrow, discard, facing, hoop, stretch, through } from "poise-studio/marks/lines.js";

const AXIS_COLORS = { x: 0xe5484d, y: 0x30a46c, z: 0x3e7bfa };
const RING_SIZE = 0.1; // radius of the rings, as a share of the figure's size
const GRAB_DISTANCE = 8; // distance to a handle at which a press grabs it [pixels]
const EDGE_ON = 0.3; // cosine between a ring's axis and the line of sight below which a drag follows the ring's tangent
const CORNERS = 72; // points of a ring that are compared with the pointer

export class Gizmo {
  constructor(figure) {
    this.size = RING_SIZE * figure.extent;
    this.group = new THREE.Group();
    this.handles = [];
  }

  // Show handles, each { kind: "turn" or "move", axis, letter, freedom }, at a point; an empty list hides them.
  show(place, handles) {
    const same = this.handles.length === handles.length && handles.every((each, i) => each.kind === this.handles[i].kind);
    if (!same) this.build(handles);
    this.place = place;
    this.group.visible = handles.length > 0;
    this.handles.forEach((handle, i) => {
      Object.assign(handle, handles[i]);
      handle.axis = handles[i].axis.clone().normalize();
      this.put(handle);
    });
  }

  build(handles) {
    for (const handle of this.handles) discard(handle.object);
    this.handles = handles.map(({ kind, letter }) => {
      const material = through({ color: AXIS_COLORS[letter], opacity: 0.95 });
      const object = kind === "turn" ? hoop(0.022, 2 * Math.PI, material) : arrow(material, 0.025, 0.22);
      object.traverse((each) => (each.renderOrder = 6));
      this.group.add(object);
      return { kind, object };
    });
  }

  put({ kind, object, axis }) {
    if (kind === "turn") {
      object.position.copy(this.place);
      object.quaternion.copy(facing(axis, across(axis)));
      object.scale.setScalar(this.size);
    } else {
      const from = this.place.clone().addScaledVector(axis, 0.25 * this.size);
      stretch(object, from, this.place.clone().addScaledVector(axis, 1.5 * this.size), this.size);
    }
  }

  // World positions of points along a handle.
  points({ kind, axis }) {
    if (kind === "move") {
      return [0.5, 0.7, 0.9, 1.1, 1.3, 1.5].map((far) => this.place.clone().addScaledVector(axis, far * this.size));
    }
    const x = across(axis);
    const y = axis.clone().cross(x);
    return Array.from({ length: CORNERS }, (_, i) => {
      const angle = (2 * Math.PI * i) / CORNERS;
      const out = x.clone().multiplyScalar(Math.cos(angle)).addScaledVector(y, Math.sin(angle));
      return this.place.clone().addScaledVector(out, this.size);
    });
  }

  // The handle under the pointer, and its point nearest to the pointer.
  at(view, event) {
    let [found, nearest] = [null, GRAB_DISTANCE];
    for (const handle of this.group.visible ? this.handles : []) {
      for (const point of this.points(handle)) {
        const [x, y] = view.pixel(point);
        const far = Math.hypot(x - event.clientX, y - event.clientY);
        if (far < nearest) [found, nearest] = [{ handle, point }, far];
      }
    }
    return found;
  }

  // A function of pointer events that returns how far a handle has been dragged since the press [rad or m].
  drag(view, { handle, point }, press) {
    const axis = handle.axis.clone();
    const place = this.place.clone();
    if (handle.kind === "move") return slide(view, place, axis, press);
    const sight = point.clone().sub(view.camera.position).normalize();
    if (view.camera.isOrthographicCamera) view.camera.getWorldDirection(sight);
    return Math.abs(sight.dot(axis)) > EDGE_ON ? wind(view, place, axis, press) : roll(view, place, axis, point, press);
  }
}

const ray = (view, event) => {
  const caster = new THREE.Raycaster();
  caster.setFromCamera(view.spot(event), view.camera);
  return caster.ray;
};

// A drag along an axis: the axis' point nearest to the line of sight.
function slide(view, place, axis, press) {
  const along = (event) => {
    const { origin, direction } = ray(view, event);
    const b = axis.dot(direction);
    const w = place.clone().sub(origin);
    return (b * direction.dot(w) - axis.dot(w)) / Math.max(1e-3, 1 - b * b);
  };
  const start = along(press);
  return (event) => along(event) - start;
}

// A drag about an axis: the angle in the plane of the ring, which may exceed a full turn.
function wind(view, place, axis, press) {
  const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(axis, place);
  const out = (event) => ray(view, event).intersectPlane(plane, new THREE.Vector3())?.sub(place);
  let last = out(press);
  let total = 0;
  return (event) => {
    const now = out(event);
    if (now && last) total += Math.atan2(axis.dot(last.clone().cross(now)), last.dot(now));
    last = now ?? last;
    return total;
  };
}

// A drag about an axis that is seen from the side: the distance along the ring's tangent on the screen.
function roll(view, place, axis, point, press) {
  const arm = point.clone().sub(place);
  const tangent = axis.clone().cross(arm);
  const [x0, y0] = view.pixel(point);
  const [x1, y1] = view.pixel(point.clone().addScaledVector(tangent, 0.05));
  const [x, y] = [(x1 - x0) / 0.05, (y1 - y0) / 0.05]; // pixels per radian
  const square = Math.max(1, x * x + y * y);
  return (event) => ((event.clientX - press.clientX) * x + (event.clientY - press.clientY) * y) / square;
}
