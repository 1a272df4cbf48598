// The timeline of a clip: play, pause, and seek.

export class Timeline {
  constructor(host, send) {
    [this.button, this.range, this.label] = host.querySelectorAll(".poise-timeline > *");
    this.button.addEventListener("click", () => send({ do: "play" }));
    this.range.addEventListener("input", () => send({ do: "seek", time: Number(this.range.value) }));
  }

  build({ kind, times }) {
    if (kind !== "clip") return;
    this.end = times[times.length - 1] ?? 0;
    this.range.max = this.end;
  }

  point({ time }) {
    if (document.activeElement !== this.range || !this.range.matches(":active")) this.range.value = time;
    this.label.textContent = `${time.toFixed(2)} of ${(this.end ?? 0).toFixed(2)} s`;
  }

  play(on) {
    this.button.firstElementChild.textContent = on ? "pause" : "play_arrow";
  }
}
