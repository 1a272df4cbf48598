// The strip below the viewport: the present mode's plots, its timeline, and their connection to the server.

import { Around } from "poise-studio/modes/around.js";
import { Follow } from "poise-studio/modes/follow.js";
import { Timeline } from "poise-studio/modes/timeline.js";
import { Plots } from "poise-studio/modes/plots.js";
import { savePicture } from "poise-studio/modes/picture.js";

const RETRY = 500; // time between two attempts to reconnect [ms]

export default {
  template: `<div><div class="poise-plots"></div><div class="poise-names"></div>
    <div class="poise-timeline"><button title="Play or pause" aria-label="Play or pause"><i class="material-icons">play_arrow</i></button><input type="range" aria-label="Time" min="0" max="1" step="0.001"><span></span></div>
    </div>`,

  props: { follow: { type: Boolean, default: false } },

  mounted() {
    this.plots = new Plots(this.$el, (message) => this.send(message));
    this.around = new Around((message) => this.send(message));
    this.timeline = new Timeline(this.$el, (message) => this.send(message));
    this.mouse = new Follow((message) => this.send(message));
    this.mouse.on = this.follow;
    this.resizing = new ResizeObserver(() => this.plots.draw());
    this.resizing.observe(this.$el);
    this.connect();
    window.poiseStrip = this;
  },

  beforeUnmount() {
    this.closed = true;
    this.resizing.disconnect();
    this.mouse.close();
    this.around.close();
    this.socket.close();
  },

  watch: {
    follow(on) {
      this.mouse.on = on;
    },
  },

  methods: {
    connect() {
      const address = new URL("/studio/mode", location.href);
      address.protocol = address.protocol.replace("http", "ws");
      this.socket = new WebSocket(address);
      this.socket.onmessage = (event) => {
        this.receive(JSON.parse(event.data));
        this.socket.send("seen"); // the server waits for this before it sends more
      };
      this.socket.onclose = () => this.closed || setTimeout(() => this.connect(), RETRY);
    },
    send(message) {
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    },
    receive(news) {
      if (news.mode) document.body.dataset.mode = news.mode;
      if (news.plots) {
        this.plots.build(news.plots);
        this.timeline.build(news.plots);
        document.body.classList.toggle("poise-has-strip", news.plots.kind !== "none");
      }
      if (news.rows) this.plots.add(news.rows);
      if (news.cursor) {
        this.plots.point(news.cursor);
        this.timeline.point(news.cursor);
      }
      if (news.views?.source) this.around.placeBones(news.views.source.places);
      if (news.views?.playing) this.timeline.play(news.views.playing.on);
      if (news.overlay) this.around.show(news.overlay);
      for (const [kind, value] of Object.entries(news.views ?? {})) {
        window.dispatchEvent(new CustomEvent(`poise-${kind}`, { detail: value }));
      }
    },
    save_picture() {
      savePicture();
    },
  },
};
