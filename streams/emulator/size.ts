// How large a terminal is, and how large the emulator lets it be.

export interface EmulatorSize {
  readonly width: number;
  readonly height: number;
}

/** tmux allows 10,000 each way, which would take the emulator gigabytes. Beyond this, lines break elsewhere than in tmux. */
const LARGEST: EmulatorSize = { width: 400, height: 150 };
/** The emulator knows no narrower one. */
const SMALLEST: EmulatorSize = { width: 2, height: 1 };

export function sizeWithin({ width, height }: EmulatorSize): EmulatorSize {
  return { width: within('width', width), height: within('height', height) };
}

function within(side: keyof EmulatorSize, value: number): number {
  return Math.min(Math.max(Math.trunc(value) || 0, SMALLEST[side]), LARGEST[side]);
}
