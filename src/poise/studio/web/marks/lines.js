// Lines, arrows and arcs that are drawn on top of everything.

import { THREE } from "nicegui-scene";

export const shade = (values) => new THREE.Color().setRGB(...values, THREE.SRGBColorSpace);

export function through(options = {}) {
  return new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, side: THREE.DoubleSide, ...options });
}

export function atop(mesh, order = 3) {
  mesh.renderOrder = order;
  mesh.frustumCulled = false;
  return mesh;
}

// An arrow of length 1 along +y, from the origin.
export function arrow(material, thick = 0.02, head = 0.2) {
  const group = new THREE.Group();
  const shaft = atop(new THREE.Mesh(new THREE.CylinderGeometry(thick, thick, 1, 10).translate(0, 0.5, 0), material));
  const tip = atop(new THREE.Mesh(new THREE.ConeGeometry(2.6 * thick, head, 16).translate(0, -0.5 * head, 0), material));
  group.add(shaft, tip);
  group.userData = { shaft, tip, thick, head };
  return group;
}

const UP = new THREE.Vector3(0, 1, 0);

// Stretch an arrow from one point to another; `size` scales its thickness.
export function stretch(group, from, to, size) {
  const along = to.clone().sub(from);
  const length = Math.max(along.length(), 1e-6);
  const { shaft, tip, head } = group.userData;
  const cap = Math.min(size, (0.6 * length) / head);
  group.position.copy(from);
  group.quaternion.setFromUnitVectors(UP, along.divideScalar(length));
  shaft.scale.set(size, Math.max(length - 0.5 * head * cap, 1e-6), size);
  tip.scale.setScalar(cap);
  tip.position.set(0, length, 0);
}

// A circle of radius 1 around the z axis, or an arc of one that starts at the x axis.
export function hoop(thick, angle = 2 * Math.PI, material = through()) {
  const steps = Math.max(6, Math.ceil((64 * angle) / (2 * Math.PI)));
  return atop(new THREE.Mesh(new THREE.TorusGeometry(1, thick, 6, steps, angle), material));
}

// The rotation that takes z to `axis`, and x to the component of `start` perpendicular to it.
export function facing(axis, start) {
  const z = axis.clone().normalize();
  const x = start.clone().addScaledVector(z, -start.dot(z)).normalize();
  const basis = new THREE.Matrix4().makeBasis(x, z.clone().cross(x), z);
  return new THREE.Quaternion().setFromRotationMatrix(basis);
}

export function across(axis) {
  const other = Math.abs(axis.x) < 0.8 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
  return other.cross(axis).normalize();
}

export function discard(object) {
  object.traverse((each) => {
    each.geometry?.dispose();
    each.material?.dispose();
  });
  object.removeFromParent();
}
