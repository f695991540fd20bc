// The process of one terminal's emulator, started by streams/emulator/emulator-process.ts. It answers each line of its stdin
// with one line, and ends with its stdin.

import { createContext, Script } from 'node:vm';
import { parseJson } from '../core/json.ts';
import { createLineReader } from '../streams/agent/process.ts';
import { type Emulator, openEmulator } from '../streams/emulator/emulator.ts';
import type { EmulatorAnswer, EmulatorRequest } from '../streams/emulator/emulator-process.ts';

let emulator: Emulator | undefined;
let limitMs = 60_000;
/** Made once: a context takes longer than most answers. */
const context = createContext({});
const CALL = new Script('work()');

function answer(request: EmulatorRequest): EmulatorAnswer {
  if (request.do === 'open') {
    ({ limitMs } = request);
    emulator = openEmulator(request.size, request.from);
  }
  if (emulator === undefined) throw new Error('no emulator is open');
  const nothing = { left: '', live: '' };
  switch (request.do) {
    case 'open':
      return nothing;
    case 'feed':
      return { ...nothing, left: emulator.feed(Buffer.from(request.base64, 'base64')) };
    case 'resize':
      return { ...nothing, left: emulator.resize(request.size) };
    case 'finish':
      return emulator.finish();
    case 'screen':
      return { left: '', live: emulator.live(), snapshot: emulator.snapshot() };
  }
}

/** Throws after a while, even out of an endless loop: if the bridge is killed meanwhile, nobody else ends this process. */
function inTime(work: () => EmulatorAnswer): EmulatorAnswer {
  context.work = work;
  return CALL.runInContext(context, { timeout: limitMs });
}

// At the end of a login, everything gets these signals. The bridge ends us; it would give the terminal up if we ended first.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
const requests = createLineReader((line) => {
  const request = parseJson(line) as EmulatorRequest;
  process.stdout.write(`${JSON.stringify(inTime(() => answer(request)))}\n`);
});
process.stdin.on('data', requests.add);
