// The viewport component: a canvas that fills its place, a stage in it, and the stream that feeds the stage.

import { Stage } from "poise-studio/stage.js";
import { Stream } from "poise-studio/stream.js";

export default {
  template: `<div style="position:relative;overflow:hidden"><canvas style="display:block;width:100%;height:100%"></canvas></div>`,

  props: { joints: { type: Boolean, default: true } },

  mounted() {
    const canvas = this.$el.querySelector("canvas");
    this.stage = new Stage(canvas);
    this.stage.showJoints(this.joints);
    this.resizing = new ResizeObserver(() => this.stage.resize(this.$el.clientWidth, this.$el.clientHeight));
    this.resizing.observe(this.$el);
    this.darkening = new MutationObserver(() => this.followTheme());
    this.darkening.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.followTheme();
    this.stream = new Stream(
      (figure) => this.stage.build(figure),
      (frame) => this.stage.pose(frame),
    );
    window.poiseStage = this.stage;
  },

  beforeUnmount() {
    this.stream.close();
    this.resizing.disconnect();
    this.darkening.disconnect();
    this.stage.close();
  },

  watch: {
    joints(shown) {
      this.stage.showJoints(shown);
    },
  },

  methods: {
    followTheme() {
      this.stage.setTheme(document.body.classList.contains("body--dark") ? "dark" : "light");
    },
    frame_figure() {
      this.stage.frameFigure();
    },
  },
};
