// How finely the stage is drawn: as well as can be when nothing moves, and as fast as need be while something does.

const SLOW = 28; // frames that come less often than this are slow [ms]
const SLOWER = 1.5; // and less often than this many times where nothing is drawn
const QUICK = 19; // frames that come as often as this leave room for more [ms]
const SHARE = 0.2; // how much the newest frame counts
const FEWEST = 5; // frames before anything is judged
const PAUSE = 200; // after a pause longer than this the next frame says nothing about speed [ms]
const REST = 220; // what has not moved for so long is drawn at its best [ms]
const PATIENCE = 3000; // quick frames for so long are tried finer; twice as long after each trial that failed [ms]
const FINEST = 2; // pixels drawn for one of the page, each way, at most
const LONG = 400; // a picture that takes longer is drawn with fewer pixels from then on [ms]

// From fine to fast: the share of the page's pixels that are drawn each way, and whether coarser surfaces do.
const LEVELS = [
  { share: 1, coarse: false },
  { share: 1, coarse: true },
  { share: 0.75, coarse: true },
  { share: 0.55, coarse: true },
];

// Whether a processor draws in place of a graphics card.
export function drawsInSoftware() {
  const pen = document.createElement("canvas").getContext("webgl2");
  const about = pen?.getExtension("WEBGL_debug_renderer_info");
  const name = about ? pen.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  pen?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Quality {
  // `apply` is given the pixels per pixel of the page, and whether to draw coarsely.
  constructor(software, apply) {
    this.software = software;
    this.apply = apply;
    this.level = software ? 1 : 0;
    this.best = FINEST;
    this.idle = 0; // from one animation frame to the next where nothing is drawn [ms]
    this.beat = null;
    this.resting = false;
    this.pace = null;
    this.count = 0;
    this.quickSince = null;
    this.patience = PATIENCE;
    this.last = -Infinity;
    this.now = "";
  }

  // Something moved and is about to be drawn, `time` as animation frames have it.
  move(time) {
    this.resting = false;
    this.judge(time - this.last, time);
    this.last = time;
    this.beat = null;
    this.use(LEVELS[this.level]);
  }

  // Nothing moved; whether it has to be drawn once more, at its best.
  rest(time) {
    const passed = this.beat === null ? PAUSE : time - this.beat;
    if (passed < PAUSE) this.idle += SHARE * (passed - this.idle);
    this.beat = time;
    if (this.resting || time - this.last < REST) return false;
    this.finest();
    return true;
  }

  // Without antialiasing of its own, what rests is drawn with more pixels than the page has.
  finest() {
    this.resting = true;
    this.use({ share: this.software ? Math.max(1, this.best / this.ratio()) : 1, coarse: false });
  }

  // How long it took to draw at its best [ms].
  took(time) {
    if (time > LONG) this.best = 1;
    else if (time < LONG / 8) this.best = FINEST;
  }

  ratio() {
    return Math.min(window.devicePixelRatio, FINEST);
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
    this.pace = this.pace === null ? passed : (1 - SHARE) * this.pace + SHARE * passed;
    this.count += 1;
    if (this.count < FEWEST) return;
    if (this.pace > Math.max(SLOW, SLOWER * this.idle) && this.level < LEVELS.length - 1) this.coarser();
    else if (this.pace > QUICK) this.quickSince = null;
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
