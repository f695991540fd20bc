// The font of the pictures. The build copies it beside the compiled code, so that the package needs no other; from source
// it comes out of node_modules.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

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

/** Which characters a TrueType font has, by its own table of all of them (`cmap`, format 12). */
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
