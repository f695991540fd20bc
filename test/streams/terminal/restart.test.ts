import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Fault, FaultyRequest } from '../../support/as-discord.mjs';
import { NO_SYNC } from '../../support/hook-process.ts';
import { expectText, type TerminalSetting, terminalSetting } from '../../support/terminal.ts';

const FOLLOWER = fileURLToPath(new URL('../../support/follow-terminal.mjs', import.meta.url));

/** Lines, colours, a progress bar, a second one of two rows, and wide characters. */
const PROGRAM = `
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const out = (text) => process.stdout.write(text);
for (let at = 1; at <= 60; at++) {
  out(\`\\x1b[3\${at % 8}mline \${at}\\x1b[m \${'ä日🚀'.repeat(at % 40)}\\n\`);
  await wait(40);
  if (at % 20 === 0) {
    for (let done = 0; done <= 100; done += 5) {
      out(\`\\r\\x1b[Kbar \${done} %\`);
      await wait(15);
    }
    out('\\n');
    for (let done = 0; done <= 20; done++) {
      out(\`\${done === 0 ? '' : '\\x1b[2A'}one \${done}\\x1b[K\\ntwo \${done}\\x1b[K\\n\`);
      await wait(15);
    }
  }
}
`;

const EXPECTED = Array.from({ length: 60 }, (_, at) => {
  const line = `line ${at + 1} ${'ä日🚀'.repeat((at + 1) % 40)}\n`;
  return (at + 1) % 20 === 0 ? `${line}bar 100 %\none 20\ntwo 20\n` : line;
}).join('');

const FLOOD = 'for i in $(seq 0 5); do seq "$i"0001 "$i"9999; sleep 0.4; done; echo over';
const FLOOD_EXPECTED = `${Array.from({ length: 60_000 }, (_, at) => (at % 10_000 === 0 ? '' : `${at}\n`)).join(
  '',
)}over\n`;

async function startProgram(setting: TerminalSetting) {
  const file = join(setting.server.dir, 'program.mjs');
  writeFileSync(file, PROGRAM);
  return setting.start(`${process.execPath} ${file}; exit 7`);
}

/** Followed by one process after the other; each runs until it is killed, the last one until the end. */
async function followUntilEnded(setting: TerminalSetting, killing: (child: ChildProcess) => void): Promise<number> {
  const { parts, thread, workspace, server } = setting;
  const options = {
    root: parts.home.root,
    thread,
    socket: server.socket,
    follow: { everyMs: 60, lookMs: 100 },
    api: workspace.api,
    token: workspace.token,
    botId: workspace.botId,
  };
  let deaths = 0;
  for (;;) {
    const child = spawn(process.execPath, [FOLLOWER, JSON.stringify(options)], {
      env: {
        ...NO_SYNC,
        PATH: process.env.PATH,
        HOME: server.dir,
        SHELL: '/bin/sh',
        LANG: 'C.UTF-8',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    killing(child);
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code === 0) return deaths;
    deaths++;
  }
}

describe('the follower of a terminal, killed repeatedly,', () => {
  it('loses and repeats nothing, whenever it is killed', async () => {
    const setting = await terminalSetting();
    await startProgram(setting);
    let left = 5;
    const deaths = await followUntilEnded(setting, (child) => {
      if (left-- > 0) setTimeout(() => child.kill('SIGKILL'), 300 + Math.random() * 600).unref();
    });
    expectText(await setting.text(), EXPECTED);
    expect(deaths).toBeGreaterThan(2);
    const exits = (await setting.messages()).filter(({ content }) => content.startsWith('⏹️'));
    expect(exits.map(({ content }) => content.split('\n')[0])).toEqual([
      expect.stringMatching(/^⏹️ Exited with code 7 after \d+ s\.$/),
    ]);
  });

  it('loses and repeats nothing of a flood', async () => {
    const setting = await terminalSetting();
    await setting.start(FLOOD);
    let left = 5;
    const deaths = await followUntilEnded(setting, (child) => {
      if (left-- > 0) setTimeout(() => child.kill('SIGKILL'), 300 + Math.random() * 600).unref();
    });
    expectText(await setting.text(), FLOOD_EXPECTED);
    expect(deaths).toBeGreaterThan(2);
  });

  it.each<[string, Fault | undefined]>([
    ['after a message was posted and before that was noted', undefined],
    ['when the answer never arrives', { kind: 'apply-then-reset' }],
    ['before the message arrived', { kind: 'reset' }],
  ])('loses and repeats nothing, killed %s', async (_, fault) => {
    const killer = atRequests(fault);
    const setting = await terminalSetting({ workspace: killer.workspace });
    await startProgram(setting);
    const deaths = await followUntilEnded(setting, killer.aimAt);
    expectText(await setting.text(), EXPECTED);
    expect(deaths).toBeGreaterThan(2);
    const exits = (await setting.messages()).filter(({ content }) => content.startsWith('⏹️'));
    expect(exits).toHaveLength(1);
  });

  it('loses and repeats nothing of a flood, killed while posting it', async () => {
    const killer = atRequests(undefined);
    const setting = await terminalSetting({ workspace: killer.workspace });
    await setting.start(FLOOD);
    const deaths = await followUntilEnded(setting, killer.aimAt);
    expectText(await setting.text(), FLOOD_EXPECTED);
    expect(deaths).toBeGreaterThan(2);
  });
});

/** Kills at two of three requests that change a message, so late that no remembered nonce hides a repeated post. */
function atRequests(fault: Fault | undefined) {
  let child: ChildProcess | undefined;
  let left = 5;
  let writes = 0;
  return {
    aimAt(next: ChildProcess) {
      child = next;
    },
    workspace: {
      nonceWindowMs: 1,
      faults: {
        onRequest({ method, path }: FaultyRequest): Fault | undefined {
          if (!path.includes('/messages') || method === 'GET') return undefined;
          if (child === undefined || ++writes % 3 === 0 || left <= 0) return undefined;
          left--;
          child.kill('SIGKILL');
          return fault;
        },
      },
    },
  };
}
