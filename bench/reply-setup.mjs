// Shared by the measurements of replies: the turn in the transcript, and when a reply is visible in its thread.

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openGateway } from '../dist/discord/gateway.js';

const INTENTS = (1 << 0) | (1 << 9) | (1 << 15);

/** Notices the messages of all threads. `visible` resolves with the message whose beginning it is given, once it is there. */
export function watchReplies(rest, { token }, beginning) {
  const waiting = new Map();
  const gateway = openGateway({
    rest,
    token,
    intents: INTENTS,
    load: () => undefined,
    save: () => {},
    onFatal(error) {
      throw error;
    },
    handle(name, data) {
      if (name === 'MESSAGE_CREATE') waiting.get(data.content.match(beginning)?.[0])?.(data);
    },
  });
  return { visible: (text) => new Promise((resolve) => waiting.set(text, resolve)), close: () => gateway.close() };
}

/** Runs the Stop hook like Claude Code, and waits until the reply is visible. */
export function replier({ name, pane, drop, home, folder, visible }) {
  const transcript = join(folder, `${name}.jsonl`);
  const env = { PATH: '/usr/bin:/bin', HOME: folder, THREADMUX_HOME: home, ...pane };
  const base = { session_id: `session-${name}`, transcript_path: transcript, cwd: folder };
  return async (n) => {
    const text = `reply ${name} ${n}.`;
    const said = `${text} ${'Some words of an ordinary answer. '.repeat(20)}`;
    appendFileSync(transcript, turnLines(`${name}-${n}`, said));
    const arrived = visible(text);
    const began = performance.now();
    const child = spawn(drop, { env, stdio: ['pipe', 'ignore', 'ignore'] });
    const input = { ...base, hook_event_name: 'Stop', prompt_id: `prompt-${name}-${n}` };
    child.stdin.end(JSON.stringify({ ...input, stop_hook_active: false, last_assistant_message: said }));
    await arrived;
    const took = performance.now() - began;
    await sleep(60);
    return took;
  };
}

/** The turn as Claude Code has written it when it calls the hook. */
export function turnLines(id, text) {
  const prompt = { type: 'user', uuid: `u-${id}`, promptId: `prompt-${id}`, origin: { kind: 'human' } };
  const content = [{ type: 'text', text }];
  const said = { id: `msg_${id}`, role: 'assistant', content, stop_reason: 'end_turn' };
  return [
    { ...prompt, message: { role: 'user', content: 'go on' } },
    { type: 'assistant', uuid: `a-${id}`, message: said },
  ]
    .map((line) => `${JSON.stringify({ isSidechain: false, sessionId: 's', ...line })}\n`)
    .join('');
}
