// Writes an archive of files without compression, which pictures do not need.

const TABLE = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

// Numbers as little-endian bytes; each is given with its size.
function bytes(...fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return new Uint8Array(view.buffer);
}

// `files` are pairs of a name and its bytes.
export function zipped(files) {
  const [parts, entries] = [[], []];
  let at = 0;
  for (const [name, data] of files) {
    const title = new TextEncoder().encode(name);
    const about = [[2, 20], [2, 0x800], [2, 0], [4, 0x210000], [4, checksum(data)], [4, data.length], [4, data.length], [2, title.length], [2, 0]];
    const head = bytes([4, 0x04034b50], ...about);
    entries.push(bytes([4, 0x02014b50], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), title);
    parts.push(head, title, data);
    at += head.length + title.length + data.length;
  }
  const size = entries.reduce((sum, each) => sum + each.length, 0);
  const end = bytes([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, at], [2, 0]);
  return new Blob([...parts, ...entries, end], { type: "application/zip" });
}
