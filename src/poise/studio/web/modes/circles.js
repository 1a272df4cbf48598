// The side view of the circles mode: links, the circles that intersect in their joints, safe zones, and the dragged mark.

const PAIR_COLORS = ["#e08e1b", "#7d5ba6", "#2e86ab", "#3c9d5d"];
const TEXT_MARGIN = 26; // margin for text above and below [pixels]
const GRAB_DISTANCE = 26; // distance to the mark at which a press grabs it [pixels]

export default {
  template: `<div style="position:relative"><canvas style="display:block;width:100%;height:100%"></canvas></div>`,

  mounted() {
    this.canvas = this.$el.querySelector("canvas");
    this.listening = new AbortController();
    const { signal } = this.listening;
    window.addEventListener("poise-circles", (event) => this.show(event.detail), { signal });
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.$el);
    this.darkening = new MutationObserver(() => document.body.dataset.mode === "circles" && this.draw());
    this.darkening.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.canvas.addEventListener("pointerdown", (event) => this.press(event), { signal });
    this.canvas.addEventListener("pointermove", (event) => this.move(event), { signal });
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => (this.held = null), { signal });
    window.poiseCircles = this;
  },

  beforeUnmount() {
    this.listening.abort();
    this.resizing.disconnect();
    this.darkening.disconnect();
  },

  methods: {
    show(view) {
      this.view = view;
      this.draw();
    },

    // Functions that convert between the plane [m] and the canvas [pixels].
    scale() {
      const [left, bottom, right, top] = this.view.box;
      const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
      const size = Math.min((wide - 2 * TEXT_MARGIN) / (right - left), (high - 2 * TEXT_MARGIN) / (top - bottom));
      const middle = [0.5 * (left + right), 0.5 * (bottom + top)];
      return {
        size,
        x: (forward) => 0.5 * wide + size * (forward - middle[0]),
        y: (up) => 0.5 * high - size * (up - middle[1]),
        spot: (x, y) => [middle[0] + (x - 0.5 * wide) / size, middle[1] - (y - 0.5 * high) / size],
      };
    },

    // Position of the dragged mark on the page [pixels].
    handle() {
      const to = this.scale();
      const box = this.canvas.getBoundingClientRect();
      return [box.left + to.x(this.view.at[0]), box.top + to.y(this.view.at[1])];
    },

    press(event) {
      if (!this.view || event.button !== 0) return;
      const [x, y] = this.handle();
      const reach = Math.max(GRAB_DISTANCE, (this.view.ball ?? 0) * this.scale().size);
      if (Math.hypot(event.clientX - x, event.clientY - y) > reach) return;
      this.canvas.setPointerCapture(event.pointerId);
      this.held = { gesture: `${Date.now()}`, off: [event.clientX - x, event.clientY - y] };
    },

    move(event) {
      if (!this.held) return;
      const box = this.canvas.getBoundingClientRect();
      const [dx, dy] = this.held.off;
      const at = this.scale().spot(event.clientX - dx - box.left, event.clientY - dy - box.top);
      this.waiting ?? requestAnimationFrame(() => this.flush());
      this.waiting = { do: "point", at, gesture: this.held.gesture };
    },

    flush() {
      window.poiseStrip?.send(this.waiting);
      this.waiting = null;
    },

    draw() {
      const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
      if (!this.view || !wide || !high) return;
      const ratio = Math.min(window.devicePixelRatio, 2);
      this.canvas.width = Math.round(wide * ratio);
      this.canvas.height = Math.round(high * ratio);
      const pen = this.canvas.getContext("2d");
      pen.scale(ratio, ratio);
      const ink = getComputedStyle(this.canvas).color;
      const to = this.scale();
      for (const zone of this.view.zones ?? []) drawZone(pen, to, zone);
      if (this.view.floor !== undefined) line(pen, ink, 1, 0.3, [[0, to.y(this.view.floor)], [wide, to.y(this.view.floor)]]);
      for (const ring of this.view.rings ?? []) circle(pen, to, ring.center, ring.radius, { stroke: ink, alpha: 0.35, width: 3 });
      for (const each of this.view.circles) {
        circle(pen, to, each.center, each.radius, { stroke: PAIR_COLORS[each.pair % PAIR_COLORS.length], alpha: 0.8, width: 1.2 });
      }
      this.view.chains.forEach((chain, k) => drawChain(pen, to, chain, ink, k === 0 || this.view.ball ? 1 : 0.4));
      drawHandle(pen, to, this.view);
      words(pen, ink, this.view, high);
    },
  },
};

function circle(pen, to, [forward, up], radius, { fill, stroke, alpha = 1, width = 1 }) {
  pen.save();
  pen.globalAlpha = alpha;
  pen.beginPath();
  pen.arc(to.x(forward), to.y(up), Math.max(radius * to.size, 0), 0, 2 * Math.PI);
  if (fill) {
    pen.fillStyle = fill;
    pen.fill();
  }
  if (stroke) {
    pen.strokeStyle = stroke;
    pen.lineWidth = width;
    pen.stroke();
  }
  pen.restore();
}

function line(pen, ink, width, alpha, points) {
  pen.save();
  pen.globalAlpha = alpha;
  pen.strokeStyle = ink;
  pen.lineWidth = width;
  pen.lineCap = pen.lineJoin = "round";
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
  pen.restore();
}

// The end-point can reach every point between the inner and the outer radius.
function drawZone(pen, to, { center, least, most }) {
  circle(pen, to, center, most, { fill: "#3c9d5d", alpha: 0.1 });
  circle(pen, to, center, most, { stroke: "#3c9d5d", alpha: 0.8, width: 1.5 });
  if (least > 0) circle(pen, to, center, least, { fill: "#d9263e", stroke: "#d9263e", alpha: 0.25 });
}

function drawChain(pen, to, chain, ink, alpha) {
  line(pen, ink, 5, 0.75 * alpha, chain.map(([forward, up]) => [to.x(forward), to.y(up)]));
  for (const [forward, up] of chain) {
    circle(pen, to, [forward, up], 5.5 / to.size, { fill: "#f2762e", stroke: "#ffffff", alpha, width: 1.5 });
  }
}

function drawHandle(pen, to, { at, ball }) {
  if (ball) circle(pen, to, at, ball, { fill: "#2e86ab", stroke: "#1b5f80", alpha: 0.55, width: 2 });
  else circle(pen, to, at, 9 / to.size, { fill: "#2e86ab", stroke: "#ffffff", alpha: 0.95, width: 2 });
}

function words(pen, ink, { zones }, high) {
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = ink;
  pen.globalAlpha = 0.7;
  pen.fillText("Side view: drag the blue mark", 12, 20);
  if (zones?.length) pen.fillText("Green: the end-point can reach it · red: too close to the base", 12, high - 12);
  pen.globalAlpha = 1;
}
