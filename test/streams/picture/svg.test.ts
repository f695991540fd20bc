// The content and layout of a picture, before it is drawn.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverage, fontFile } from '../../../streams/picture/picture.ts';
import { type PictureSize, parseRows } from '../../../streams/picture/rows.ts';
import { gridFor, type Point, pictureSvg } from '../../../streams/picture/svg.ts';

const isCovered = coverage(readFileSync(fontFile('DejaVuSansMono.ttf')));
const SIZE = { width: 80, height: 24 };

function svgOf(ansi: string, size: PictureSize = SIZE, cursor?: Point): string | undefined {
  return pictureSvg(parseRows(ansi, size), size, cursor, isCovered);
}

/** The texts of a picture with their attributes. */
function textsOf(ansi: string) {
  return [...(svgOf(ansi) ?? '').matchAll(/<text ([^>]*)>([^<]*)<\/text>/g)].map(([, how = '', text = '']) => ({
    how,
    text,
  }));
}

const look = (ansi: string) => textsOf(ansi)[0]?.how ?? 'no text';

describe('a picture of a screen', () => {
  it.each([
    ['\x1b[38;2;1;2;3mx', 'fill="#010203"'],
    ['\x1b[38:2::1:2:3mx', 'fill="#010203"'],
    ['\x1b[38:2:1:2:3mx', 'fill="#010203"'],
    ['\x1b[38;5;196mx', 'fill="#ff0000"'],
    ['\x1b[38:5:196mx', 'fill="#ff0000"'],
    ['\x1b[38;5;244mx', 'fill="#808080"'],
    ['\x1b[97mx', 'fill="#ffffff"'],
    ['\x1b[58;5;9;1mx', 'font-weight="bold"'],
    ['\x1b[3mx', 'skewX'],
    ['\x1b[38;2;999;-1;1e9mx', 'fill="#'],
  ])('renders the style of %j', (ansi, wanted) => {
    expect(look(ansi)).toContain(wanted);
  });

  it('resets switched-off styles, and keeps a colour into the next line', () => {
    const [red, plain] = textsOf('\x1b[91;1;3;4mone\ntwo\x1b[22;23;24;39m\nthree\x1b[m').slice(1);
    expect(red?.how).toContain('font-weight="bold"');
    expect(red?.how).toContain('skewX');
    expect(plain?.how).not.toMatch(/bold|skew/);
    expect(plain?.how).toBe(look('\n\nthree'));
  });

  it('shows inverse, hidden and struck-through text, and the cursor', () => {
    const inverse = svgOf('\x1b[38;2;1;2;3;48;2;4;5;6;7mx') ?? '';
    expect(inverse).toMatch(/<rect[^>]*height="33" fill="#010203"/);
    expect(inverse).toMatch(/<text[^>]*fill="#040506">x</);
    expect(textsOf('\x1b[8msecret')).toEqual([]);
    expect(svgOf('\x1b[9;38;2;1;2;3mx')).toMatch(/<rect[^>]*height="2" fill="#010203"/);
    expect(svgOf('\x1b[38;2;1;2;3mab', SIZE, { x: 1, y: 0 })).toMatch(
      /<rect x="17" y="0" width="17" height="33" fill="#010203"/,
    );
    expect(svgOf('ab', SIZE, { x: 5, y: 2 })).toMatch(/<rect x="85" y="66" width="17"/);
  });

  it('puts every character in its cell, also after wide ones and combining marks', () => {
    const columns = (ansi: string) =>
      textsOf(ansi).map(({ how, text }) => [Number(/x="(\d+)"/.exec(how)?.[1]) / 17, text]);
    expect(columns('a  b\x1b[31mc')).toEqual([
      [0, 'a  b'],
      [4, 'c'],
    ]);
    expect(columns('✅x')).toEqual([
      [0, '✔'],
      [2, 'x'],
    ]);
    expect(columns('q\u0323\u0307xy')).toEqual([
      [0, 'q\u0323\u0307'],
      [1, 'xy'],
    ]);
    expect(columns('e\u0301x')).toEqual([[0, 'éx']]);
    expect(columns('⚠\ufe0f x')).toEqual([[0, '⚠ x']]);
  });

  it('draws the boxes of programs without Unicode', () => {
    expect(textsOf('\x0elqk\x0flqk').map(({ text }) => text)).toEqual(['┌─┐lqk']);
  });

  it.each([
    ['Chinese', '中文'],
    ['an emoji without a stand-in', 'done 🎉'],
    ['Arabic', 'سلام'],
    ['Hebrew', 'שלום'],
  ])('is not made where the font cannot show %s', (_, text) => {
    expect(svgOf(`fine ${text}`)).toBeUndefined();
  });

  it('is not made of a pane that is too large to read', () => {
    const huge = { width: 900, height: 300 };
    expect(svgOf(`${`${'x'.repeat(900)}\n`.repeat(300)}`, huge)).toBeUndefined();
    expect(svgOf('x', huge)).toBeDefined();
  });

  it('is as large as its content', () => {
    const sizeOf = (ansi: string) => /width="(\d+)" height="(\d+)"/.exec(svgOf(ansi) ?? '')?.[0];
    expect(sizeOf('$ ')).toBe(sizeOf('$ ls'));
    expect(sizeOf('x'.repeat(80))).toContain(`width="${80 * 17 + 34}"`);
    expect(sizeOf('x\n'.repeat(24))).toContain(`height="${24 * 33 + 34}"`);
    expect(sizeOf('\n\n\n\n\n\n')).toContain(`width="${40 * 17 + 34}" height="${3 * 33 + 34}"`);
  });

  it('keeps cells close to the height of the font, so that lines meet at every size', () => {
    for (let columns = 20; columns <= 300; columns += 7) {
      const grid = gridFor({ width: columns, height: Math.round(columns / 3) });
      if (grid === undefined) continue;
      // The lines of the font extend 20 and 29 units beyond its box of 2384.
      const reach = (grid.fontSize / 2048) * (2384 + 20 + 29);
      expect(reach).toBeGreaterThan(grid.height);
      const above = (grid.fontSize / 2048) * 1921;
      expect(above).toBeGreaterThanOrEqual(grid.baseline);
    }
  });

  it('shows any output of a terminal as text, never as markup', () => {
    const hostile = [
      '</text></g></svg><script>alert(1)</script>',
      '<image href="file:///etc/passwd"/><use xlink:href="http://127.0.0.1/"/>',
      '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>&x;',
      '"\'><style>@import url(http://127.0.0.1)</style>]]>&#0;&lt;',
      '\x1b]8;;file:///etc/passwd\x1b\\link\x1b]8;;\x1b\\',
      '\x1b[38;2;"/><x>;0;0mred',
    ].join('\n');
    expect(tagsOf(svgOf(hostile, { width: 200, height: 50 }) ?? '')).toEqual(['svg', 'rect', 'g', 'text']);
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('\x1b[', '\x1b]', '\x1b[38;5;', 'm', '<', '>', '&', '"', '</text>', '\n', '\0'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const rows = parseRows(pieces.join(''), SIZE);
        const svg = pictureSvg(rows, SIZE, undefined, () => true) ?? '';
        for (const tag of tagsOf(svg)) expect(['svg', 'rect', 'g', 'text', 'circle', 'polygon']).toContain(tag);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
        expect(svg).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      }),
      { numRuns: 500 },
    );
  });

  it('can be made of every recorded screen of Claude Code', () => {
    const folders = readdirSync('test/fixtures/screens')
      .filter((version) => /^\d/.test(version))
      .flatMap((version) => readdirSync(join('test/fixtures/screens', version)).map((size) => join(version, size)));
    const files = folders.flatMap((folder) =>
      readdirSync(join('test/fixtures/screens', folder))
        .filter((name) => name.endsWith('.ansi'))
        .map((name) => join(folder, name)),
    );
    expect(files.length).toBeGreaterThan(300);
    const undrawn = files.filter((file) => {
      const [width = 0, height = 0] = (file.split('/')[1] ?? '').split('x').map(Number);
      const ansi = readFileSync(join('test/fixtures/screens', file), 'utf8');
      return svgOf(ansi, { width, height }) === undefined;
    });
    expect(undrawn).toEqual([]);
  });
});

/** The element names, each once; throws if the markup is not well-formed. */
function tagsOf(svg: string): readonly string[] {
  const open: string[] = [];
  const seen = new Set<string>();
  const rest = svg.replace(/<(\/?)(\w+)((?: [\w:-]+="[^"<>]*")*)(\/?)>/g, (_, end, tag, __, self) => {
    seen.add(tag);
    if (end === '/' && open.pop() !== tag) throw new Error(`${tag} is closed, but not open`);
    if (end === '' && self === '') open.push(tag);
    return '';
  });
  if (open.length > 0 || /[<>]/.test(rest)) throw new Error('not well formed');
  if (/&(?!(?:amp|lt|gt);)/.test(rest)) throw new Error('an entity of its own');
  return [...seen];
}
