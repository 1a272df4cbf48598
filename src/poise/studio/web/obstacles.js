// What stands in the figure's way: planes, spheres, boxes, cylinders, capsules (see marks.py).

import { THREE } from "nicegui-scene";
import { discard, shade } from "poise-studio/lines.js";

const WIDTH = 16;
const OBSTACLE = 7;
const [PLANE, ROUND, BOX, CYLINDER, CAPSULE] = [0, 1, 2, 3, 4];
const REACH = 0.9; // half the edge of the piece of a plane that is drawn, in sizes of the figure
const NEAR = 12; // the middle of a plane is taken hold of from this far [pixels]

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
    const rows = [];
    for (let k = 0; k < frame.marks.length; k += WIDTH) {
      const row = frame.marks.subarray(k, k + WIDTH);
      if (row[0] === OBSTACLE) rows[row[1]] = row;
    }
    while (this.things.length > rows.length) discard(this.things.pop());
    rows.forEach((row, i) => this.place(i, row));
  }

  place(number, [, , form, ...values]) {
    const sizes = values.slice(7, 10);
    const key = `${form} ${sizes}`;
    if (this.things[number]?.userData.key !== key) {
      if (this.things[number]) discard(this.things[number]);
      this.things[number] = this.build(form, sizes);
      this.things[number].userData = { key, form, number };
      this.group.add(this.things[number]);
      if (this.theme) this.paint(this.theme);
    }
    this.things[number].position.set(...values.slice(0, 3));
    this.things[number].quaternion.set(...values.slice(3, 7));
  }

  build(form, [a, b, c]) {
    if (form === PLANE) return this.plane();
    const geometry = {
      [ROUND]: () => new THREE.SphereGeometry(1, 32, 20).scale(a, b, c),
      [BOX]: () => new THREE.BoxGeometry(a, b, c),
      [CYLINDER]: () => new THREE.CylinderGeometry(a, a, b, 32).rotateX(Math.PI / 2),
      [CAPSULE]: () => new THREE.CapsuleGeometry(a, b, 8, 24).rotateX(Math.PI / 2),
    }[form]();
    const material = new THREE.MeshLambertMaterial({ transparent: true, opacity: 0.85 });
    return new THREE.Mesh(geometry, material);
  }

  plane() {
    const half = REACH * this.figure.extent;
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

  // The obstacle under the pointer; a plane only by its knob.
  hitAt(view, event, caster) {
    for (const thing of this.things.filter((each) => each.userData.form === PLANE)) {
      const [x, y] = view.pixel(thing.position);
      if (Math.hypot(x - event.clientX, y - event.clientY) < NEAR) {
        return { number: thing.userData.number, thing, point: thing.position.clone(), distance: 0 };
      }
    }
    const solid = this.things.filter((each) => each.userData.form !== PLANE);
    const hit = caster.intersectObjects(solid, false)[0];
    return hit ? { number: hit.object.userData.number, thing: hit.object, point: hit.point, distance: hit.distance } : null;
  }
}
