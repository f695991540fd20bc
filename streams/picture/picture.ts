// Renders a pane as a PNG with its colours, in a separate process: the gateway's heartbeat is not blocked, and all memory is
// freed. If the pane cannot be drawn well, there is no picture, and the caller shows text instead.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createKeyedQueue } from '../../core/keyed-queue.ts';
import { runProcess } from '../../hosts/process.ts';
import { type PictureSize, parseRows } from './rows.ts';
import { FONT_FAMILY, type Point, pictureSvg } from './svg.ts';

const PATIENCE_MS = 5_000;
/** Far more than a screen with another colour in each cell has. A hostile host may send megabytes. */
const MOST_CHARACTERS = 2 ** 20;

/** One at a time: several at once would need several times the memory. */
const inTurn = createKeyedQueue();

/** `cursor`: only if the pane shows one. Undefined if the font lacks a character, or drawing failed or took too long. */
export async function renderPicture(
  ansi: string,
  size: PictureSize,
  cursor?: Point,
  patienceMs = PATIENCE_MS,
): Promise<Uint8Array | undefined> {
  if (ansi.length > MOST_CHARACTERS) return undefined;
  try {
    const fonts = [fontFile('DejaVuSansMono.ttf'), fontFile('DejaVuSansMono-Bold.ttf')] as const;
    const isCovered = coverage(await readFile(fonts[0]));
    const svg = pictureSvg(parseRows(ansi, size), size, cursor, isCovered);
    return svg === undefined ? undefined : await inTurn('picture', () => drawn(svg, fonts, patienceMs));
  } catch {
    return undefined; // for example a missing font: the caller shows text
  }
}

async function drawn(svg: string, fonts: readonly string[], timeoutMs: number): Promise<Uint8Array | undefined> {
  const { resolve } = createRequire(import.meta.url);
  const input = JSON.stringify({
    svg,
    fonts,
    family: FONT_FAMILY,
    library: resolve('@resvg/resvg-wasm'),
    wasm: resolve('@resvg/resvg-wasm/index_bg.wasm'),
  });
  // Optimising the WebAssembly takes longer than drawing one picture.
  const args = ['--liftoff-only', '--input-type=commonjs', '--eval', DRAW];
  const ran = await runProcess(process.execPath, args, { env: {}, timeoutMs, input });
  const isWhole = ran.ended === 'itself' && ran.status === 0 && ran.stdout !== '';
  return isWhole ? Buffer.from(ran.stdout, 'base64') : undefined;
}

/** Passed as text, because a TypeScript file could not be run directly from source. */
const DRAW = `
const { readFileSync } = require('node:fs');
const { svg, fonts, family, library, wasm } = JSON.parse(readFileSync(0, 'utf8'));
const { initWasm, Resvg } = require(library);
initWasm(readFileSync(wasm)).then(() => {
  const font = { fontBuffers: fonts.map((file) => readFileSync(file)), defaultFontFamily: family };
  const png = new Resvg(svg, { font }).render().asPng();
  process.stdout.write(Buffer.from(png).toString('base64'));
});
`;

// The font. The build copies it next to the compiled code, so that the package does not depend on the font package; from
// source it is read from node_modules.
/** Name under `fonts/` -> file of the package. */
export const FONTS = {
  'DejaVuSansMono.ttf': 'dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf',
  'DejaVuSansMono-Bold.ttf': 'dejavu-fonts-ttf/ttf/DejaVuSansMono-Bold.ttf',
} as const;

/** Shipped with the copies. */
export const FONT_LICENSES = { 'DejaVu.LICENSE': 'dejavu-fonts-ttf/LICENSE' } as const;

export function fontFile(name: keyof typeof FONTS): string {
  const copy = fileURLToPath(new URL(`./fonts/${name}`, import.meta.url));
  return existsSync(copy) ? copy : createRequire(import.meta.url).resolve(FONTS[name]);
}

/** Which characters a TrueType font has, according to its `cmap` table (format 12). */
export function coverage(ttf: Uint8Array): (codePoint: number) => boolean {
  const view = new DataView(ttf.buffer, ttf.byteOffset, ttf.byteLength);
  const ranges = rangesOf(view);
  return (codePoint) => ranges.some(([first, last]) => codePoint >= first && codePoint <= last);
}

function rangesOf(view: DataView): readonly (readonly [first: number, last: number])[] {
  const cmap = tableAt(view, 'cmap');
  const subtables = view.getUint16(cmap + 2);
  for (let at = 0; at < subtables; at++) {
    const table = cmap + view.getUint32(cmap + 4 + 8 * at + 4);
    if (view.getUint16(table) !== 12) continue;
    return Array.from({ length: view.getUint32(table + 12) }, (_, group) => {
      const start = table + 16 + 12 * group;
      return [view.getUint32(start), view.getUint32(start + 4)] as const;
    });
  }
  return [];
}

function tableAt(view: DataView, name: string): number {
  const tables = view.getUint16(4);
  for (let at = 12; at < 12 + 16 * tables; at += 16) {
    const tag = String.fromCharCode(...[0, 1, 2, 3].map((byte) => view.getUint8(at + byte)));
    if (tag === name) return view.getUint32(at + 8);
  }
  return 0;
}
