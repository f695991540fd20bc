// A pane as a PNG, with its colours. Drawn by a process of its own: the gateway's heart beats on meanwhile, and all the
// memory is given back. Whatever cannot be drawn well is not drawn at all: the caller shows text instead.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createKeyedQueue } from '../../core/keyed-queue.ts';
import { runProcess } from '../../hosts/process.ts';
import { coverage, fontFile } from './font.ts';
import { type PictureSize, parseRows } from './rows.ts';
import { FONT_FAMILY, type Point, pictureSvg } from './svg.ts';

const PATIENCE_MS = 5_000;

/** Several at once would only take several times the memory. */
const inTurn = createKeyedQueue();

/** `cursor`: only if the pane shows one. Undefined: there are characters the font lacks, or drawing failed or took too long. */
export async function renderPicture(
  ansi: string,
  size: PictureSize,
  cursor?: Point,
  patienceMs = PATIENCE_MS,
): Promise<Uint8Array | undefined> {
  try {
    const fonts = [fontFile('DejaVuSansMono.ttf'), fontFile('DejaVuSansMono-Bold.ttf')] as const;
    const isCovered = coverage(await readFile(fonts[0]));
    const svg = pictureSvg(parseRows(ansi, size), size, cursor, isCovered);
    return svg === undefined ? undefined : await inTurn('picture', () => drawn(svg, fonts, patienceMs));
  } catch {
    return undefined; // such as a font that is not there: text shows the screen, too
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
  // Optimising the WebAssembly would take longer than all it draws in its short life.
  const args = ['--liftoff-only', '--input-type=commonjs', '--eval', DRAW];
  const ran = await runProcess(process.execPath, args, { env: {}, timeoutMs, input });
  const isWhole = ran.ended === 'itself' && ran.status === 0 && ran.stdout !== '';
  return isWhole ? Buffer.from(ran.stdout, 'base64') : undefined;
}

/** Handed over as text: a program that still has to be compiled could not be started as it lies here. */
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
