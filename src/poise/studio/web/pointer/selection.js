// The selected joint, target or obstacle, and its handles.

import { THREE } from "nicegui-scene";
import { Gizmo } from "poise-studio/pointer/gizmo.js";

const LETTERS = ["x", "y", "z"];

export class Selection {
  constructor(figure, stage) {
    this.figure = figure;
    this.stage = stage;
    this.gizmo = new Gizmo(figure);
    this.group = this.gizmo.group;
    this.what = null;
    this.more = new Set(); // numbers of further targets, which are moved together with the selected one
  }

  // Add a target to those that move together, or take it out again.
  toggle(task) {
    if (this.what?.task === undefined) return this.choose({ task });
    if (task !== this.what.task && !this.more.delete(task)) this.more.add(task);
    this.stage.overlays.chosen = this.together();
    this.stage.overlays.recolor();
    this.stage.stale = true;
    return undefined;
  }

  // The numbers of all targets that move together; none if only one is selected.
  together() {
    return this.more.size && this.what?.task !== undefined ? [this.what.task, ...this.more] : [];
  }

  // Select { joint: number }, { task: number } or { obstacle: number }; null deselects.
  choose(what) {
    this.what = what;
    if (what?.task === undefined || !this.more.has(what.task)) this.more.clear();
    this.more.delete(what?.task);
    this.stage.overlays.chosen = this.together();
    this.stage.overlays.recolor();
    this.refresh();
    this.stage.stale = true;
  }

  pose(frame) {
    this.frame = frame;
    this.refresh();
  }

  paint() {}

  refresh() {
    const found = this.what && this.frame ? this.handles() : null;
    if (found) this.gizmo.show(found.place, found.handles);
    else this.gizmo.show(new THREE.Vector3(), []);
  }

  handles() {
    if (this.what.joint !== undefined) return this.jointHandles(this.what.joint);
    if (this.what.task !== undefined) return this.targetHandles(this.what.task);
    const thing = this.stage.obstacles?.thing(this.what.obstacle);
    return thing ? { place: thing.position.clone(), handles: this.frameHandles(thing.quaternion, true, true) } : null;
  }

  jointHandles(number) {
    const freedoms = this.figure.freedoms[number];
    if (!freedoms) return null;
    const { joints, axes } = this.frame;
    const place = new THREE.Vector3(...joints.get(number, "position"));
    const handles = freedoms.turns.map((turns, i) => {
      const freedom = freedoms.first + i;
      const axis = new THREE.Vector3(...axes.get(freedom, "direction"));
      return { kind: turns ? "turn" : "move", axis, letter: LETTERS[i % 3], freedom };
    });
    return { place, handles };
  }

  targetHandles(task) {
    const target = this.stage.overlays.targets.find((each) => each.task === task);
    if (!target) return null;
    return { place: target.wanted.clone(), handles: this.frameHandles(target.turn, target.moves, target.turns) };
  }

  frameHandles(quaternion, moves, turns) {
    const kinds = [...(moves ? ["move"] : []), ...(turns ? ["turn"] : [])];
    return kinds.flatMap((kind) =>
      LETTERS.map((letter, i) => {
        const axis = new THREE.Vector3().setComponent(i, 1).applyQuaternion(quaternion);
        return { kind, axis, letter };
      }),
    );
  }
}
