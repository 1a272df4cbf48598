// Obstacles: planes, ellipsoids, boxes, cylinders and capsules.

import { THREE } from "nicegui-scene";
import { readMark } from "poise-studio/frame_layout.js";
import { discard, shade } from "poise-studio/marks/lines.js";

const PLANE_SIZE = 0.9; // half the edge of the square drawn for a plane, as a share of the figure's size
const GRAB_DISTANCE = 12; // distance to the knob of a plane at which a press grabs it [pixels]

export class Obstacles {
  constructor(figure) {
    this.figure = figure;
    this.group = new THREE.Group();
    this.things = [];
  }

  thing(number) {
    return this.things[number] ?? null;
  }

  pose(frame) {
    const marks = [];
    for (let i = 0; i < frame.marks.count; i += 1) {
      const mark = readMark(frame.marks, i, this.figure.frame);
      if (mark.kind === "obstacle") marks[mark.number] = mark;
    }
    while (this.things.length > marks.length) discard(this.things.pop());
    marks.forEach((mark) => this.place(mark));
  }

  place({ number, tone, position, quaternion, sizes }) {
    const form = this.figure.frame.forms[tone];
    const key = `${form} ${sizes}`;
    if (this.things[number]?.userData.key !== key) {
      if (this.things[number]) discard(this.things[number]);
      this.things[number] = this.build(form, sizes);
      this.things[number].userData = { key, form, number };
      this.group.add(this.things[number]);
      if (this.theme) this.paint(this.theme);
    }
    this.things[number].position.fromArray(position);
    this.things[number].quaternion.fromArray(quaternion);
  }

  build(form, [a, b, c]) {
    if (form === "plane") return this.plane();
    const geometry = {
      ellipsoid: () => new THREE.SphereGeometry(1, 32, 20).scale(a, b, c),
      box: () => new THREE.BoxGeometry(a, b, c),
      cylinder: () => new THREE.CylinderGeometry(a, a, b, 32).rotateX(Math.PI / 2),
      capsule: () => new THREE.CapsuleGeometry(a, b, 8, 24).rotateX(Math.PI / 2),
    }[form]();
    const material = new THREE.MeshLambertMaterial({ transparent: true, opacity: 0.85 });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.castShadow = true;
    return mesh;
  }

  plane() {
    const half = PLANE_SIZE * this.figure.extent;
    const group = new THREE.Group();
    const look = { transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false };
    const sheet = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), new THREE.MeshBasicMaterial(look));
    const edge = new THREE.LineLoop(
      new THREE.BufferGeometry().setFromPoints([[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => new THREE.Vector3(x * half, y * half, 0))),
      new THREE.LineBasicMaterial(),
    );
    const knob = new THREE.Mesh(
      new THREE.SphereGeometry(0.018 * this.figure.extent, 16, 12),
      new THREE.MeshBasicMaterial({ depthTest: false, transparent: true }),
    );
    knob.renderOrder = 4;
    group.add(sheet, edge, knob);
    return group;
  }

  paint(theme) {
    this.theme = theme;
    for (const thing of this.things) thing.traverse((each) => each.material?.color.copy(shade(theme.obstacle)));
  }

  // The obstacle under the pointer; a plane can be grabbed only at the knob in its middle.
  hitAt(view, event, caster) {
    for (const thing of this.things.filter((each) => each.userData.form === "plane")) {
      const [x, y] = view.pixel(thing.position);
      if (Math.hypot(x - event.clientX, y - event.clientY) < GRAB_DISTANCE) {
        return { number: thing.userData.number, thing, point: thing.position.clone(), distance: 0 };
      }
    }
    const solid = this.things.filter((each) => each.userData.form !== "plane");
    const hit = caster.intersectObjects(solid, false)[0];
    return hit ? { number: hit.object.userData.number, thing: hit.object, point: hit.point, distance: hit.distance } : null;
  }
}
