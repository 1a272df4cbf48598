// Pictures and films of the animation: every frame is drawn at full quality, without marks, by a renderer of their own.

import { THREE } from "nicegui-scene";
import { bodiesTable } from "poise-studio/frame_layout.js";
import { zipped } from "poise-studio/animate/zip.js";

const BITS_PER_PIXEL = 0.25; // of a film, in each frame
const REPORTED = 15; // frames between two reports of progress
const FILM_TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

// Draws the stage without marks, at a size of its own.
class Camera {
  constructor({ width, height, transparent = false }) {
    this.stage = window.poiseStage;
    if (!this.stage?.root) throw new Error("There is no figure to draw yet.");
    this.transparent = transparent;
    this.canvas = document.createElement("canvas");
    this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(1);
    this.renderer.setSize(width, height, false);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.camera = this.stage.views[0].camera.clone(false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  // Draw the figure with its bodies at the places of one frame, or as it is now.
  draw(bodies = null) {
    const { stage } = this;
    const before = stage.bodies.map((body) => [body.position.clone(), body.quaternion.clone()]);
    const marks = this.marks().map((each) => [each, each.visible]);
    const [background, quality] = [stage.scene.background, [stage.ratio, stage.coarse]];
    const floor = stage.floor.group.position.clone();
    if (bodies) {
      stage.bodies.forEach((body, i) => {
        body.position.fromArray(bodies.get(i, "position"));
        body.quaternion.fromArray(bodies.get(i, "quaternion"));
      });
      stage.floor.follow(stage.bodies[0].position);
    }
    for (const [each] of marks) each.visible = false;
    for (const mesh of stage.surfaces) mesh.geometry = mesh.userData.geometries[0];
    stage.floor.shade.visible = !this.transparent;
    stage.floor.lines.visible = !this.transparent;
    if (this.transparent) stage.scene.background = null;
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.shadowMap.needsUpdate = true;
    this.renderer.render(stage.scene, this.camera);
    stage.scene.background = background;
    stage.floor.lines.visible = true;
    stage.floor.group.position.copy(floor);
    for (const mesh of stage.surfaces) mesh.geometry = mesh.userData.geometries[Number(quality[1])];
    for (const [each, visible] of marks) each.visible = visible;
    before.forEach(([position, turn], i) => {
      stage.bodies[i].position.copy(position);
      stage.bodies[i].quaternion.copy(turn);
    });
    stage.stale = true;
  }

  // All that is drawn besides bodies, floor and obstacles.
  marks() {
    const { stage } = this;
    const kept = new Set([...stage.bodies, stage.floor.group, stage.obstacles.group]);
    return stage.root.children.filter((each) => !kept.has(each));
  }

  blob(type = "image/png") {
    return new Promise((done) => this.canvas.toBlob(done, type, 0.95));
  }

  close() {
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

// The places of all bodies in every frame, from the server.
async function motion() {
  const answer = await fetch("/studio/animation/frames");
  if (!answer.ok) throw new Error(await answer.text());
  const values = new Float32Array(await answer.arrayBuffer());
  const [count, rate] = ["X-Frames", "X-Rate"].map((name) => Number(answer.headers.get(name)));
  const size = values.length / count;
  const { frame } = window.poiseStage.figure;
  return { count, rate, frame: (k) => bodiesTable(values.subarray(k * size, (k + 1) * size), frame) };
}

async function drawn(options, report, type) {
  const { count, rate, frame } = await motion();
  const camera = new Camera(options);
  const blobs = [];
  try {
    for (let k = 0; k < count; k += 1) {
      camera.draw(frame(k));
      blobs.push(await camera.blob(type));
      if (k % REPORTED === 0) report(`Drawing frame ${k + 1} of ${count} …`);
    }
  } finally {
    camera.close();
  }
  return { blobs, rate };
}

// A film as WebM. The browser stamps frames with the time at which it gets them, so they are all drawn first.
export async function film(options, report) {
  const type = FILM_TYPES.find((each) => window.MediaRecorder?.isTypeSupported(each));
  if (!type) throw new Error("This browser cannot record films: save the frames instead.");
  const { blobs, rate } = await drawn(options, report, "image/webp");
  const canvas = Object.assign(document.createElement("canvas"), { width: options.width, height: options.height });
  const pen = canvas.getContext("2d");
  const stream = canvas.captureStream(0);
  const bitsPerSecond = Math.round(BITS_PER_PIXEL * options.width * options.height * rate);
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: bitsPerSecond });
  const pieces = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  const ended = new Promise((done) => (recorder.onstop = done));
  pen.drawImage(await createImageBitmap(blobs[0]), 0, 0);
  recorder.start();
  const begun = performance.now();
  for (let k = 0; k < blobs.length; k += 1) {
    const image = await createImageBitmap(blobs[k]);
    await until(begun + (1000 * k) / rate);
    pen.drawImage(image, 0, 0);
    image.close();
    stream.getVideoTracks()[0].requestFrame();
    if (k % REPORTED === 0) report(`Recording: ${(k / rate).toFixed(1)} of ${(blobs.length / rate).toFixed(1)} s …`);
  }
  await until(begun + (1000 * blobs.length) / rate);
  recorder.stop();
  await ended;
  save(new Blob(pieces, { type: "video/webm" }), "webm");
}

function until(time) {
  return new Promise((done) => setTimeout(done, Math.max(0, time - performance.now())));
}

// All frames as pictures, in an archive.
export async function frames(options, report) {
  const { blobs } = await drawn(options, report, "image/png");
  const files = await Promise.all(
    blobs.map(async (blob, k) => [`frame_${String(k).padStart(4, "0")}.png`, new Uint8Array(await blob.arrayBuffer())]),
  );
  save(zipped(files), "frames.zip");
}

// A picture of what is shown, without marks.
export async function picture(options) {
  const stage = window.poiseStage;
  const camera = new Camera({ width: 2 * stage.size[0], height: 2 * stage.size[1], ...options });
  try {
    camera.draw();
    save(await camera.blob(), "png");
  } finally {
    camera.close();
  }
}

function save(blob, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${window.poiseStage.figure?.name ?? "poise"}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
