// Thick lines between world points: one instanced mesh of thin cylinders.

import { THREE } from "nicegui-scene";

const UP = new THREE.Vector3(0, 1, 0);

export class Sticks {
  constructor(count, radius, ink, { solid = false } = {}) {
    const material = solid
      ? new THREE.MeshLambertMaterial({ color: ink })
      : new THREE.MeshBasicMaterial({ color: ink, transparent: true, opacity: 0.6, depthTest: false });
    this.mesh = new THREE.InstancedMesh(new THREE.CylinderGeometry(radius, radius, 1, 10, 1), material, count);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = solid ? 0 : 1;
    this.matrix = new THREE.Matrix4();
    this.turn = new THREE.Quaternion();
    this.size = new THREE.Vector3();
  }

  // Place all sticks; `at(k)` returns the two ends of stick k.
  place(at) {
    for (let k = 0; k < this.mesh.count; k += 1) {
      const [a, b] = at(k);
      const along = b.clone().sub(a);
      const long = along.length();
      if (long > 0) this.turn.setFromUnitVectors(UP, along.multiplyScalar(1 / long));
      this.matrix.compose(a.clone().lerp(b, 0.5), this.turn, this.size.set(1, long, 1));
      this.mesh.setMatrixAt(k, this.matrix);
    }
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
