// The connection to the server: the geometry once for each figure, then a binary frame for each change.

import { readFrame } from "poise-studio/frame_layout.js";

const FIRST_RETRY = 250; // time before the first attempt to reconnect, doubled with each failure [ms]
const LONGEST_RETRY = 4000; // [ms]

export class Stream {
  constructor(onFigure, onFrame) {
    this.onFigure = onFigure;
    this.onFrame = onFrame;
    this.figureNumber = -1;
    this.fetching = false;
    this.newest = null; // the numbers of the newest frame
    this.layout = null; // how to read them, from the geometry's header
    this.retry = FIRST_RETRY;
    this.connect();
  }

  connect() {
    const address = new URL("/studio/stream", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      document.body.dataset.connected = "true";
      this.retry = FIRST_RETRY;
      this.figureNumber = -1; // a server that was restarted counts its figures from 0 again
    };
    this.socket.onmessage = (event) => this.receive(new Float32Array(event.data));
    this.socket.onclose = () => {
      if (this.closed) return;
      document.body.dataset.connected = "false";
      this.timer = setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(2 * this.retry, LONGEST_RETRY);
    };
  }

  // The first two numbers of a frame are its format and its figure's number, in every version of the layout.
  receive(row) {
    const [format, figureNumber] = row;
    if (this.layout && format !== this.layout.format) {
      location.reload(); // a newer server is running, so the page needs its newer scripts
      return;
    }
    this.newest = row;
    if (figureNumber !== this.figureNumber) this.fetchFigure();
    else this.onFrame(readFrame(row, this.layout));
    this.socket.send("seen"); // the server waits for this before it sends more
  }

  async fetchFigure() {
    if (this.fetching) return;
    this.fetching = true;
    try {
      const answer = await fetch("/studio/geometry");
      if (!answer.ok) throw new Error(await answer.text());
      const figure = parseFigure(await answer.arrayBuffer());
      if (this.closed) return;
      this.layout ??= figure.frame;
      this.onFigure(figure);
      this.figureNumber = figure.number;
    } finally {
      this.fetching = false;
    }
    this.receiveAgain();
  }

  // Show the newest frame, which arrived while the geometry was fetched.
  receiveAgain() {
    const [format, figureNumber] = this.newest;
    if (format !== this.layout.format) location.reload();
    else if (figureNumber === this.figureNumber) this.onFrame(readFrame(this.newest, this.layout));
    else this.fetchFigure();
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}

function parseFigure(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const figure = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const pieces = [...figure.parts, ...figure.coarse];
  const total = (what) => pieces.reduce((sum, piece) => sum + piece[what], 0);
  let at = 4 + length;
  const take = (Kind, count) => {
    const array = new Kind(buffer, at, count);
    at += array.byteLength;
    return array;
  };
  const vertices = take(Float32Array, 3 * total("vertices"));
  const normals = take(Float32Array, 3 * total("vertices"));
  const triangles = take(Uint32Array, 3 * total("triangles"));
  let v = 0;
  let t = 0;
  for (const piece of pieces) {
    piece.positions = vertices.subarray(3 * v, 3 * (v + piece.vertices));
    piece.normals = normals.subarray(3 * v, 3 * (v + piece.vertices));
    piece.indices = triangles.subarray(3 * t, 3 * (t + piece.triangles));
    v += piece.vertices;
    t += piece.triangles;
  }
  figure.parts.forEach((part, i) => (part.coarse = figure.coarse[i]));
  return figure;
}
