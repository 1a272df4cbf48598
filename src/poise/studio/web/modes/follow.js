// Moves the gaze target with the pointer, in the plane through the target that faces the view.

import { THREE } from "nicegui-scene";

export class Follow {
  constructor(send) {
    this.send = send;
    this.on = false;
    this.ray = new THREE.Raycaster();
    this.listening = new AbortController();
    this.gesture = `${Date.now()}-follow`;
    window.addEventListener("pointermove", (event) => this.move(event), { signal: this.listening.signal });
  }

  move(event) {
    const stage = window.poiseStage;
    if (!this.on || event.buttons || !stage?.overlays) return;
    const view = stage.views.find((each) => each.shown && each.pane.contains(event.target));
    const target = stage.overlays.targets.find((each) => each.task === 0);
    if (!view || !target) return;
    const facing = view.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, target.wanted);
    this.ray.setFromCamera(view.spot(event), view.camera);
    const at = this.ray.ray.intersectPlane(plane, new THREE.Vector3());
    if (at) this.later({ do: "gaze", at: at.toArray(), gesture: this.gesture });
  }

  // Send one message for each drawn frame, the newest one.
  later(message) {
    if (!this.waiting) {
      requestAnimationFrame(() => {
        this.send(this.waiting);
        this.waiting = null;
      });
    }
    this.waiting = message;
  }

  close() {
    this.listening.abort();
  }
}
