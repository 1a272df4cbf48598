// The connection to the server: geometry once per figure, then one flat float32 frame per change (see frames.py).

const FORMAT = 4;
const HEADER = 12;
const RETRY_FIRST = 250; // [ms]
const RETRY_LONGEST = 4000; // [ms]

export class Stream {
  constructor(onFigure, onFrame) {
    this.onFigure = onFigure;
    this.onFrame = onFrame;
    this.figureNumber = -1;
    this.fetching = false;
    this.newest = null;
    this.retry = RETRY_FIRST;
    this.connect();
  }

  connect() {
    const address = new URL("/studio/stream", location.href);
    address.protocol = address.protocol.replace("http", "ws");
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.retry = RETRY_FIRST;
      this.figureNumber = -1;
    };
    this.socket.onmessage = (event) => this.receive(new Float32Array(event.data));
    this.socket.onclose = () => {
      if (this.closed) return;
      this.timer = setTimeout(() => this.connect(), this.retry);
      this.retry = Math.min(2 * this.retry, RETRY_LONGEST);
    };
  }

  receive(row) {
    if (row[0] !== FORMAT) {
      location.reload();
      return;
    }
    const [, number, step, bodies, joints, loops, targets, corners, freedoms, marks, light, massive] = row;
    let at = HEADER;
    const take = (count) => row.subarray(at, (at += count));
    this.newest = {
      number,
      step,
      light,
      massive: massive > 0,
      bodies: take(7 * bodies),
      joints: take(4 * joints),
      loops: take(6 * loops),
      targets: take(14 * targets),
      corners: take(3 * corners),
      axes: take(3 * freedoms),
      marks: take(16 * marks),
      center: take(3),
    };
    if (number !== this.figureNumber) this.fetchFigure();
    else this.onFrame(this.newest);
    this.socket.send("seen"); // the server sends no more than a page can take in
  }

  async fetchFigure() {
    if (this.fetching) return;
    this.fetching = true;
    try {
      const answer = await fetch("/studio/geometry");
      if (!answer.ok) throw new Error(await answer.text());
      const figure = parseFigure(await answer.arrayBuffer());
      if (this.closed) return;
      this.onFigure(figure);
      this.figureNumber = figure.number;
    } finally {
      this.fetching = false;
    }
    if (this.newest.number === this.figureNumber) this.onFrame(this.newest);
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
