// Reads the pixels of a PNG: 8 bits per channel, with or without transparency, not interlaced.

import { inflateSync } from 'node:zlib';

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** As "#rrggbb". */
  at(x: number, y: number): string;
  count(colour: string): number;
}

export function readPng(file: Uint8Array): Pixels {
  const bytes = Buffer.from(file);
  if (bytes.toString('latin1', 1, 4) !== 'PNG') throw new Error('not a PNG');
  const packed: Buffer[] = [];
  let head = Buffer.alloc(0);
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const data = bytes.subarray(at + 8, at + 8 + length);
    const kind = bytes.toString('latin1', at + 4, at + 8);
    if (kind === 'IHDR') head = data;
    if (kind === 'IDAT') packed.push(data);
    at += 12 + length;
  }
  const [width, height, bits, type] = [head.readUInt32BE(0), head.readUInt32BE(4), head[8], head[9]];
  if (bits !== 8 || (type !== 6 && type !== 2)) throw new Error(`a PNG of type ${type}`);
  const channels = type === 6 ? 4 : 3;
  const rows = unfiltered(inflateSync(Buffer.concat(packed)), width * channels, height, channels);
  const at = (x: number, y: number) => `#${rows.subarray((y * width + x) * channels).toString('hex', 0, 3)}`;
  return {
    width,
    height,
    at,
    count(colour) {
      const wanted = Number.parseInt(colour.slice(1), 16);
      let found = 0;
      for (let byte = 0; byte < rows.length; byte += channels) if (rows.readUIntBE(byte, 3) === wanted) found++;
      return found;
    },
  };
}

/** Each line has a filter that uses its left, upper and upper left neighbours. */
function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Buffer {
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : (out[at - channels] ?? 0);
      const up = y === 0 ? 0 : (out[at - stride] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (out[at - stride - channels] ?? 0);
      const guess = guessed(filter, left, up, corner);
      out[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return out;
}

function guessed(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [toLeft, toUp] = [Math.abs(up - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + up - 2 * corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
