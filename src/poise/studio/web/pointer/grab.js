// The pointer: drag a body, a target, an arrow or a handle; click to select, right-click or hold a finger for the menu,
// double-click to pin a point.

import { THREE } from "nicegui-scene";
import { Nudge } from "poise-studio/pointer/nudge.js";
import { holdArrow, holdBody, holdHandle, holdObstacle, holdTarget } from "poise-studio/pointer/holds.js";

const TARGET_GRAB_DISTANCE = 13; // distance to a target at which a press grabs it [pixels]
const JOINT_GRAB_DISTANCE = 9; // distance to a joint at which a click selects it [pixels]
const CLICK_DISTANCE = 3; // movement below which a press counts as a click [pixels]
const FINGER = 2; // distances are this many times larger for a finger
const LONG_PRESS = 500; // time after which a finger that stays opens the menu [ms]

export class Grab {
  constructor(stage, send, tell) {
    this.stage = stage;
    this.send = send;
    this.tell = tell;
    this.ray = new THREE.Raycaster();
    this.held = null;
    for (const view of stage.views) this.listen(view);
    this.nudge = new Nudge(stage, (message) => this.say(message));
  }

  // Capturing listeners run before those of OrbitControls, which rotate the view.
  listen(view) {
    const on = (kind, act) => view.pane.addEventListener(kind, act, { capture: true });
    on("pointerdown", (event) => this.press(view, event));
    on("pointermove", (event) => this.move(view, event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) on(end, (event) => this.release(view, event));
    on("dblclick", (event) => this.pin(view, event));
    on("contextmenu", (event) => event.preventDefault());
  }

  // Report the next point of a body that is clicked, and do nothing else with that click.
  pickNext() {
    this.picking = true;
  }

  pick(view, event) {
    this.picking = false;
    const hit = this.hitAt(view, event);
    event.stopImmediatePropagation();
    if (hit) this.tell("picked", this.place(hit));
  }

  press(view, event) {
    if (this.picking && event.button === 0) return this.pick(view, event);
    view.pane.focus({ preventScroll: true });
    this.pressed = { x: event.clientX, y: event.clientY, button: event.button, finger: event.pointerType === "touch" };
    this.awaitLongPress(view, event);
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || this.held) return;
    const held = this.holdAt(view, event);
    if (!held) return undefined;
    event.stopImmediatePropagation();
    view.pane.setPointerCapture(event.pointerId);
    this.held = { ...held, id: event.pointerId };
    if (held.begin) this.say(held.begin);
  }

  // A finger that stays where it is opens the menu, as the right button does.
  awaitLongPress(view, event) {
    clearTimeout(this.waitingFinger);
    if (!this.pressed.finger) return;
    this.waitingFinger = setTimeout(() => {
      if (!this.pressed || this.pressed.moved || this.pressed.released) return;
      this.pressed.moved = true; // the release is not a click
      if (this.held?.end) this.say(this.held.end);
      this.held = null;
      this.menu(view, event);
    }, LONG_PRESS);
  }

  // The thing under the pointer that can be dragged: handles first, bodies last.
  holdAt(view, event) {
    const { selection, forces, obstacles } = this.stage;
    if (!this.stage.figure) return null;
    const handle = selection.gizmo.at(view, event);
    if (handle) return holdHandle(view, handle, selection, event);
    const tip = forces.tipAt(view, event);
    if (tip) return holdArrow(view, tip);
    const target = this.targetAt(view, event);
    if (target) return holdTarget(view, target, { selection, snap: (...where) => this.snap(...where) });
    const hit = this.hitAt(view, event);
    const block = obstacles.hitAt(view, event, this.aim(view, event));
    if (block && !(hit && hit.distance < block.distance)) return holdObstacle(view, block.number, block.thing, block.point);
    return hit ? holdBody(view, hit, this.place(hit)) : null;
  }

  move(view, event) {
    this.last = [view, event];
    this.nameHere(view, event);
    if (!this.held || event.pointerId !== this.held.id) {
      if (!event.buttons) view.pane.style.cursor = this.holdAt(view, event) ? "grab" : "";
      return;
    }
    event.stopImmediatePropagation();
    view.pane.style.cursor = "grabbing";
    if (this.isStill(event)) return;
    const message = this.held.drag(event);
    if (message?.at) this.later(message);
  }

  // Show the name of the body under the pointer, if that is switched on.
  nameHere(view, event) {
    const named = this.stage.shown.names && !event.buttons ? this.hitAt(view, event) : null;
    const words = named ? this.stage.figure.bodies[named.object.userData.body] : "";
    if (!this.tip && !words) return;
    if (!this.tip) {
      this.tip = document.createElement("div");
      this.tip.className = "poise-tip";
      document.body.append(this.tip);
    }
    this.tip.textContent = words;
    const [left, top] = [`${event.clientX + 14}px`, `${event.clientY + 14}px`];
    Object.assign(this.tip.style, { display: words ? "block" : "none", left, top });
  }

  isStill(event) {
    const { x, y } = this.pressed;
    this.pressed.moved ||= Math.hypot(event.clientX - x, event.clientY - y) >= reach(CLICK_DISTANCE, event);
    return !this.pressed.moved;
  }

  say(message) {
    this.send({ figure: this.stage.figure.number, ...message });
  }

  // Send one message for each drawn frame, the newest one.
  later(message) {
    if (!this.waiting) requestAnimationFrame(() => this.flush());
    this.waiting = message;
  }

  flush() {
    if (this.waiting) this.say(this.waiting);
    this.waiting = null;
  }

  release(view, event) {
    const click = event.type === "pointerup" && this.pressed && this.isStill(event);
    if (this.pressed) this.pressed.released = true;
    if (click && this.pressed.button === 2) this.menu(view, event);
    if (click && this.pressed.button === 0) this.select(view, event);
    if (!this.held || event.pointerId !== this.held.id) return;
    event.stopImmediatePropagation();
    this.flush();
    if (this.held.end) this.say(this.held.end);
    this.held = null;
  }

  // A click selects a target, an obstacle or a joint; another click at the same place selects the next of several marks
  // there; a click on the background deselects.
  select(view, event) {
    const { selection } = this.stage;
    if (!this.stage.figure) return;
    const marks = this.marksAt(view, event);
    if (event.shiftKey && marks[0]?.task !== undefined) {
      selection.toggle(marks[0].task);
      return;
    }
    const present = marks.findIndex((mark) => same(mark, selection.what));
    if (present < 0 && selection.gizmo.at(view, event)) return;
    const what = marks.length ? marks[(present + 1) % marks.length] : (this.held?.select ?? null);
    if (what || !this.held) {
      selection.choose(what);
      this.tell("selected", what ?? {});
    }
  }

  menu(view, event) {
    const hit = this.hitAt(view, event);
    if (!hit) return;
    const { body, point } = this.place(hit);
    this.tell("menu", { body, point, x: event.clientX, y: event.clientY });
  }

  pin(view, event) {
    const hit = this.hitAt(view, event);
    if (hit) this.say({ do: "pin", ...this.place(hit) });
  }

  pinHere() {
    if (this.last) this.pin(...this.last);
  }

  // Where a target that is dragged snaps to: another mark under the pointer, else the surface there, else the floor.
  snap(view, event, task) {
    const marks = this.targetsAt(view, event).filter((target) => target.task !== task);
    if (marks.length) return marks[0].wanted.clone();
    const [joint] = this.jointsAt(view, event);
    if (joint !== undefined) {
      return new THREE.Vector3().fromBufferAttribute(this.stage.joints.geometry.getAttribute("position"), joint);
    }
    const hit = this.hitAt(view, event);
    const block = this.stage.obstacles.hitAt(view, event, this.aim(view, event));
    if (block && !(hit && hit.distance < block.distance)) return block.point.clone();
    if (hit) return hit.point.clone();
    const up = new THREE.Vector3(...this.stage.figure.up);
    return this.aim(view, event).ray.intersectPlane(new THREE.Plane(up, -this.stage.figure.floor), new THREE.Vector3());
  }

  aim(view, event) {
    this.ray.setFromCamera(view.spot(event), view.camera);
    return this.ray;
  }

  hitAt(view, event) {
    if (!this.stage.figure) return null;
    this.aim(view, event);
    this.stage.root.updateMatrixWorld();
    return this.ray.intersectObjects(this.stage.surfaces, false)[0] ?? null;
  }

  // The target to drag: the selected one if it is there, else the nearest.
  targetAt(view, event) {
    const targets = this.targetsAt(view, event);
    return targets.find(({ task }) => same({ task }, this.stage.selection.what)) ?? targets[0] ?? null;
  }

  targetsAt(view, event) {
    const targets = (this.stage.overlays?.targets ?? []).filter((target) => target.task >= 0);
    return nearest(view, event, targets, (target) => target.wanted, reach(TARGET_GRAB_DISTANCE, event));
  }

  jointsAt(view, event) {
    if (!this.stage.jointsShown) return [];
    const places = this.stage.joints.geometry.getAttribute("position");
    const numbers = Array.from({ length: places.count }, (_, i) => i);
    const placeOf = (i) => new THREE.Vector3().fromBufferAttribute(places, i);
    return nearest(view, event, numbers, placeOf, reach(JOINT_GRAB_DISTANCE, event));
  }

  // The marks under the pointer that can be selected: targets, then joints, the nearest first.
  marksAt(view, event) {
    const targets = this.targetsAt(view, event).map(({ task }) => ({ task }));
    return [...targets, ...this.jointsAt(view, event).map((joint) => ({ joint }))];
  }

  // A hit point in the frame of its body.
  place(hit) {
    const body = hit.object.userData.body;
    const point = this.stage.bodies[body].worldToLocal(hit.point.clone());
    return { body, point: point.toArray() };
  }
}

// The things nearer to the pointer than a distance in pixels, the nearest first.
function nearest(view, event, things, placeOf, within) {
  const far = (thing) => {
    const [x, y] = view.pixel(placeOf(thing));
    return Math.hypot(x - event.clientX, y - event.clientY);
  };
  const found = things.map((thing) => [thing, far(thing)]).filter(([, distance]) => distance < within);
  return found.sort((a, b) => a[1] - b[1]).map(([thing]) => thing);
}

const reach = (distance, event) => (event.pointerType === "touch" ? FINGER * distance : distance);

const same = (mark, other) => Boolean(other) && mark.task === other.task && mark.joint === other.joint;
