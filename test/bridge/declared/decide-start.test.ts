import { describe, expect, it } from 'vitest';
import {
  afterLook,
  atBridgeStart,
  type DeclaredMemory,
  decideStart,
  NOTHING_KNOWN,
  type SeenRun,
  whyNot,
} from '../../../bridge/declared/decide-start.ts';
import { findDeclared } from '../../../bridge/declared/declared-list.ts';
import { findRun } from '../../../bridge/declared/find-run.ts';
import type { RunPane } from '../../../tmux/session-runs.ts';

const NOW = 10_000_000;
const run = { serverPid: 7, sessionId: '$1', createdAt: 1_000, paneId: '%1' };
const other = { ...run, sessionId: '$2' };
const memory = (more: Partial<DeclaredMemory> = {}): DeclaredMemory => ({ ...NOTHING_KNOWN, ...more });
const gone: SeenRun = { is: 'gone' };
const exited = (status: number | undefined): SeenRun => ({ is: 'exited', run, status });

describe('what a look means', () => {
  const facts = { now: NOW, isMarked: false, isFirst: false };
  it.each([
    ['it runs', memory(), { is: 'alive', run } as const, {}, 'nothing', memory({ run })],
    [
      'somebody started it again',
      memory({ ended: run, crashes: [1], givenUp: true }),
      { is: 'alive', run: other } as const,
      {},
      'nothing',
      memory({ run: other }),
    ],
    [
      'it is being ended',
      memory({ run, ended: run }),
      { is: 'alive', run } as const,
      {},
      'nothing',
      memory({ run, ended: run }),
    ],
    ['it was ended', memory({ run, ended: run }), gone, {}, 'nothing', memory({ ended: run })],
    ['its agent exited with 0', memory({ run }), exited(0), {}, 'ended', memory({ ended: run })],
    ['its agent exited with 1', memory({ run }), exited(1), {}, 'crashed', memory({ crashes: [NOW], crashed: run })],
    [
      'a signal ended its agent',
      memory({ run }),
      exited(undefined),
      {},
      'crashed',
      memory({ crashes: [NOW], crashed: run }),
    ],
    [
      'its agent exited while nobody watched',
      memory({ run }),
      exited(1),
      { isFirst: true },
      'crashed',
      memory({ crashes: [NOW], crashed: run }),
    ],
    ['its tmux session was closed', memory({ run }), gone, {}, 'crashed', memory({ crashes: [NOW], crashed: run })],
    ['threadmux kill ended it', memory({ run }), gone, { isMarked: true }, 'ended', memory({ ended: run })],
    [
      'threadmux kill ended it while the bridge was down',
      memory(),
      gone,
      { isMarked: true, isFirst: true },
      'nothing',
      memory({ ended: 'before' }),
    ],
    ['the machine was restarted', memory({ run }), gone, { isFirst: true }, 'nothing', memory()],
    ['it never ran', memory(), gone, {}, 'nothing', memory()],
    [
      'crashes of long ago',
      memory({ run, crashes: [NOW - 3_600_000, NOW - 1] }),
      gone,
      {},
      'crashed',
      memory({ crashes: [NOW - 1, NOW], crashed: run }),
    ],
    [
      'it crashed before, and its pane is still there',
      memory({ crashes: [1], crashed: run }),
      exited(1),
      {},
      'nothing',
      memory({ crashes: [1], crashed: run }),
    ],
  ] as const)('%s', (_, before, seen, more, happened, after) => {
    expect(afterLook(before, seen, { ...facts, ...more })).toEqual({ memory: after, happened });
  });
});

describe('whether a declared session starts', () => {
  const facts = { start: 'auto', isThere: false, memory: memory(), now: NOW } as const;
  const crashes = (count: number, ago: number) => memory({ crashes: Array.from({ length: count }, () => NOW - ago) });
  it.each([
    ['it does not run', {}, { do: 'start' }],
    ['it runs', { isThere: true }, { do: 'nothing' }],
    ['its host could not be asked', { isThere: undefined }, { do: 'nothing' }],
    ['it is manual', { start: 'manual' }, { do: 'nothing' }],
    ['it was ended on purpose', { memory: memory({ ended: run }) }, { do: 'nothing' }],
    ['it was stopped when it did not run', { memory: memory({ ended: 'before' }) }, { do: 'nothing' }],
    ['it was given up', { memory: memory({ givenUp: true }) }, { do: 'nothing' }],
    ['the first crash, just now', { memory: crashes(1, 0) }, { do: 'wait', until: NOW + 1_000 }],
    ['the first crash, a second ago', { memory: crashes(1, 1_000) }, { do: 'start' }],
    ['the second crash: a longer pause', { memory: crashes(2, 1_000) }, { do: 'wait', until: NOW + 4_000 }],
    ['the fourth crash', { memory: crashes(4, 0) }, { do: 'wait', until: NOW + 120_000 }],
    ['the fifth within an hour', { memory: crashes(5, 0) }, { do: 'give up' }],
    ['five, more than an hour ago', { memory: crashes(5, 3_600_000) }, { do: 'start' }],
  ] as const)('%s', (_, more, decision) => {
    expect(decideStart({ ...facts, ...more })).toEqual(decision);
  });

  it('is tried again when the bridge starts more than an hour after it was given up', () => {
    expect(atBridgeStart(memory({ givenUp: true, crashes: [NOW - 3_600_000] }), NOW)).toEqual(memory());
    const recent = memory({ givenUp: true, crashes: [NOW - 1] });
    expect(atBridgeStart(recent, NOW)).toEqual(recent);
  });

  it.each([
    ['auto', memory(), false, 'starting'],
    ['auto', memory({ ended: run }), false, 'stopped'],
    ['auto', memory({ givenUp: true }), false, 'given up'],
    ['manual', memory(), false, 'manual'],
    ['manual', memory(), true, 'starting'],
  ] as const)('says why it does not run: %s', (start, known, isStarting, why) => {
    expect(whyNot(start, known, isStarting)).toBe(why);
  });
});

describe('finding the run', () => {
  const pane: RunPane = {
    ...run,
    socket: '/s',
    panePid: 9,
    sessionName: 'shop',
    group: undefined,
    started: undefined,
    command: 'sh',
    path: '/',
    dead: false,
    exitStatus: undefined,
  };
  it.each([
    ['by its name', [pane], undefined, 'alive'],
    ['under another name, by its ids', [{ ...pane, sessionName: 'old' }], run, 'alive'],
    ['not one that had the same id before', [{ ...pane, sessionName: 'old', createdAt: 2_000 }], run, 'gone'],
    ['by the name of its group', [{ ...pane, sessionName: 'shop-1', group: 'shop' }], undefined, 'alive'],
    ['not by the beginning of its name', [{ ...pane, sessionName: 'shop-1' }], undefined, 'gone'],
    [
      'exited, also if a split of it still runs',
      [
        { ...pane, dead: true },
        { ...pane, paneId: '%4' },
      ],
      run,
      'exited',
    ],
    ['running, if only a split of it has exited', [pane, { ...pane, paneId: '%4', dead: true }], run, 'alive'],
    [
      'running on another server, if this one has exited',
      [
        { ...pane, dead: true },
        { ...pane, serverPid: 8 },
      ],
      undefined,
      'alive',
    ],
  ] as const)('%s', (_, panes, last, is) => {
    expect(findRun('shop', panes, last).seen.is).toBe(is);
  });
});

describe('naming a declared session', () => {
  const place = (label: string, name: string, host: string, channel: string) =>
    ({ label, name, host, project: { channel } }) as never;
  const all = [
    place('shop', 'shop', 'here', '1'),
    place('shop@mini', 'shop', 'mini', '2'),
    place('web@mini', 'web', 'mini', '2'),
  ];
  it.each([
    ['shop', '1', 'shop'],
    ['shop', '2', 'shop'],
    ['shop@mini', '1', 'shop@mini'],
    ['shop@here', undefined, 'shop'],
    ['web', undefined, 'web@mini'],
    ['nobody', '1', undefined],
  ])('%s in channel %s', (text, channel, label) => {
    expect(findDeclared(text, all, channel)?.label).toBe(label);
  });
});
