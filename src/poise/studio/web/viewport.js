// The viewport component: a canvas, the stage that draws in it, and the stream of frames from the server.

import { acceptFiles, packed } from "poise-studio/files.js";
import { keep } from "poise-studio/keep.js";
import { Grab } from "poise-studio/pointer/grab.js";
import { Stage } from "poise-studio/stage.js";
import { Stream } from "poise-studio/stream.js";

const NARROW = 900; // width of a page up to which the panel on the right is folded when the page gets it [pixels]
const DARK_KEY = "poise studio dark"; // key under which the browser remembers the dark theme

export default {
  template: `<div style="position:relative;overflow:hidden"><canvas style="display:block;width:100%;height:100%"></canvas>
    <input type="file" multiple aria-label="Files to open" style="display:none"></div>`,

  emits: ["refused", "opened", "menu", "selected", "picked", "narrow"],

  props: {
    joints: { type: Boolean, default: true },
    four: { type: Boolean, default: false },
    shown: { type: Object, default: () => ({}) },
  },

  mounted() {
    const canvas = this.$el.querySelector("canvas");
    this.stage = new Stage(canvas);
    this.stage.showJoints(this.joints);
    this.resizing = new ResizeObserver(() => this.stage.resize(this.$el.clientWidth, this.$el.clientHeight));
    this.resizing.observe(this.$el);
    this.darkening = new MutationObserver(() => this.followTheme());
    this.darkening.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    if (localStorage.getItem(DARK_KEY) !== null) setDark(localStorage.getItem(DARK_KEY) === "true");
    this.followTheme();
    this.stream = new Stream(
      (figure) => this.stage.build(figure),
      (frame) => this.stage.pose(frame),
    );
    this.grab = new Grab(
      this.stage,
      (message) => this.stream.send(message),
      (event, value) => this.$emit(event, value),
    );
    this.stage.showMore(this.shown);
    this.stage.showFour(this.four);
    this.dropping = new AbortController();
    acceptFiles(this.dropping.signal, this.$el.querySelector("input"), (files) => this.open(files));
    document.documentElement.lang = "en";
    Quasar.LoadingBar?.setDefaults({ hijackFilter: () => false }); // requests of the page are too short to need a bar
    const narrow = window.matchMedia(`(max-width: ${NARROW}px)`);
    if (narrow.matches) this.$emit("narrow");
    narrow.addEventListener("change", () => narrow.matches && this.$emit("narrow"), { signal: this.dropping.signal });
    window.poiseStage = this.stage;
    window.poiseKeep = keep;
  },

  beforeUnmount() {
    this.dropping.abort();
    this.stream.close();
    this.resizing.disconnect();
    this.darkening.disconnect();
    this.stage.close();
  },

  watch: {
    joints(shown) {
      this.stage.showJoints(shown);
    },
    four(four) {
      this.stage.showFour(four);
    },
    shown: {
      deep: true,
      handler(shown) {
        this.stage.showMore(shown);
      },
    },
  },

  methods: {
    followTheme() {
      this.stage.setTheme(document.body.classList.contains("body--dark") ? "dark" : "light");
    },
    frame_figure() {
      this.stage.frameFigure();
    },
    frame_selected() {
      this.stage.frameSelected();
    },
    switch_dark() {
      setDark(!Quasar.Dark.isActive);
      localStorage.setItem(DARK_KEY, Quasar.Dark.isActive);
    },
    choose_file() {
      this.$el.querySelector("input").click();
    },
    async open(files) {
      try {
        const [name, data] = await packed(files);
        await this.ask(`/studio/open?name=${encodeURIComponent(name)}`, data);
      } catch {
        this.$emit("refused", "The files could not be sent to the studio; is it still running?");
      }
    },
    open_choice(name) {
      return this.ask(`/studio/choose?name=${encodeURIComponent(name)}`);
    },
    async ask(address, body) {
      const answer = await fetch(address, { method: "POST", body });
      if (answer.ok) this.$emit("opened", await answer.json());
      else this.$emit("refused", await answer.text());
    },
    choose(what) {
      this.stage.selection?.choose(what);
    },
    highlight(body) {
      this.stage.highlight(body);
    },
    pick() {
      this.grab.pickNext();
    },
    pin_here() {
      this.grab.pinHere();
    },
  },
};
