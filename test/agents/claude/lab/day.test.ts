// A scripted day with the real Claude Code: every 500 ms the state that the page's list shows is compared with the panes
// themselves. Everything happens once; with DAY_SECONDS it is repeated for so long, such as 600.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openHome } from '../../../../home/home.ts';
import { loadThreadRecords } from '../../../../threads/registry.ts';
import { declineAutoMode, type LabWithHost, startLabWithHost } from '../../../support/far-lab.ts';
import { type LabSession, PATIENCE } from '../../../support/lab-session.ts';
import { openPageSocket } from '../../../workspace/raw-socket.ts';

const SECONDS = Number(process.env.DAY_SECONDS ?? 0);
const EVERY_MS = 500;
const LONGEST_WRONG_MS = 2_000;

/** A session whose pane is compared. */
interface Watched {
  readonly name: string;
  readonly thread: string;
  readonly socket: string;
  /** Claude was started in it by us, and has not shown anything yet. */
  isNew: boolean;
  wrong?: { readonly since: number; readonly shown: string; readonly truth: string } | undefined;
}

it(
  'the state in the list is never wrong for longer than two seconds',
  async () => {
    const setting = await startLabWithHost();
    const { lab, demo, ssh } = setting;
    const url = lab.person.headers.origin as string;
    const page = await openPageSocket({ ...setting, url, person: lab.person } as never);
    const beating = setInterval(() => page.send(1), 10_000);
    onTestFinished(() => clearInterval(beating));
    const shown = (thread: string) => {
      const told = page.heard.filter(({ t }) => t === 'THREADMUX_STATES').flatMap(({ d }) => d.states);
      const last = told.findLast((one) => one.channel_id === thread);
      return [last?.state, last?.for].filter(Boolean).join(' ');
    };
    const untilShown = (thread: string, wanted: RegExp) =>
      vi.waitFor(() => expect(shown(thread)).toMatch(wanted), PATIENCE);

    /** A hook reports a dialog before Claude draws it; keys that are pressed before that are lost. */
    const onScreen = async (one: LabSession) => {
      await vi.waitFor(async () => expect(await one.read()).toMatchObject({ kind: 'dialog' }), PATIENCE);
      await sleep(1_500);
    };

    const watched: Watched[] = [];
    const watch = (one: LabSession, socket: string, isNew = false) => {
      const found = { name: one.record().sessionName, thread: one.thread, socket, isNew };
      watched.push(found);
      return found;
    };
    const here = join(lab.dir, 'tmux.sock');
    watch(demo, here);
    await lab.person.say(lab.channelId, `!new web far ${setting.project}`);
    const web = await lab.find('web');
    watch(web, setting.socket, true);
    let hasReplied = false;
    const declining = declineAutoMode(setting, 'web', () => hasReplied);
    await web.submit('hello');
    await web.idle();
    hasReplied = true;
    await declining;

    let isHostDown = false;
    let compared = 0;
    const late: string[] = [];
    const behind: { readonly ms: number; readonly what: string }[] = [];
    const compare = async () => {
      for (const one of watched) {
        const far = one.socket !== here;
        const truth = await truthOf(setting, one, far && isHostDown);
        const now = shown(one.thread).split(' ')[0] ?? '';
        compared++;
        if (now === truth) {
          const { since = Date.now(), shown: was, truth: is } = one.wrong ?? {};
          if (one.wrong !== undefined) behind.push({ ms: Date.now() - since, what: `${one.name} ${was} → ${is}` });
          one.wrong = undefined;
          continue;
        }
        one.wrong ??= { since: Date.now(), shown: now, truth };
        const span = Date.now() - one.wrong.since;
        if (span > LONGEST_WRONG_MS) late.push(`${one.name}: shown ${now}, truth ${truth}, for ${span} ms`);
      }
    };
    let isOver = false;
    const watching = (async () => {
      for (; !isOver; await sleep(EVERY_MS)) await compare();
    })();
    onTestFinished(() => {
      isOver = true;
    });

    const parts: (() => Promise<unknown>)[] = [
      async () => {
        await demo.submit('slow 3');
        await untilShown(demo.thread, /^working/);
        await demo.idle();
      },
      async () => {
        await demo.submit(`bash touch made-${compared}`);
        await untilShown(demo.thread, /^needs_person permission/);
        await onScreen(demo);
        demo.press('Enter');
        await demo.idle();
      },
      async () => {
        await demo.submit('ask');
        await untilShown(demo.thread, /^needs_person question/);
        await onScreen(demo);
        demo.press('Escape');
        await demo.idle();
      },
      async () => {
        demo.type('/cost');
        await sleep(500);
        demo.press('Enter');
        await untilShown(demo.thread, /^needs_person dialog/);
        await sleep(1_500);
        demo.press('Escape');
        await demo.idle();
      },
      async () => {
        demo.type('/model');
        await sleep(500);
        demo.press('Enter');
        await untilShown(demo.thread, /^needs_person dialog/);
        await demo.say('written while the list is open');
        await sleep(1_500);
        demo.press('Escape');
        await vi.waitFor(() => expect(demo.prompts().at(-1)).toBe('written while the list is open'), PATIENCE);
        await demo.idle();
      },
      async () => {
        demo.type('half-written');
        await vi.waitFor(async () => expect(await demo.read()).toMatchObject({ kind: 'draft' }), PATIENCE);
        await demo.submit('while a draft is there');
        await sleep(1_500);
        demo.press('C-u');
        await demo.idle();
      },
      async () => {
        lab.tmux('copy-mode', '-t', '=demo:');
        await sleep(1_000);
        await demo.submit('slow 1');
        await demo.idle();
      },
      async () => {
        await web.submit('slow 2');
        await web.idle();
        await web.submit(`bash touch made-${compared}`);
        await untilShown(web.thread, /^needs_person permission/);
        await onScreen(web);
        await tmux(setting.socket, 'send-keys', '-t', '=web:', 'Escape');
        await web.idle();
      },
      async () => {
        isHostDown = true;
        await ssh.stop();
        await untilShown(web.thread, /^unreachable/);
        await sleep(2_000);
        const before = lab.log().split('state=reachable').length;
        await ssh.start(ssh.port);
        // We try to connect with growing pauses.
        await vi.waitFor(() => expect(lab.log().split('state=reachable').length).toBeGreaterThan(before), PATIENCE);
        isHostDown = false;
        await untilShown(web.thread, /^idle/);
      },
      async () => {
        const name = `born-${compared}`;
        await lab.person.say(lab.channelId, `!new ${name} ${lab.project}`);
        const one = await lab.find(name);
        const born = watch(one, here, true);
        await one.idle();
        await untilShown(one.thread, /^idle/);
        lab.tmux('kill-session', '-t', `=${name}`);
        await untilShown(one.thread, /^ended/);
        await sleep(1_000);
        watched.splice(watched.indexOf(born), 1);
      },
      async () => {
        const name = `shell-${compared}`;
        const one = await lab.start(name);
        const left = watch(one, here);
        one.type('/exit');
        await sleep(500);
        one.press('Enter');
        await untilShown(one.thread, /^shell/);
        await sleep(1_000);
        lab.tmux('kill-session', '-t', `=${name}`);
        await untilShown(one.thread, /^ended/);
        watched.splice(watched.indexOf(left), 1);
      },
    ];
    const until = Date.now() + SECONDS * 1_000;
    let rounds = 0;
    do {
      for (const part of parts) if (rounds === 0 || Date.now() < until) await part();
      rounds++;
    } while (Date.now() < until);
    isOver = true;
    await watching;
    const worst = behind.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
    const words = worst.map(({ ms, what }) => `${what} ${ms} ms`).join(', ');
    process.stdout.write(`${compared} comparisons in ${rounds} rounds, ${behind.length} times behind: ${words}\n`);
    expect(late).toEqual([]);
  },
  (SECONDS + 240) * 1_000,
);

/** Read with nothing of ours but the list of what is typed: the words on the screen, as a person sees them. */
async function truthOf({ lab }: LabWithHost, one: Watched, isAway: boolean): Promise<string> {
  if (isAway) return 'unreachable';
  const format = '#{pane_dead} #{pane_current_command}';
  const target = `=${one.name}:`;
  const printed = await tmux(
    one.socket,
    'display-message',
    '-p',
    '-t',
    target,
    format,
    ';',
    'capture-pane',
    '-p',
    '-t',
    target,
  );
  if (printed === undefined || printed.startsWith('1')) return 'ended';
  const [facts = '', ...lines] = printed.trimEnd().split('\n');
  const text = lines.slice(-16).join('\n');
  const dialog = /\b(?:Esc|Enter) to (?:cancel|close|exit|select|confirm|set|continue)\b|^ *❯ \d\. /m.test(text);
  const box = lines.findLastIndex((line) => /^❯(?:\u00a0|$)/u.test(line));
  const isBox = box > 0 && /^─{10}/.test(lines[box - 1] ?? '') && !dialog;
  if (isBox || dialog) one.isNew = false;
  if (dialog) return 'needs_person';
  if (messagesFor(lab.dir, one.thread)) return 'delivering';
  if (one.isNew) return 'starting';
  if (/^\d (?:ba)?sh$/.test(facts) && lines.at(-1)?.endsWith('$')) return 'shell';
  return /esc to interrupt|^[·✢✳✶✻✽∗*] \S.*…/m.test(lines.slice(-24).join('\n')) ? 'working' : 'idle';
}

/** Whether the inbox has a message for the thread that is not typed yet. */
function messagesFor(dir: string, thread: string): boolean {
  const home = openHome(join(dir, 'home/.threadmux'));
  const typed = loadThreadRecords(home).find((one) => one.thread === thread)?.deliveries ?? [];
  return readdirSync(home.folder('inbox'))
    .filter((name) => /^\d+\.json$/.test(name))
    .flatMap((name) => readIfThere(home.path('inbox', name)))
    .some(
      (message) => message.channelId === thread && !typed.some(({ id }) => id === (message.deliveryId ?? message.id)),
    );
}

function readIfThere(path: string): readonly { channelId: string; id: string; deliveryId?: string }[] {
  try {
    return [JSON.parse(readFileSync(path, 'utf8'))];
  } catch {
    return []; // typed in the meantime
  }
}

function tmux(socket: string, ...args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('tmux', ['-u', '-S', socket, ...args], { encoding: 'utf8' }, (error, printed) =>
      resolve(error === null ? printed : undefined),
    );
  });
}
