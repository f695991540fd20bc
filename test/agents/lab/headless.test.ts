// The real agents without a terminal: `!agent --agent codex`. Those that cannot are refused politely.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { driverOf } from '../../../agents/list.ts';
import type { WireMessage } from '../../support/workspace.ts';
import { type LabAgentName, labAgents } from './packages.ts';
import { LAB_PATIENCE, startThreadmuxLab, type ThreadmuxLab } from './threadmux-lab.ts';

let lab: ThreadmuxLab;
beforeAll(async () => {
  lab = await startThreadmuxLab(labAgents());
});
afterAll(() => lab?.stop());

/** The first message of the bot after this one that fits. */
async function answered(channel: string, after: WireMessage, what: RegExp): Promise<WireMessage> {
  return vi.waitFor(async () => {
    const all = (await lab.person.messages(channel, 'limit=100')).toReversed();
    const since = all.filter(({ id, author }) => BigInt(id) > BigInt(after.id) && author.id !== after.author.id);
    const found = since.find(({ content }) => what.test(content));
    expect(found, `${what}: ${JSON.stringify(since.map(({ content }) => content))}`).toBeDefined();
    return found as WireMessage;
  }, LAB_PATIENCE);
}

async function start(name: LabAgentName, prompt: string) {
  const project = join(lab.dir, name);
  mkdirSync(project, { recursive: true });
  const asked = await lab.person.say(lab.channelId, `!agent ${name} --agent ${name} ${prompt}`);
  const up = await answered(lab.channelId, asked, /is at work|cannot run/);
  const [, thread = ''] = /<#(\d+)>/.exec(up.content) ?? [];
  return { asked, up, thread, project };
}

const able = labAgents().filter((name) => driverOf(name).headless !== undefined);
const unable = labAgents().filter((name) => driverOf(name).headless === undefined);

// Every agent is in one of the two lists; AGENT_LAB_ONLY may leave one of them empty.
describe.each(able)('%s without a terminal', (name) => {
  it('answers, remembers its conversation, and tells its end each time', async () => {
    const { asked, thread } = await start(name, 'hello without a terminal');
    await answered(thread, asked, /^Echo: hello without a terminal$/);
    const end = await answered(thread, asked, /^✅ .*\d+ s/);
    const welcome = (await lab.person.messages(lab.channelId)).find(({ id }) => id === thread);
    expect(welcome?.content).toContain(`: ${driverOf(name).title}, without a terminal`);
    expect(welcome?.content).toContain('cannot ask for permission');
    const before = lab.model.requests.length;
    const second = await lab.person.say(thread, '/second !prompt $(touch hacked)');
    await answered(thread, second, /Echo: \/second !prompt \$\(touch hacked\)/);
    await answered(thread, second, /^✅ /);
    const bodies = lab.model.requests.slice(before).map(({ body }) => body);
    expect(bodies.some((body) => body.includes('hello without a terminal'))).toBe(true);
    expect(existsSync(join(lab.dir, name, 'hacked'))).toBe(false);
    expect(end.content).not.toContain('undefined');
  });

  it('shows its tools, and denies what would need a permission', async () => {
    const { asked, thread, project } = await start(name, 'run touch unasked.txt');
    await answered(thread, asked, /^✅ /);
    const all = (await lab.person.messages(thread)).map(({ content }) => content).join('\n');
    expect(all).toContain('Running it.');
    expect(existsSync(join(project, 'unasked.txt'))).toBe(false);
  });

  it('tells that its model failed, and is stopped by !stop', async () => {
    const { asked, thread } = await start(name, 'fail 401');
    await answered(thread, asked, /^⚠️ .*401/s);
    const slow = await lab.person.say(thread, 'slow 90');
    await vi.waitFor(() => expect(lab.model.requests.at(-1)?.body).toContain('slow 90'), LAB_PATIENCE);
    await lab.person.say(thread, '!stop');
    await answered(thread, slow, /^⏹️ Stopped after/);
  });
});

describe.each(unable)('%s without a terminal', (name) => {
  it('is refused, with what to do instead', async () => {
    const { up } = await start(name, 'hello');
    expect(up.content).toContain(`${driverOf(name).title} cannot run without a terminal.`);
    expect(up.content).toContain(`!new <name> --agent ${name}`);
    expect(up.content).toContain('--agent codex');
  });
});
