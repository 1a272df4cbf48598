// The floor: a grid of even lines that fades away from the figure.

import { THREE } from "nicegui-scene";

const REACH = 4.5; // radius of the floor, in radii of the figure

export function makeFloor(figure) {
  const radius = REACH * figure.radius;
  const across = [figure.forward, figure.left].map((values) => new THREE.Vector3(...values));
  const up = new THREE.Vector3(...figure.up);
  const center = new THREE.Vector3(...figure.center);
  center.addScaledVector(up, figure.floor - center.dot(up));
  const floor = new THREE.Mesh(
    new THREE.CircleGeometry(radius, 48),
    new THREE.ShaderMaterial({
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      uniforms: {
        x: { value: across[0] },
        y: { value: across[1] },
        center: { value: center },
        radius: { value: radius },
        spacing: { value: figure.spacing },
        tint: { value: new THREE.Color() },
        strength: { value: 0.5 },
      },
      vertexShader: `
        varying vec3 spot;
        void main() {
          spot = (modelMatrix * vec4(position, 1.0)).xyz;
          gl_Position = projectionMatrix * viewMatrix * vec4(spot, 1.0);
        }`,
      fragmentShader: `
        uniform vec3 x, y, center, tint;
        uniform float radius, spacing, strength;
        varying vec3 spot;
        float line(float at) {
          float away = abs(at - floor(at + 0.5));
          return 1.0 - smoothstep(0.4, 1.4, away / max(fwidth(at), 1e-6));
        }
        void main() {
          float near = max(0.0, 1.0 - length(spot - center) / radius);
          float grid = max(line(dot(spot, x) / spacing), line(dot(spot, y) / spacing));
          gl_FragColor = vec4(tint, strength * near * near * grid);
          #include <colorspace_fragment>
        }`,
    }),
  );
  floor.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
  floor.position.copy(center);
  return floor;
}
