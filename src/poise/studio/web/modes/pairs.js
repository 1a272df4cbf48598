// The pairs of a retargeting: marks of one colour on a joint of the clip and on the part of the figure that follows it.
// A click on a joint of the clip and one on a part of the figure make a pair.

import { THREE } from "nicegui-scene";
import { discs, ring } from "poise-studio/marks/discs.js";

const SIZE = 11; // size of a mark [pixels]
const REACH = 14; // distance to a mark at which a click chooses it [pixels]
const FINGER = 2; // the distance is this many times larger for a finger
const UNPAIRED = new THREE.Color("#9aa2ab");
const CHOSEN = new THREE.Color("#ffffff");

export class Pairs {
  constructor(stage, { marks, names }, send) {
    Object.assign(this, { stage, marks, names, send, chosen: null });
    this.joints = discs(names.length, SIZE);
    this.parts = discs(marks.length, SIZE);
    this.lines = new THREE.LineSegments(
      new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, opacity: 0.45 }),
    );
    for (const what of ["position", "color"]) {
      this.lines.geometry.setAttribute(what, new THREE.BufferAttribute(new Float32Array(6 * marks.length), 3));
    }
    this.lines.frustumCulled = false;
    this.objects = [ring(this.joints), this.joints, ring(this.parts), this.parts, this.lines];
    for (const around of [this.objects[0], this.objects[2]]) around.material.color.set("#ffffff");
    this.tip = document.createElement("div");
    this.tip.className = "poise-tip";
    document.body.append(this.tip);
    this.ray = new THREE.Raycaster();
    this.listening = new AbortController();
    for (const view of stage.views) this.listen(view);
    this.paint();
  }

  // Listens around the view, so that it hears a press before those who drag and rotate.
  listen(view) {
    const on = { capture: true, signal: this.listening.signal };
    const hear = (kind, act) => view.pane.parentElement.addEventListener(kind, (event) => event.target === view.pane && act(event), on);
    hear("pointerdown", (event) => event.button === 0 && this.press(view, event));
    hear("pointermove", (event) => this.point(view, event));
    window.addEventListener("keydown", (event) => event.key === "Escape" && this.choose(null), on);
  }

  ink(k) {
    return new THREE.Color().setHSL((0.07 + 0.618 * k) % 1, 0.75, 0.5);
  }

  paint() {
    const joints = this.joints.geometry.getAttribute("color");
    const parts = this.parts.geometry.getAttribute("color");
    const lines = this.lines.geometry.getAttribute("color");
    for (let i = 0; i < this.names.length; i += 1) {
      const k = this.marks.findIndex(([joint]) => joint === i);
      const ink = i === this.chosen ? CHOSEN : k < 0 ? UNPAIRED : this.ink(k);
      joints.setXYZ(i, ink.r, ink.g, ink.b);
    }
    for (let k = 0; k < this.marks.length; k += 1) {
      const { r, g, b } = this.ink(k);
      parts.setXYZ(k, r, g, b);
      lines.setXYZ(2 * k, r, g, b);
      lines.setXYZ(2 * k + 1, r, g, b);
    }
    for (const colors of [joints, parts, lines]) colors.needsUpdate = true;
    this.stage.stale = true;
  }

  // `places` are the positions of the clip's joints.
  place(places) {
    if (!places || places.length < 3 * this.names.length) return;
    this.places = places;
    const joints = this.joints.geometry.getAttribute("position");
    joints.array.set(places.slice(0, joints.array.length));
    const parts = this.parts.geometry.getAttribute("position");
    const lines = this.lines.geometry.getAttribute("position");
    this.stage.root.updateMatrixWorld();
    this.marks.forEach(([joint, body, point], k) => {
      const at = this.stage.bodies[body].localToWorld(new THREE.Vector3(...point));
      parts.setXYZ(k, at.x, at.y, at.z);
      lines.setXYZ(2 * k, ...places.slice(3 * joint, 3 * joint + 3));
      lines.setXYZ(2 * k + 1, at.x, at.y, at.z);
    });
    for (const rows of [joints, parts, lines]) rows.needsUpdate = true;
  }

  jointAt(view, event) {
    const rows = this.joints.geometry.getAttribute("position");
    let [found, nearest] = [null, event.pointerType === "touch" ? FINGER * REACH : REACH];
    for (let i = 0; i < rows.count; i += 1) {
      const [x, y] = view.pixel(new THREE.Vector3().fromBufferAttribute(rows, i));
      const far = Math.hypot(x - event.clientX, y - event.clientY);
      if (far < nearest) [found, nearest] = [i, far];
    }
    return found;
  }

  press(view, event) {
    const joint = this.jointAt(view, event);
    if (joint !== null) {
      event.stopImmediatePropagation();
      this.choose(joint, event);
      return;
    }
    if (this.chosen === null) return;
    this.ray.setFromCamera(view.spot(event), view.camera);
    const hit = this.ray.intersectObjects(this.stage.surfaces, false)[0];
    if (!hit) return;
    event.stopImmediatePropagation();
    this.send({ do: "pair", joint: this.chosen, body: hit.object.userData.body });
    this.choose(null);
  }

  choose(joint, event) {
    this.chosen = joint;
    this.paint();
    this.say(joint === null ? "" : `${this.names[joint]}: click the part of the figure that follows it (Esc cancels)`, event);
  }

  // The name of the joint under the pointer, while none is chosen.
  point(view, event) {
    if (this.chosen !== null) return;
    const joint = this.jointAt(view, event);
    this.say(joint === null ? "" : this.names[joint], event);
  }

  say(words, event) {
    this.tip.textContent = words;
    this.tip.style.display = words ? "block" : "none";
    if (event) Object.assign(this.tip.style, { left: `${event.clientX + 14}px`, top: `${event.clientY + 14}px` });
  }

  close() {
    this.listening.abort();
    this.tip.remove();
  }
}
