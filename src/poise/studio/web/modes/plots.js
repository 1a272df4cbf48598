// The plots below the viewport: streamed rows, or a whole clip.

import { Plot, color } from "poise-studio/modes/plot.js";

const ROWS_KEPT = 900; // streamed rows that are kept

export class Plots {
  constructor(host, send) {
    this.area = host.querySelector(".poise-plots");
    this.names = host.querySelector(".poise-names");
    this.send = send;
    this.plots = [];
    this.rows = [];
    this.about = { kind: "none" };
    this.area.addEventListener("pointerdown", (event) => this.seek(event));
    this.area.addEventListener("pointermove", (event) => event.buttons & 1 && this.seek(event));
  }

  // `about` describes the plots: kind "stream" or "clip", and for each plot its title, unit and names; a clip's plots
  // also have their values.
  build(about) {
    const same = about.kind === this.about.kind && shape(about) === shape(this.about);
    this.about = about;
    this.cursor = about.cursor ?? this.cursor ?? 0;
    if (same) this.plots.forEach((plot, k) => (plot.about = this.described(about.plots[k])));
    else this.rebuild(about);
    this.draw();
  }

  rebuild(about) {
    this.area.replaceChildren();
    this.names.replaceChildren();
    this.rows = [];
    this.plots = (about.plots ?? []).map((each) => new Plot(this.area, this.described(each)));
    for (const [k, name] of (about.plots?.find((each) => each.names.length > 1)?.names ?? []).entries()) {
      const mark = document.createElement("span");
      mark.textContent = name.replaceAll("_", " ");
      mark.style.setProperty("--ink", color(k));
      this.names.append(mark);
    }
  }

  described(plot) {
    return { ...plot, whole: this.about.kind === "clip" };
  }

  add(rows) {
    this.rows.push(...rows);
    if (this.rows.length > ROWS_KEPT) this.rows.splice(0, this.rows.length - ROWS_KEPT);
    this.later();
  }

  point(cursor) {
    this.cursor = cursor.time;
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    if (this.about.kind === "clip") this.drawClip();
    else if (this.about.kind === "stream") this.drawStream();
  }

  drawClip() {
    this.about.plots.forEach((about, k) =>
      this.plots[k].draw({ times: this.about.times, lines: about.lines, cursor: this.cursor, marks: this.about.marks }),
    );
  }

  // A row contains its time, then for every plot the values of its lines and those of its faint lines.
  drawStream() {
    const times = this.rows.map((row) => row[0]);
    let at = 1;
    const take = (count) => {
      const lines = Array.from({ length: count }, (_, k) => this.rows.map((row) => row[at + k]));
      at += count;
      return lines;
    };
    this.about.plots.forEach((about, k) => {
      const lines = take(about.names.length);
      const faint = about.faint ? take(about.names.length) : [];
      this.plots[k].draw({ times, lines, faint });
    });
  }

  seek(event) {
    if (this.about.kind !== "clip") return;
    const plot = this.plots.find((each) => each.canvas === event.target);
    if (!plot?.toTime) return;
    const time = plot.toTime(event.offsetX);
    const spike = this.about.marks.find((mark) => Math.abs(mark - time) < plot.toTime(5) - plot.toTime(0));
    this.send({ do: "seek", time: event.type === "pointerdown" && spike !== undefined ? spike : time });
  }
}

function shape(about) {
  return JSON.stringify((about.plots ?? []).map((plot) => [plot.title, plot.unit, plot.names]));
}
