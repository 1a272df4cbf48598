// The arrow keys move the selected target in the plane of the screen, along the nearest axes of the world.

import { THREE } from "nicegui-scene";

const STEP = 0.01; // movement with each key press [m]
const LARGE_STEP = 0.1; // with Shift [m]
const SMALL_STEP = 0.001; // with Alt [m]
const PAUSE = 1000; // time without a key after which the next one is undone on its own [ms]
const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Nudge {
  constructor(stage, say) {
    this.stage = stage;
    this.say = say;
    this.last = -Infinity;
    for (const view of stage.views) view.pane.addEventListener("keydown", (event) => this.press(view, event));
  }

  press(view, event) {
    const way = WAYS[event.key];
    const task = this.stage.selection?.what?.task;
    const target = this.stage.overlays?.targets.find((each) => each.task === task);
    if (!way || !target?.moves || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (event.timeStamp - this.last > PAUSE || this.task !== task) this.gesture = `nudge-${Date.now()}`;
    Object.assign(this, { last: event.timeStamp, task });
    const step = event.shiftKey ? LARGE_STEP : event.altKey ? SMALL_STEP : STEP;
    const at = target.wanted.clone().addScaledVector(direction(view, way), step);
    this.say({ do: "aim", task, at: at.toArray(), gesture: this.gesture });
  }
}

// The axis of the world that is nearest to a direction on the screen.
function direction({ camera }, [right, up]) {
  const way = new THREE.Vector3(right, up, 0).transformDirection(camera.matrixWorld).toArray();
  const largest = way.map(Math.abs).indexOf(Math.max(...way.map(Math.abs)));
  return new THREE.Vector3().setComponent(largest, Math.sign(way[largest]));
}
