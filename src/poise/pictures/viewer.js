"use strict";
// Draws the figure of this page with WebGL: turned by dragging, zoomed by the wheel, played by the button or the space bar.

const figure = JSON.parse(document.getElementById("figure").textContent);
const canvas = document.querySelector("canvas");
const [form, button, slider, time, note] = ["form", "button", "input", "output", "p"].map((name) => document.querySelector(name));
const [forward, left, up] = figure.axes;
const FIELD = 26 * Math.PI / 180;
const view = { azimuth: 0.56, elevation: 0.3, distance: 1.12 * figure.radius / Math.sin(FIELD / 2), center: [...figure.center] };

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => figure.themes[dark.matches ? "dark" : "light"];

function unpacked(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

const add = (a, b, s = 1) => a.map((value, i) => value + s * b[i]);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const linear = (color) => color.map((value) => value ** 2.2);

const VERTEX = `#version 300 es
in vec3 place; in vec3 normal;
uniform mat4 world_from_body; uniform mat4 screen_from_world;
out vec3 point; out vec3 facing;
void main() {
  vec4 world = world_from_body * vec4(place, 1.0);
  point = world.xyz;
  facing = mat3(world_from_body) * normal;
  gl_Position = screen_from_world * world;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 point; in vec3 facing;
out vec4 drawn;
uniform vec3 color, up, key, fill, eye;
uniform vec4 lights;  // key, fill, sky, ground
void main() {
  vec3 n = normalize(facing);
  if (dot(n, eye - point) < 0.0) n = -n;
  float ambient = mix(lights.w, lights.z, 0.5 + 0.5 * dot(n, up));
  float light = ambient + lights.x * max(dot(n, key), 0.0) + lights.y * max(dot(n, fill), 0.0);
  drawn = vec4(pow(color * light, vec3(1.0 / 2.2)), 1.0);
}`;
const SHADOW_FRAGMENT = `#version 300 es
precision highp float;
in vec3 point; in vec3 facing;
out vec4 drawn;
uniform vec4 color;
void main() { drawn = color; }`;
const FLOOR_FRAGMENT = `#version 300 es
precision highp float;
in vec3 point; in vec3 facing;
out vec4 drawn;
uniform vec3 line, center, x, y;
uniform vec2 sizes;  // spacing, radius
uniform float strength;
void main() {
  vec2 at = vec2(dot(point, x), dot(point, y)) / sizes.x;
  vec2 near = abs(fract(at - 0.5) - 0.5) / fwidth(at);
  float shade = 1.0 - min(min(near.x, near.y), 1.0);
  float fade = clamp(1.0 - distance(point, center) / sizes.y, 0.0, 1.0);
  drawn = vec4(line, shade * fade * strength);
}`;

const gl = canvas.getContext("webgl2", { antialias: true, stencil: true });

function program(vertex, fragment) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.bindAttribLocation(made, 0, "place");
  gl.bindAttribLocation(made, 1, "normal");
  gl.linkProgram(made);
  return new Proxy({ made }, { get: (target, name) => (name === "made" ? made : gl.getUniformLocation(made, name)) });
}

function buffer(kind, data) {
  const made = gl.createBuffer();
  gl.bindBuffer(kind, made);
  gl.bufferData(kind, data, gl.STATIC_DRAW);
  return made;
}

function prepared() {
  const places = unpacked(figure.vertices, Float32Array), normals = unpacked(figure.normals, Int8Array);
  const corners = unpacked(figure.triangles, Uint32Array);
  let vertex = 0, triangle = 0;
  return figure.parts.map((part) => {
    const slice = (array, start, count) => array.subarray(3 * start, 3 * (start + count));
    const made = {
      ...part,
      places: buffer(gl.ARRAY_BUFFER, slice(places, vertex, part.vertices)),
      normals: buffer(gl.ARRAY_BUFFER, slice(normals, vertex, part.vertices)),
      corners: buffer(gl.ELEMENT_ARRAY_BUFFER, slice(corners, triangle, part.triangles)),
    };
    vertex += part.vertices;
    triangle += part.triangles;
    return made;
  });
}

const positions = unpacked(figure.positions, Float32Array), rotations = unpacked(figure.rotations, Float32Array);

// The 4 × 4 matrix of a body in a frame, column by column.
function worldFromBody(body, frame) {
  const row = frame * figure.bodies + body;
  const [w, x, y, z] = rotations.subarray(4 * row, 4 * row + 4), p = positions.subarray(3 * row, 3 * row + 3);
  return new Float32Array([
    1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1,
  ]);
}

function camera() {
  const { azimuth, elevation, distance, center } = view;
  const level = add(forward.map((value) => value * Math.cos(azimuth)), left, Math.sin(azimuth));
  const right = add(forward.map((value) => -value * Math.sin(azimuth)), left, Math.cos(azimuth));
  const back = add(level.map((value) => value * Math.cos(elevation)), up, Math.sin(elevation));
  const above = cross(back, right), eye = add(center, back, distance);
  const aspect = canvas.width / canvas.height, scale = 1 / Math.tan(FIELD / 2) * Math.min(1, aspect);
  const near = 0.02 * distance, far = distance + 40 * figure.radius;
  const a = (near + far) / (near - far), b = 2 * near * far / (near - far);
  const rows = [right.map((v) => v * scale / aspect), above.map((v) => v * scale), back.map((v) => v * a), back.map((v) => -v)];
  const shift = [right, above, back].map((axis) => -dot(axis, eye));
  const last = [shift[0] * scale / aspect, shift[1] * scale, shift[2] * a + b, -shift[2]];
  const matrix = new Float32Array(16);
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 3; j++) matrix[4 * j + i] = rows[i][j];
    matrix[12 + i] = last[i];
  }
  return { eye, right, above, back, matrix };
}

const unit = (a) => a.map((value) => value / Math.hypot(...a));
let surfaces, solid, shadow, ground, square, frame = 0, playing = false, drawn = false;

function draw() {
  drawn = false;
  const ratio = window.devicePixelRatio || 1, width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const colors = theme(), { eye, right, above, back, matrix } = camera();
  document.body.style.background = `linear-gradient(${css(colors.top)}, ${css(colors.bottom)})`;
  document.body.style.color = css(colors.text);
  gl.viewport(0, 0, width, height);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST);
  gl.useProgram(solid.made);
  gl.uniformMatrix4fv(solid.screen_from_world, false, matrix);
  gl.uniform3fv(solid.up, up);
  gl.uniform3fv(solid.eye, eye);
  gl.uniform3fv(solid.key, unit(add(add(add(right.map((v) => -0.55 * v), above, 0.35), back, 0.6), up, 0.45)));
  gl.uniform3fv(solid.fill, unit(add(add(right.map((v) => 0.85 * v), above, 0.1), back, 0.5)));
  gl.uniform4f(solid.lights, colors.key, colors.fill, colors.sky, colors.ground);
  for (const part of surfaces) {
    gl.uniform3fv(solid.color, linear(typeof part.color === "string" ? colors[part.color] : part.color));
    drawPart(solid, part, worldFromBody(part.body, frame));
  }
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  drawShadow(colors, matrix);
  drawFloor(colors, matrix);
  gl.disable(gl.BLEND);
}

function drawPart(shader, part, placed) {
  gl.uniformMatrix4fv(shader.world_from_body, false, placed);
  bind(part.places, part.normals, gl.BYTE);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, part.corners);
  gl.drawElements(gl.TRIANGLES, 3 * part.triangles, gl.UNSIGNED_INT, 0);
}

// The figure pressed flat onto the floor; the stencil keeps overlapping parts from darkening it twice.
function drawShadow(colors, matrix) {
  gl.useProgram(shadow.made);
  gl.uniformMatrix4fv(shadow.screen_from_world, false, matrix);
  gl.uniform4f(shadow.color, ...colors.shadow, 0.6 * colors.shadow_strength);
  gl.enable(gl.STENCIL_TEST);
  gl.stencilFunc(gl.EQUAL, 0, 1);
  gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
  gl.depthMask(false);
  for (const part of surfaces) {
    const placed = worldFromBody(part.body, frame);
    for (let column = 0; column < 4; column++) {
      const flat = placed.subarray(4 * column, 4 * column + 3), height = dot(flat, up) - (column === 3 ? figure.floor : 0);
      for (let i = 0; i < 3; i++) flat[i] -= height * up[i];
    }
    drawPart(shadow, part, placed);
  }
  gl.depthMask(true);
  gl.disable(gl.STENCIL_TEST);
}

function drawFloor(colors, matrix) {
  gl.useProgram(ground.made);
  const flat = add(view.center, up, figure.floor - dot(view.center, up)), radius = 6 * figure.radius;
  const placed = new Float32Array([...forward, 0, ...left, 0, ...up, 0, ...flat, 1]);
  for (let i = 0; i < 8; i++) if (i !== 3 && i !== 7) placed[i] *= radius;
  gl.uniformMatrix4fv(ground.world_from_body, false, placed);
  gl.uniformMatrix4fv(ground.screen_from_world, false, matrix);
  gl.uniform3fv(ground.line, colors.line);
  gl.uniform3fv(ground.center, flat);
  gl.uniform3fv(ground.x, forward);
  gl.uniform3fv(ground.y, left);
  gl.uniform2f(ground.sizes, figure.spacing, radius);
  gl.uniform1f(ground.strength, colors.line_strength);
  bind(square, square, gl.FLOAT);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
}

function bind(places, normals, kind) {
  gl.bindBuffer(gl.ARRAY_BUFFER, places);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, normals);
  gl.enableVertexAttribArray(1);
  gl.vertexAttribPointer(1, 3, kind, kind === gl.BYTE, 0, 0);
}

const css = (color) => `rgb(${color.map((value) => Math.round(255 * value)).join(" ")})`;

function redraw() {
  if (!drawn) requestAnimationFrame(draw);
  drawn = true;
}

function turn(across, down) {
  view.azimuth -= across;
  view.elevation = Math.max(-1.5, Math.min(1.55, view.elevation + down));
  redraw();
}

function zoom(factor) {
  view.distance = Math.max(0.2 * figure.radius, Math.min(30 * figure.radius, view.distance * factor));
  redraw();
}

function pan(x, y) {
  const { right, above } = camera(), scale = 2 * view.distance * Math.tan(FIELD / 2) / canvas.clientHeight;
  view.center = add(add(view.center, right, -x * scale), above, y * scale);
  redraw();
}

const fingers = new Map();
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event);
  canvas.setPointerCapture(event.pointerId);
});
for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => fingers.delete(event.pointerId));
canvas.addEventListener("pointermove", (event) => {
  const last = fingers.get(event.pointerId);
  if (!last) return;
  const x = event.clientX - last.clientX, y = event.clientY - last.clientY;
  if (fingers.size > 1) {
    const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    const spread = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY) + 1;
    zoom(spread(last) / spread(event));
  } else if (event.shiftKey || event.buttons & 6) pan(x, y);
  else turn(0.008 * x, 0.008 * y);
  fingers.set(event.pointerId, event);
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(0.0012 * event.deltaY));
}, { passive: false });
canvas.addEventListener("contextmenu", (event) => event.preventDefault());

const KEYS = {
  ArrowLeft: () => turn(0.1, 0), ArrowRight: () => turn(-0.1, 0), ArrowUp: () => turn(0, 0.1), ArrowDown: () => turn(0, -0.1),
  "+": () => zoom(0.9), "-": () => zoom(1.1), " ": () => play(!playing),
};
canvas.addEventListener("keydown", (event) => {
  if (!KEYS[event.key]) return;
  KEYS[event.key]();
  event.preventDefault();
});

function seek(number) {
  frame = number;
  slider.value = number;
  time.textContent = figure.rate ? `${(number / figure.rate).toFixed(2)} s` : `${number + 1}`;
  redraw();
}

function play(on) {
  playing = on && figure.frames > 1;
  button.textContent = playing ? "Pause" : "Play";
  if (!playing) return;
  const first = frame === figure.frames - 1 ? 0 : frame, begin = performance.now();
  requestAnimationFrame(function next(now) {
    if (!playing) return;
    seek((first + Math.floor(Math.max(0, now - begin) / 1000 * (figure.rate || 10))) % figure.frames);
    requestAnimationFrame(next);
  });
}

if (gl) {
  [solid, shadow, ground] = [FRAGMENT, SHADOW_FRAGMENT, FLOOR_FRAGMENT].map((fragment) => program(VERTEX, fragment));
  surfaces = prepared();
  square = buffer(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0]));
  form.hidden = figure.frames < 2;
  slider.max = figure.frames - 1;
  slider.addEventListener("input", () => { play(false); seek(Number(slider.value)); });
  button.addEventListener("click", () => play(!playing));
  dark.addEventListener("change", redraw);
  new ResizeObserver(redraw).observe(canvas);
  seek(0);
} else {
  note.textContent = "This view needs WebGL 2, which this browser does not offer.";
}
