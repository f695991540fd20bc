// The plugin as a user installs it with Claude Code's own commands, from a marketplace. `!new` and headless agents have hooks of their own:
// everything is still reported once.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ClaudeLab, claudePackage, type LabSession, PLUGIN, startClaudeLab } from '../../../support/claude-lab.ts';
import { declineAutoMode } from '../../../support/far-lab.ts';
import { PATIENCE } from '../../../support/lab-session.ts';
import { buttonOf } from '../../../support/prompt-pane.ts';

const MARKETPLACE = fileURLToPath(new URL('../../../../.claude-plugin', import.meta.url));
const CLAUDE = join(claudePackage(), 'node_modules/.bin/claude');

let lab: ClaudeLab;
let both: LabSession;

beforeAll(async () => {
  lab = await startClaudeLab();
  await lab.start('demo'); // starts the model
  const permissions = { defaultMode: 'default', allow: ['mcp__plugin_threadmux_threadmux'] };
  writeFileSync(join(lab.dir, 'home/.claude/settings.json'), JSON.stringify({ permissions }));
  // Without the program beside it, as Claude Code gets it from a repository.
  const market = join(lab.dir, 'market');
  cpSync(MARKETPLACE, join(market, '.claude-plugin'), { recursive: true });
  cpSync(PLUGIN, join(market, 'plugin'), { recursive: true });
  const plugin = (...args: string[]) =>
    execFileSync(CLAUDE, ['plugin', ...args], { env: lab.env, encoding: 'utf8', stdio: 'pipe' });
  plugin('marketplace', 'add', market);
  plugin('install', 'threadmux@threadmux');
  await lab.person.say(lab.channelId, `!new both ${lab.project}`);
  both = await lab.find('both');
  await declineAutoMode({ socket: join(lab.dir, 'tmux.sock') }, 'both');
  await both.idle();
});
afterAll(() => lab?.stop());

async function allowed(session: LabSession, file: string): Promise<void> {
  await session.idle();
  await session.submit(`bash touch ${file}`);
  const [, card] = await session.next(/Running it/, new RegExp(`touch ${file}`));
  if (card === undefined) throw new Error('no card');
  await lab.person.tap(session.thread, card.id, buttonOf(card, 'Allow'));
  await session.next(/Done/);
  expect(existsSync(join(lab.project, file))).toBe(true);
}

it('a session of `!new` reports its start and its replies once, and asks for a permission once', async () => {
  const first = (await both.news()).map(({ content }) => content);
  expect(first.filter((content) => !content.includes('auto mode'))).toEqual([expect.stringMatching(/Claude started/)]);
  // Its card changes when the question is answered.
  await both.next(...first.map((content) => (content.includes('auto mode') ? /auto mode/ : content)));
  both.type('hello from the desk');
  await vi.waitFor(() => expect(both.screen()).toContain('hello from the desk'), PATIENCE);
  both.press('Enter');
  await both.next(/Echo: hello from the desk/);
  await both.submit('hello from the thread');
  await both.next(/Echo: hello from the thread/);
  await allowed(both, 'made-by-both');
});

it('a session of `!new` has the tools of the plugin', async () => {
  await both.idle();
  await both.submit('tool mcp__plugin_threadmux_threadmux__list_sessions {"prefix":"bo"}');
  await both.next(/Done\. The tool said: .*"session":"both"/s);
});

it('a session that is started by hand reports through the plugin', async () => {
  const line = `. ${lab.dir}/env.sh; exec claude`;
  lab.tmux('new-session', '-d', '-s', 'hand', '-x', '120', '-y', '40', '-c', lab.project, line);
  const hand = await lab.find('hand');
  await hand.idle();
  await hand.next(/Claude started/);
  await allowed(hand, 'made-by-hand');
});

it('a headless agent asks for a permission once', async () => {
  const { person, channelId } = lab;
  await person.say(channelId, '!agent project bash touch made-headless');
  const thread = await vi.waitFor(async () => {
    const said = (await person.messages(channelId)).find(({ content }) => content.includes('`project-agent`'));
    return /<#(\d+)>/.exec(said?.content ?? '')?.[1] ?? expect.fail('no headless agent yet');
  }, PATIENCE);
  const cards = async () => (await person.messages(thread)).filter(({ content }) => /wants to use/.test(content));
  const card = await vi.waitFor(async () => (await cards())[0] ?? expect.fail('no card yet'), PATIENCE);
  await person.tap(thread, card.id, buttonOf(card, 'Allow'));
  await vi.waitFor(async () => {
    const said = (await person.messages(thread)).map(({ content }) => content);
    expect(said).toContainEqual(expect.stringMatching(/^✅ \d+ turns?/));
  }, PATIENCE);
  expect(existsSync(join(lab.project, 'made-headless'))).toBe(true);
  expect(await cards()).toHaveLength(1);
});
