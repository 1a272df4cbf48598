// The drawing quality: the best while nothing moves, and as good as the frame rate allows while something moves.

const SLOW_FRAME = 28; // time between frames above which drawing is too slow [ms]
const SLOW_FACTOR = 1.5; // and above this multiple of the time between frames when nothing is drawn
const QUICK_FRAME = 19; // time between frames below which a better quality is tried [ms]
const AVERAGE_SHARE = 0.2; // weight of the newest frame in the moving average
const FEWEST_FRAMES = 5; // frames before the quality is changed
const PAUSE = 200; // time between frames above which a frame is left out of the average [ms]
const REST_DELAY = 220; // time without movement after which the best quality is drawn [ms]
const TRIAL_DELAY = 3000; // time of quick frames before a better quality is tried; doubled after each trial that failed [ms]
const LARGEST_RATIO = 2; // largest number of drawn pixels for one pixel of the page, in each direction
const SLOW_PICTURE = 400; // time above which the best quality is drawn with fewer pixels from then on [ms]

// Quality levels from fine to fast: pixels drawn for each pixel of the page, and whether coarse surfaces are drawn.
const LEVELS = [
  { share: 1, coarse: false },
  { share: 1, coarse: true },
  { share: 0.75, coarse: true },
  { share: 0.55, coarse: true },
];

// Whether the browser draws in software, without a graphics card.
export function drawsInSoftware() {
  const pen = document.createElement("canvas").getContext("webgl2");
  const about = pen?.getExtension("WEBGL_debug_renderer_info");
  const name = about ? pen.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  pen?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Quality {
  // `apply` is called with the pixel ratio and with whether to draw coarse surfaces.
  constructor(software, apply) {
    this.software = software;
    this.apply = apply;
    this.level = software ? 1 : 0;
    this.best = LARGEST_RATIO;
    this.idle = 0; // average time between animation frames when nothing is drawn [ms]
    this.beat = null;
    this.resting = false;
    this.pace = null;
    this.count = 0;
    this.quickSince = null;
    this.patience = TRIAL_DELAY;
    this.last = -Infinity;
    this.now = "";
  }

  // Call before a frame in which something moved is drawn; `time` is that of the animation frame [ms].
  move(time) {
    this.resting = false;
    this.judge(time - this.last, time);
    this.last = time;
    this.beat = null;
    this.use(LEVELS[this.level]);
  }

  // Call when nothing moved; returns whether to draw once more, at the best quality.
  rest(time) {
    const passed = this.beat === null ? PAUSE : time - this.beat;
    if (passed < PAUSE) this.idle += AVERAGE_SHARE * (passed - this.idle);
    this.beat = time;
    if (this.resting || time - this.last < REST_DELAY) return false;
    this.finest();
    return true;
  }

  // The best quality; a software renderer has no antialiasing and draws more pixels instead.
  finest() {
    this.resting = true;
    this.use({ share: this.software ? Math.max(1, this.best / this.ratio()) : 1, coarse: false });
  }

  // Report the time that drawing at the best quality took [ms].
  took(time) {
    if (time > SLOW_PICTURE) this.best = 1;
    else if (time < SLOW_PICTURE / 8) this.best = LARGEST_RATIO;
  }

  ratio() {
    return Math.min(window.devicePixelRatio, LARGEST_RATIO);
  }

  use({ share, coarse }) {
    const ratio = share * this.ratio();
    const key = `${ratio} ${coarse}`;
    if (key === this.now) return;
    this.now = key;
    this.apply(ratio, coarse);
  }

  judge(passed, time) {
    if (passed > PAUSE) {
      this.quickSince = null;
      return;
    }
    this.pace = this.pace === null ? passed : (1 - AVERAGE_SHARE) * this.pace + AVERAGE_SHARE * passed;
    this.count += 1;
    if (this.count < FEWEST_FRAMES) return;
    if (this.pace > Math.max(SLOW_FRAME, SLOW_FACTOR * this.idle) && this.level < LEVELS.length - 1) this.coarser();
    else if (this.pace > QUICK_FRAME) this.quickSince = null;
    else this.finer(time);
  }

  coarser() {
    this.change(this.level + 1);
    this.patience *= 2;
  }

  finer(time) {
    this.quickSince ??= time;
    if (this.level > 0 && time - this.quickSince > this.patience) this.change(this.level - 1);
  }

  change(level) {
    this.level = level;
    this.pace = null;
    this.count = 0;
    this.quickSince = null;
  }
}
