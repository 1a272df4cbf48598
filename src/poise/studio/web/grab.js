// The pointer: press on a body and pull it, press on a target and move it, double-click to pin a point.

import { THREE } from "nicegui-scene";

const NEAR = 13; // a target is taken hold of from this far [pixels]

export class Grab {
  constructor(stage, send) {
    this.stage = stage;
    this.send = send;
    this.ray = new THREE.Raycaster();
    this.held = null;
    this.gesture = 0;
    for (const view of stage.views) this.listen(view);
  }

  // Listeners run while the event comes down, before the view's own that turn it.
  listen(view) {
    const on = (kind, act) => view.pane.addEventListener(kind, act, { capture: true });
    on("pointerdown", (event) => this.press(view, event));
    on("pointermove", (event) => this.move(view, event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) on(end, (event) => this.release(event));
    on("dblclick", (event) => this.pin(view, event));
  }

  press(view, event) {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || this.held) return;
    const target = this.targetAt(view, event);
    const hit = target ? null : this.hitAt(view, event);
    if (!target && !hit) return;
    event.stopImmediatePropagation();
    view.pane.setPointerCapture(event.pointerId);
    const from = target ? target.wanted.clone() : hit.point;
    const facing = view.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, from);
    this.gesture += 1;
    this.held = { id: event.pointerId, plane, task: target?.task, gesture: `${Date.now()}-${this.gesture}` };
    if (hit) this.send({ do: "press", ...this.place(hit) });
  }

  move(view, event) {
    this.last = [view, event];
    if (!this.held || event.pointerId !== this.held.id) {
      if (!event.buttons) view.pane.style.cursor = this.targetAt(view, event) || this.hitAt(view, event) ? "grab" : "";
      return;
    }
    event.stopImmediatePropagation();
    view.pane.style.cursor = "grabbing";
    const at = this.aim(view, event).intersectPlane(this.held.plane, new THREE.Vector3());
    if (!at) return;
    const { task, gesture } = this.held;
    const message = task === undefined ? { do: "drag" } : { do: "aim", task, gesture };
    this.later({ ...message, figure: this.stage.figure.number, at: at.toArray() });
  }

  // One message per drawn frame, the newest.
  later(message) {
    if (!this.waiting) requestAnimationFrame(() => this.flush());
    this.waiting = message;
  }

  flush() {
    if (this.waiting) this.send(this.waiting);
    this.waiting = null;
  }

  release(event) {
    if (!this.held || event.pointerId !== this.held.id) return;
    event.stopImmediatePropagation();
    this.flush();
    if (this.held.task === undefined) this.send({ do: "release" });
    this.held = null;
  }

  pin(view, event) {
    const hit = this.hitAt(view, event);
    if (hit) this.send({ do: "pin", ...this.place(hit) });
  }

  pinHere() {
    if (this.last) this.pin(...this.last);
  }

  aim(view, event) {
    this.ray.setFromCamera(view.spot(event), view.camera);
    return this.ray.ray;
  }

  hitAt(view, event) {
    if (!this.stage.figure) return null;
    this.aim(view, event);
    this.stage.root.updateMatrixWorld();
    return this.ray.intersectObjects(this.stage.surfaces, false)[0] ?? null;
  }

  targetAt(view, event) {
    let [found, nearest] = [null, NEAR];
    for (const target of this.stage.overlays?.targets ?? []) {
      const [x, y] = view.pixel(target.wanted);
      const far = Math.hypot(x - event.clientX, y - event.clientY);
      if (target.task >= 0 && far < nearest) [found, nearest] = [target, far];
    }
    return found;
  }

  // A point of a body, in the body's own axes.
  place(hit) {
    const body = hit.object.userData.body;
    const point = this.stage.bodies[body].worldToLocal(hit.point.clone());
    return { figure: this.stage.figure.number, body, point: point.toArray() };
  }
}
