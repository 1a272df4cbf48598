// Round marks that keep their size in pixels.

import { THREE } from "nicegui-scene";

export function discs(count, size) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
  const material = new THREE.PointsMaterial({
    size,
    sizeAttenuation: false,
    vertexColors: true,
    depthTest: false,
    transparent: true,
    map: discTexture(),
    alphaTest: 0.02,
  });
  const points = new THREE.Points(geometry, material);
  points.frustumCulled = false;
  points.renderOrder = 2;
  return points;
}

// A larger disc behind each disc of `points`, which outlines it.
export function ring(points) {
  const material = points.material.clone();
  material.size *= 1.4;
  material.vertexColors = false;
  const around = new THREE.Points(points.geometry, material);
  around.frustumCulled = false;
  around.renderOrder = 1;
  return around;
}

function discTexture() {
  const size = 64;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d");
  pen.beginPath();
  pen.arc(size / 2, size / 2, size / 2 - 3, 0, 2 * Math.PI);
  pen.fillStyle = "#ffffff";
  pen.fill();
  return new THREE.CanvasTexture(canvas);
}
