// The timeline of the pose mode: a ruler with the keys, the present time, and the keyboard that edits them.

import { film, frames, picture } from "poise-studio/animate/film.js";
import { Traces } from "poise-studio/animate/traces.js";

const EDGE = 14; // free space at both ends of the ruler [pixels]
const KEY = 7; // half the diagonal of a key's mark [pixels]
const GRAB = 10; // distance from a key within which it is grabbed [pixels]
const MOVED = 3; // movement from which on a press is a drag [pixels]

export default {
  template: `<div><canvas class="poise-keys-ruler" tabindex="0" role="slider" aria-label="Time"
    aria-valuemin="0"></canvas></div>`,

  emits: ["command", "filmed"],

  mounted() {
    this.about = { keys: [], solved: [], length: 10, end: 0, rate: 30 };
    this.time = 0;
    this.held = null;
    this.traces = new Traces();
    this.canvas = this.$el.querySelector("canvas");
    this.listening = new AbortController();
    const on = (target, kind, act) => target.addEventListener(kind, act, { signal: this.listening.signal });
    on(window, "poise-keys", (event) => this.show(event.detail));
    on(window, "poise-now", (event) => this.point(event.detail.time));
    on(window, "poise-traces", (event) => this.traces.show(event.detail));
    on(window, "keydown", (event) => this.type(event));
    window.addEventListener("keydown", (event) => this.takeFirst(event), { signal: this.listening.signal, capture: true });
    on(this.canvas, "pointerdown", (event) => this.press(event));
    on(this.canvas, "pointermove", (event) => this.drag(event));
    on(this.canvas, "pointerup", (event) => this.release(event));
    on(this.canvas, "pointercancel", () => this.cancel());
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.$el);
    this.coloring = new MutationObserver(() => this.draw());
    this.coloring.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    window.poiseTimeline = this;
  },

  beforeUnmount() {
    this.listening.abort();
    this.resizing.disconnect();
    this.coloring.disconnect();
    this.traces.close();
  },

  methods: {
    show(about) {
      this.about = about;
      document.body.classList.toggle("poise-has-keys", about.shown);
      this.canvas.setAttribute("aria-valuemax", about.length);
      this.draw();
    },
    point(time) {
      this.time = time;
      this.canvas.setAttribute("aria-valuenow", time.toFixed(2));
      this.canvas.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
      this.draw();
    },

    // Keyboard: what is typed into a field, or presses a button, is not for the timeline.
    type(event) {
      if (document.body.dataset.mode !== "pose" || event.defaultPrevented) return;
      const focus = document.activeElement;
      if (focus?.closest?.("input, textarea, select, [contenteditable], .q-menu, .q-dialog")) return;
      const message = this.meaning(event, focus);
      if (!message) return;
      event.preventDefault();
      this.say(message);
    },
    // Keys that others would take. Ctrl C and Ctrl V are about keys while the ruler has the focus, else about postures.
    // The space bar plays also after a click on a button; it presses a button that was reached by the keyboard.
    takeFirst(event) {
      if (!this.about.shown || document.body.dataset.mode !== "pose") return;
      const focus = document.activeElement;
      const button = focus?.closest?.("button, [role=button], .q-toggle");
      const plays = event.key === " " && button && !button.matches(":focus-visible");
      const control = (event.ctrlKey || event.metaKey) && !event.shiftKey && focus === this.canvas;
      const what = plays ? "play" : control && { c: "copy", v: "paste" }[event.key];
      if (!what) return;
      if (plays) focus.blur();
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!event.repeat) this.say({ do: what });
    },
    meaning(event, focus) {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.ctrlKey || event.metaKey) return null;
      if (event.key === "k" || event.key === "K") return event.repeat ? null : { do: "key" };
      if (!this.about.shown) return null;
      if (event.key === " ") return focus?.closest?.("button, [role=button], .q-toggle") || event.repeat ? null : { do: "play" };
      if (step) return event.shiftKey ? { do: "next frame", step } : { do: "next key", step };
      if (event.key === "," || event.key === ".") return { do: "next frame", step: event.key === "," ? -1 : 1 };
      if (event.key === "Home") return { do: "seek", time: 0 };
      if (event.key === "End") return { do: "seek", time: this.about.end };
      const removes = event.key === "Delete" || event.key === "Backspace";
      return removes && this.keyAt(this.time) >= 0 ? { do: "delete" } : null;
    },

    // Pointer: drag the ruler to seek, a key to move it, with Alt to copy it, with Shift together with all later ones.
    press(event) {
      this.canvas.focus();
      this.canvas.setPointerCapture(event.pointerId);
      const number = this.keyNear(event.offsetX);
      this.held = { number, from: event.offsetX, to: null, shift: event.shiftKey, alt: event.altKey };
      this.seek(number >= 0 ? this.about.keys[number].time : this.timeAt(event.offsetX));
    },
    drag(event) {
      this.canvas.style.cursor = this.keyNear(event.offsetX) >= 0 ? "grab" : "pointer";
      if (!this.held) return;
      if (this.held.number < 0) return this.seek(this.timeAt(event.offsetX));
      if (this.held.to === null && Math.abs(event.offsetX - this.held.from) < MOVED) return undefined;
      this.held.to = this.timeAt(event.offsetX);
      return this.draw();
    },
    release(event) {
      const held = this.held;
      this.held = null;
      if (held?.to !== null && held?.number >= 0) {
        const kind = held.alt || event.altKey ? "copy key" : "move key";
        const { number, to: time } = held;
        this.say({ do: kind, number, time, later: held.shift || event.shiftKey, gesture: `${Date.now()}` });
      }
      this.draw();
    },
    cancel() {
      this.held = null;
      this.draw();
    },

    // One message for each drawn frame, the newest one.
    // Messages arrive in the order in which the hand made them: a key that is pressed just after a click on the ruler
    // steps from where the click went. While the pointer is dragged, one message is sent for each drawn frame.
    seek(time) {
      if (this.sought === undefined) requestAnimationFrame(() => this.sendSought());
      this.sought = time;
    },
    sendSought() {
      if (this.sought !== undefined) this.$emit("command", { do: "seek", time: this.sought });
      this.sought = undefined;
    },
    say(message) {
      this.sendSought();
      this.$emit("command", message);
    },

    // Geometry of the ruler

    x(time) {
      return EDGE + ((this.canvas.clientWidth - 2 * EDGE) * time) / this.about.length;
    },
    timeAt(x) {
      const share = (x - EDGE) / Math.max(1, this.canvas.clientWidth - 2 * EDGE);
      const time = Math.min(Math.max(share, 0), 1) * this.about.length;
      return Math.round(time * this.about.rate) / this.about.rate;
    },
    keyAt(time) {
      return this.about.keys.findIndex((key) => Math.abs(key.time - time) < 0.4 / this.about.rate);
    },
    keyNear(x) {
      const gaps = this.about.keys.map((key) => Math.abs(this.x(key.time) - x));
      const least = Math.min(...gaps);
      return least <= GRAB ? gaps.indexOf(least) : -1;
    },

    // Drawing

    draw() {
      const { clientWidth: wide, clientHeight: high } = this.canvas;
      if (!wide || !high) return;
      const ratio = window.devicePixelRatio || 1;
      this.canvas.width = wide * ratio;
      this.canvas.height = high * ratio;
      const pen = this.canvas.getContext("2d");
      pen.scale(ratio, ratio);
      const dark = document.body.classList.contains("body--dark");
      const ink = dark ? "#dddddd" : "#333333";
      this.drawRuler(pen, ink, high);
      this.drawStretches(pen, high);
      this.about.keys.forEach((key, k) => this.drawKey(pen, key, k, ink, high));
      const now = this.x(Math.min(this.time, this.about.length));
      pen.fillStyle = "#d9263e";
      pen.fillRect(now - 1, 0, 2, high);
      pen.beginPath();
      pen.moveTo(now - 6, 0);
      pen.lineTo(now + 6, 0);
      pen.lineTo(now, 8);
      pen.fill();
    },
    drawRuler(pen, ink, high) {
      const { length, end } = this.about;
      const perSecond = (this.canvas.clientWidth - 2 * EDGE) / length;
      const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300].find((each) => each * perSecond > 46) ?? 600;
      pen.fillStyle = ink;
      pen.font = "11px system-ui, sans-serif";
      pen.textAlign = "center";
      for (let k = 0; k * step <= length + 1e-6; k += 1) {
        const x = this.x(k * step);
        pen.globalAlpha = 0.25;
        pen.fillRect(x - 0.5, 14, 1, high - 14);
        pen.globalAlpha = 0.8;
        pen.fillText(`${+(k * step).toFixed(1)} s`, x, 11);
      }
      pen.globalAlpha = 0.07;
      if (this.about.keys.length) pen.fillRect(this.x(end), 14, Math.max(0, this.x(length) - this.x(end)), high - 14);
      pen.globalAlpha = 1;
    },
    drawStretches(pen, high) {
      const y = 14 + (high - 14) / 2;
      for (const [start, end, done] of this.about.solved) {
        pen.strokeStyle = done ? "#2e9e4f" : "#f28c1e";
        pen.lineWidth = 3;
        pen.globalAlpha = 0.7;
        pen.setLineDash(done ? [] : [4, 4]);
        pen.beginPath();
        pen.moveTo(this.x(start), y);
        pen.lineTo(this.x(end), y);
        pen.stroke();
      }
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    },
    // A diamond for a whole posture, a ring for tasks alone; a square corner at the bottom where the motion stops.
    drawKey(pen, key, number, ink, high) {
      const held = this.held?.number === number && this.held.to !== null;
      const [x, y] = [this.x(held ? this.held.to : key.time), 14 + (high - 14) / 2];
      pen.fillStyle = this.keyAt(this.time) === number ? "#d9263e" : "#f28c1e";
      pen.strokeStyle = ink;
      pen.lineWidth = 1.2;
      pen.beginPath();
      if (key.whole) {
        for (const [dx, dy] of [[-KEY, 0], [0, -KEY], [KEY, 0], [0, KEY]]) pen.lineTo(x + dx, y + dy);
        pen.closePath();
      } else pen.arc(x, y, KEY - 2, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
      pen.fillStyle = ink;
      if (key.ease === "stop") pen.fillRect(x - 4, y + KEY + 2, 8, 2);
      if (key.ease === "linear") pen.fillRect(x - 1, y + KEY + 1, 2, 5);
    },

    // The clip under the keys

    choose_clip() {
      const input = Object.assign(document.createElement("input"), { type: "file" });
      input.onchange = () => this.send_clip(input.files[0]);
      input.click();
    },
    async send_clip(file) {
      const address = `/studio/animation/clip?name=${encodeURIComponent(file.name)}`;
      this.$emit("filmed", `Opening ${file.name} …`);
      const answer = await fetch(address, { method: "POST", body: file }).catch(() => null);
      this.$emit("filmed", answer?.ok ? "" : `! ${answer ? await answer.text() : "The studio does not answer."}`);
    },

    // Export

    async save_film(options) {
      await this.exported(() => film(options, (words) => this.$emit("filmed", words)));
    },
    async save_frames(options) {
      await this.exported(() => frames(options, (words) => this.$emit("filmed", words)));
    },
    async save_plain_picture(options) {
      await this.exported(() => picture(options));
    },
    async exported(make) {
      try {
        await make();
        this.$emit("filmed", "");
      } catch (problem) {
        this.$emit("filmed", `! ${problem.message}`);
      }
    },
  },
};
