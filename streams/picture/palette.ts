// The colours of a dark terminal: its own sixteen, and the 256 that every terminal agrees on.

export type Colour = readonly [red: number, green: number, blue: number];

export const FOREGROUND: Colour = [0xd8, 0xdb, 0xe2];
export const BACKGROUND: Colour = [0x16, 0x18, 0x1d];

const SIXTEEN: readonly Colour[] = [
  [0x3a, 0x3f, 0x4b],
  [0xe0, 0x6c, 0x75],
  [0x7f, 0xc0, 0x6e],
  [0xe0, 0xb0, 0x60],
  [0x61, 0x9f, 0xef],
  [0xc6, 0x78, 0xdd],
  [0x4f, 0xb8, 0xc2],
  [0xc3, 0xc8, 0xd2],
  [0x6b, 0x73, 0x84],
  [0xff, 0x8a, 0x92],
  [0x9e, 0xdf, 0x8b],
  [0xff, 0xd0, 0x80],
  [0x8c, 0xbf, 0xff],
  [0xe2, 0x9b, 0xf5],
  [0x7c, 0xdc, 0xe4],
  [0xff, 0xff, 0xff],
];

export function indexed(number: number): Colour {
  const own = SIXTEEN[number];
  if (own !== undefined) return own;
  if (number >= 232) {
    const grey = 8 + 10 * (Math.min(number, 255) - 232);
    return [grey, grey, grey];
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  const at = number - 16;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}

/** Half way to the background, as dim text is shown. */
export function dimmed(colour: Colour, background: Colour): Colour {
  const half = (at: 0 | 1 | 2) => Math.round((colour[at] + background[at]) / 2);
  return [half(0), half(1), half(2)];
}

/** Whatever numbers a program printed, this is a colour and nothing else. */
export function hex(colour: Colour): string {
  const byte = (value: number) => Math.min(255, Math.max(0, Math.trunc(value) || 0));
  return `#${colour.map((value) => byte(value).toString(16).padStart(2, '0')).join('')}`;
}
