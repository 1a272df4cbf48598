// A plot on a canvas: the last seconds of streamed values, or a whole clip with a cursor.

const LINE_COLORS = ["#d1495b", "#2e86ab", "#3c9d5d", "#e08e1b", "#7d5ba6", "#4f6d7a", "#b5658c", "#8a7f2c"];
const STREAM_SPAN = 8; // time span of a streamed plot [s]
const EDGE = { left: 38, right: 8, top: 20, bottom: 8 };

export class Plot {
  constructor(host, about) {
    this.about = about;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "poise-plot";
    this.canvas.dataset.title = about.title;
    host.append(this.canvas);
    this.range = null;
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio, 2);
    const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (this.canvas.width !== Math.round(wide * ratio)) this.canvas.width = Math.round(wide * ratio);
    if (this.canvas.height !== Math.round(high * ratio)) this.canvas.height = Math.round(high * ratio);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, high);
    return [pen, wide, high];
  }

  // `lines` and `faint` are arrays of values at `times`; faint lines are drawn thin, behind the others.
  draw({ times, lines, faint = [], cursor = null, marks = [] }) {
    const [pen, wide, high] = this.resize();
    if (!wide || !high) return;
    const ink = getComputedStyle(this.canvas).color;
    const span = this.about.whole ? [times[0] ?? 0, times[times.length - 1] ?? 1] : lately(times);
    const [low, top] = this.bounds([...lines, ...faint], times, span);
    const x = (t) => EDGE.left + ((t - span[0]) / Math.max(span[1] - span[0], 1e-9)) * (wide - EDGE.left - EDGE.right);
    const y = (v) => high - EDGE.bottom - ((v - low) / (top - low)) * (high - EDGE.top - EDGE.bottom);
    this.toTime = (at) => span[0] + ((at - EDGE.left) / (wide - EDGE.left - EDGE.right)) * (span[1] - span[0]);
    this.words(pen, ink, wide, low, top, y);
    pen.save();
    pen.beginPath();
    pen.rect(EDGE.left, EDGE.top - 2, wide - EDGE.left - EDGE.right, high - EDGE.top - EDGE.bottom + 4);
    pen.clip();
    for (const limit of this.limits()) stroke(pen, "#d9263e", 1, [4, 3], [[EDGE.left, y(limit)], [wide, y(limit)]]);
    for (const mark of marks) stroke(pen, "#d9263e", 1.5, [], [[x(mark), EDGE.top], [x(mark), high - EDGE.bottom]]);
    faint.forEach((line, k) => trace(pen, LINE_COLORS[k % LINE_COLORS.length], 1, 0.4, times, line, span, x, y));
    lines.forEach((line, k) => trace(pen, LINE_COLORS[k % LINE_COLORS.length], 1.6, 1, times, line, span, x, y));
    if (cursor !== null) stroke(pen, ink, 1.5, [], [[x(cursor), EDGE.top - 2], [x(cursor), high]]);
    pen.restore();
  }

  limits() {
    return this.about.limit ? [this.about.limit, -this.about.limit] : [];
  }

  // The range of the values; it grows at once but shrinks slowly, so that the plot does not flicker.
  bounds(lines, times, span) {
    let [low, top] = [Infinity, -Infinity];
    const first = times.findIndex((t) => t >= span[0]);
    for (const line of lines) {
      for (let i = Math.max(first, 0); i < line.length; i += 1) {
        low = Math.min(low, line[i]);
        top = Math.max(top, line[i]);
      }
    }
    if (this.about.limit) [low, top] = [-1.08 * this.about.limit, 1.08 * this.about.limit];
    if (this.about.floor !== undefined) low = this.about.floor;
    if (!(top > low)) return Number.isFinite(low) ? [Math.min(low, 0), Math.max(top, 0) + 1] : [0, 1];
    const room = this.about.limit ? 0 : 0.06 * (top - low);
    [low, top] = [this.about.floor ?? low - room, top + room];
    const before = this.range;
    if (before && !this.about.whole) {
      low = Math.min(low, before[0] + 0.03 * (low - before[0]));
      top = Math.max(top, before[1] + 0.03 * (top - before[1]));
    }
    this.range = [low, top];
    return this.range;
  }

  words(pen, ink, wide, low, top, y) {
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = ink;
    pen.globalAlpha = 0.85;
    pen.textAlign = "left";
    pen.fillText(`${this.about.title} [${this.about.unit}]`, 6, 12);
    pen.globalAlpha = 0.55;
    pen.textAlign = "right";
    for (const tick of ticks(low, top)) {
      pen.fillText(tidy(tick), EDGE.left - 5, y(tick) + 3.5);
      stroke(pen, ink, 0.5, [], [[EDGE.left, y(tick)], [wide - EDGE.right, y(tick)]], 0.2);
    }
    pen.globalAlpha = 1;
  }
}

export function color(k) {
  return LINE_COLORS[k % LINE_COLORS.length];
}

function lately(times) {
  const end = times[times.length - 1] ?? 0;
  return [end - STREAM_SPAN, end];
}

function ticks(low, top) {
  const rough = (top - low) / 3;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * size).find((k) => k >= rough);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= top; v += step) found.push(v);
  return found;
}

function tidy(value) {
  if (Math.abs(value) < 1e-12) return "0";
  return Math.abs(value) >= 1000 ? `${+(value / 1000).toPrecision(3)}k` : `${+value.toPrecision(3)}`;
}

function stroke(pen, ink, width, dash, points, alpha = 0.9) {
  pen.save();
  pen.globalAlpha = alpha;
  pen.strokeStyle = ink;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
  pen.restore();
}

function trace(pen, ink, width, alpha, times, line, span, x, y) {
  pen.globalAlpha = alpha;
  pen.strokeStyle = ink;
  pen.lineWidth = width;
  pen.beginPath();
  let begun = false;
  for (let i = 0; i < line.length; i += 1) {
    if (times[i] < span[0]) continue;
    if (begun) pen.lineTo(x(times[i]), y(line[i]));
    else pen.moveTo(x(times[i]), y(line[i]));
    begun = true;
  }
  pen.stroke();
  pen.globalAlpha = 1;
}
