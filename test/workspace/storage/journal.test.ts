import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Memory, openMemory } from '../../../workspace/storage/journal.ts';
import {
  findMessage,
  type StoredMessage,
  spliceBetween,
  spliced,
  type WorkspaceState,
} from '../../../workspace/storage/store.ts';
import { beyondLimits, KEPT, openUploads, type Uploads } from '../../../workspace/storage/uploads.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace } from '../../support/workspace.ts';

const CHANNEL = '100000000000000000';

const makePath = () => join(tempFolder(), 'journal.jsonl');

function open(path: string, log: (line: string) => void = () => {}): Memory {
  const memory = openMemory(path, log);
  onTestFinished(() => memory.close());
  return memory;
}

const message = (id: string, content: string, more: Partial<StoredMessage> = {}): StoredMessage => ({
  id,
  channel_id: CHANNEL,
  author: '1',
  type: 0,
  content,
  edited_timestamp: null,
  attachments: [],
  embeds: [],
  components: [],
  mentions: [],
  mention_roles: [],
  mention_everyone: false,
  flags: 0,
  reactions: [],
  ...more,
});
const put = (memory: Memory, one: StoredMessage) => memory.commit({ t: 'message', message: one });
const lineOf = (one: StoredMessage) => `${JSON.stringify({ t: 'message', message: one })}\n`;
const idOf = (n: number) => String(10n ** 17n + BigInt(n));
const plain = ({ messages, threads, nonces, lastId }: WorkspaceState) => ({
  messages: [...messages],
  threads: [...threads],
  nonces: [...nonces],
  lastId,
});

describe('an edit', () => {
  it('costs the journal about as much as it changes, not the whole message', () => {
    const path = makePath();
    const memory = open(path);
    let one = message(memory.nextId(), 'x'.repeat(1_900), { nonce: 'n' });
    put(memory, one);
    const before = statSync(path).size;
    for (let n = 0; n < 50; n++) {
      one = { ...one, content: `${one.content}\n${n}`, edited_timestamp: '2026-01-01T00:00:00.000Z' };
      put(memory, one);
    }
    one = { ...one, reactions: [{ name: '✅', users: ['1'] }] };
    put(memory, one);
    expect((statSync(path).size - before) / 51).toBeLessThan(200);
    const state = plain(memory.state);
    expect(findMessage(memory.state, CHANNEL, one.id)).toEqual(one);
    memory.close();
    expect(plain(open(path).state)).toEqual(state);
  });

  it('is stored exactly, whatever the texts', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[ab😀]{0,8}$/u));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const stored = JSON.parse(JSON.stringify(spliceBetween(before, after)));
        expect(spliced(before, stored)).toBe(after);
      }),
    );
  });
});

describe('the journal of a running workspace', () => {
  it('stays small through 5,000 edits, and is the same after a restart', async () => {
    const path = makePath();
    const memory = open(path);
    const one = message(memory.nextId(), '');
    put(memory, one);
    let largest = 0;
    for (let n = 0; n < 5_000; n++) {
      put(memory, { ...one, content: `${n} `.repeat(300) });
      largest = Math.max(largest, statSync(path).size);
      if (n % 100 === 0) await vi.waitFor(() => expect(existsSync(`${path}.new`)).toBe(false));
    }
    expect(largest).toBeLessThan(500_000); // whole messages would be 9 MB
    await vi.waitFor(() => expect(statSync(path).size).toBeLessThan(50_000));
    const state = plain(memory.state);
    memory.close();
    expect(plain(open(path).state)).toEqual(state);
    expect(readdirSync(join(path, '..'))).toEqual(['journal.jsonl']);
  });

  it('does not block while 10,000 messages are compacted, and keeps what is written meanwhile', async () => {
    const path = makePath();
    const all = Array.from({ length: 10_000 }, (_, n) => message(idOf(n), 'w'.repeat(500)));
    // Three times, so that compaction is worthwhile.
    const lines = all.map(lineOf).join('');
    writeFileSync(path, lines + lines + lines);
    const memory = open(path);
    let turns = 0;
    while (statSync(path).size > lines.length * 2) {
      put(memory, message(memory.nextId(), `while compacting ${turns++}`));
      await turn();
    }
    expect(turns).toBeGreaterThan(20);
    const state = plain(memory.state);
    expect(memory.state.messages.get(CHANNEL)).toHaveLength(10_000 + turns);
    memory.close();
    expect(plain(open(path).state)).toEqual(state);
  });

  it('continues uncompacted when compaction fails, and says so', async () => {
    const path = makePath();
    const said: string[] = [];
    const memory = open(path, (line) => said.push(line));
    mkdirSync(`${path}.new`);
    const one = message(memory.nextId(), '');
    for (let n = 0; n < 300; n++) put(memory, { ...one, content: `${n} `.repeat(100) });
    await vi.waitFor(() => expect(said).toHaveLength(1));
    rmSync(`${path}.new`, { recursive: true });
    const size = statSync(path).size;
    for (let n = 0; n < 600; n++) {
      put(memory, { ...one, content: `${n} `.repeat(100) });
      await turn();
    }
    await vi.waitFor(() => expect(statSync(path).size).toBeLessThan(size));
    expect(said).toHaveLength(1);
  });

  it('leaves nothing behind when it is closed during compaction', async () => {
    const path = makePath();
    const lines = Array.from({ length: 3_000 }, (_, n) => lineOf(message(idOf(n), 'x'.repeat(300))));
    writeFileSync(path, lines.join('').repeat(3));
    const memory = open(path);
    await turn();
    expect(existsSync(`${path}.new`)).toBe(true);
    const state = plain(memory.state);
    memory.close();
    expect(plain(open(path).state)).toEqual(state);
  });
});

describe('the stored data', () => {
  const stateOf = (channels: Record<string, number[]>) =>
    ({
      messages: new Map(Object.entries(channels).map(([id, ns]) => [id, ns.map((n) => message(idOf(n), ''))])),
    }) as unknown as WorkspaceState;

  it.each([
    ['everything within the limits', { a: [1, 2, 3], b: [4] }, []],
    ['the newest of a channel', { a: [1, 2, 3, 4, 5], b: [] }, [1, 2]],
    ['the newest of all', { a: [3, 4, 6], b: [1, 2], c: [5] }, [1]],
    ['both at once', { a: [1, 7, 8, 9], b: [2, 3, 4] }, [1, 2]],
  ])('contains %s', (_, channels, gone) => {
    const excess = beyondLimits(stateOf(channels), 'a', { perChannel: 3, altogether: 5 });
    expect(excess.map(({ id }) => id)).toEqual(gone.map(idOf));
  });

  it('contains the newest 20,000 messages of a thread, and their files', async () => {
    const first = await startTestWorkspace();
    const { channelId, dir } = first;
    const said = await first.person.say(channelId, 'the first', { files: [{ name: 'a.txt', data: 'x' }] });
    await first.close();
    const filler = Array.from({ length: KEPT.perChannel - 1 }, (_, n) =>
      lineOf(message(String(BigInt(said.id) + BigInt(n) + 10n), 'y', { channel_id: channelId })),
    );
    appendFileSync(join(dir, 'journal.jsonl'), filler.join(''));
    const second = await startTestWorkspace({ dir });
    expect(readdirSync(join(dir, 'files'))).toHaveLength(1);
    await second.person.say(channelId, 'one more');
    const oldest = await second.person.messages(channelId, 'after=0&limit=1');
    expect(oldest).toMatchObject([{ content: 'y' }]);
    expect(readdirSync(join(dir, 'files'))).toEqual([]);
  });

  it('contains the newest files up to their limit, also those of an earlier process', () => {
    const dir = dirname(makePath());
    const sizes = (from: number, to: number, uploads: Uploads) => {
      for (let n = from; n <= to; n++) uploads.keep(idOf(n), new Uint8Array(4));
      return readdirSync(dir).sort();
    };
    expect(sizes(1, 4, openUploads(dir, 12))).toEqual([2, 3, 4].map(idOf));
    const again = openUploads(dir, 12);
    again.forget(idOf(4));
    expect(sizes(5, 6, again)).toEqual([3, 5, 6].map(idOf));
    again.keep(idOf(7), new Uint8Array(99));
    expect(readdirSync(dir)).toEqual([idOf(7)]);
  });

  it('contains no files of deleted messages, nor files without a message', async () => {
    const workspace = await startTestWorkspace();
    const { channelId, dir, person } = workspace;
    const files = [{ name: 'a.txt', data: 'x' }];
    const there = () => readdirSync(join(dir, 'files')).length;
    const deleted = await person.say(channelId, 'deleted', { files });
    const edited = await person.say(channelId, 'edited', { files });
    const thread = await person.startThread(channelId, deleted.id, 't');
    await person.say(thread.id, 'in a thread', { files });
    expect(there()).toBe(3);
    await person.call('DELETE', `/channels/${channelId}/messages/${deleted.id}`);
    expect(there()).toBe(2);
    await person.call('PATCH', `/channels/${channelId}/messages/${edited.id}`, { attachments: [] });
    expect(there()).toBe(1);
    await person.call('DELETE', `/channels/${thread.id}`);
    expect(there()).toBe(0);
    await person.say(channelId, 'kept', { files });
    await workspace.close();
    writeFileSync(join(dir, 'files', '123'), 'left by a crash');
    await startTestWorkspace({ dir });
    expect(there()).toBe(1);
    expect(readFileSync(join(dir, 'journal.jsonl'), 'utf8')).toContain('kept');
  });
});
