// The plugin in the real Claude Code: its hooks report, and Claude calls each tool once through MCP. The scripted model says which.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hookSettings } from '../../../../agents/claude/settings.ts';
import { TOOLS } from '../../../../bin/mcp/tool-definitions.ts';
import { type ClaudeLab, claudePackage, type LabSession, PLUGIN, startClaudeLab } from '../../../support/claude-lab.ts';
import { buttonOf } from '../../../support/prompt-pane.ts';

const PATIENCE = { timeout: 60_000, interval: 200 };
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const PROGRAM = join(ROOT, 'dist/bin/threadmux.js');
const CLAUDE = join(claudePackage(), 'node_modules/.bin/claude');

let lab: ClaudeLab;
let lead: LabSession;

beforeAll(async () => {
  lab = await startClaudeLab();
  lead = await lab.start('lead', { plugin: true });
});
afterAll(() => lab?.stop());

/** Lets Claude call a tool; returns what the tool said. */
async function use(tool: string, input: object): Promise<Record<string, unknown>> {
  await lead.idle();
  await lead.submit(`tool mcp__plugin_threadmux_threadmux__${tool} ${JSON.stringify(input)}`);
  return outcome();
}

async function outcome(): Promise<Record<string, unknown>> {
  const said = await vi.waitFor(async () => {
    const last = (await lead.news()).at(-1)?.content ?? '';
    const [, json] = /Done\. The tool said: (\{.*\})/s.exec(last) ?? [];
    if (json === undefined) throw new Error(`${last}\n${lead.screen()}`);
    return json;
  }, PATIENCE);
  await lead.next(...(await lead.news()).map(() => /[\s\S]*/));
  return JSON.parse(said);
}

describe('the plugin', () => {
  it('has the same hooks as `threadmux install`', () => {
    const plugin = JSON.parse(readFileSync(join(PLUGIN, 'hooks/hooks.json'), 'utf8'));
    const script = (command: string) => /^(exec )?.*\b(drop|ask)(?: # threadmux)?$/.exec(command)?.slice(1).join('');
    const plain = (hooks: object) =>
      JSON.parse(JSON.stringify(hooks), (key, value) => (key === 'command' ? script(value) : value));
    expect(plain(plugin)).toEqual(plain(hookSettings({ dist: '/x' })));
  });

  it('is valid for Claude Code', () => {
    for (const folder of [PLUGIN, ROOT]) {
      const said = execFileSync(CLAUDE, ['plugin', 'validate', folder], {
        encoding: 'utf8',
        env: { ...process.env, HOME: lab.dir },
      });
      expect(said).toContain('Validation passed');
    }
  });
});

describe('Claude with the plugin', () => {
  it('uses every tool for another session', async () => {
    await lead.next(/Claude started/);
    const started = await use('start_session', { name: 'helper', directory: lab.project, prompt: 'count to three' });
    expect(started).toMatchObject({ session: 'helper', created: true, prompt: 'submitted' });
    expect(await use('wait', { session: 'helper', timeout_seconds: 60 })).toMatchObject({
      state: 'idle',
      reply: 'Echo: count to three',
    });
    expect(await use('read_reply', { session: 'helper' })).toMatchObject({
      reply: 'Echo: count to three',
      finished: true,
    });
    expect(await use('send_message', { session: 'helper', text: 'slow 30' })).toEqual({ outcome: 'submitted' });
    expect(await use('interrupt_session', { session: 'helper' })).toEqual({ interrupted: true });
    const { sessions } = await use('list_sessions', { prefix: 'helper' });
    expect(sessions).toMatchObject([{ session: 'helper', own: false }]);
    const screen = await use('read_screen', { session: 'helper', lines: 1 });
    expect(screen).toMatchObject({ lines: 1, dead: false });
    expect(await use('stop_session', { session: 'helper' })).toEqual({ stopped: true });
    expect(lab.tmux('list-sessions', '-F', '#S').split('\n')).not.toContain('helper');
  });

  it('hears at once that another session takes a message later, and waits for the reply to it', async () => {
    await use('start_session', { name: 'busy', directory: lab.project, prompt: 'slow 25' });
    const queued = { session: 'busy', text: 'and then' };
    expect(await use('send_message', queued)).toEqual({ outcome: 'queued' });
    const { sessions } = await use('list_sessions', { prefix: 'busy' });
    expect(sessions).toMatchObject([{ session: 'busy', state: 'working' }]);
    expect((await lab.find('busy')).prompts()).toEqual(['slow 25']);
    expect(await use('wait', { session: 'busy', timeout_seconds: 60 })).toMatchObject({
      state: 'idle',
      reply: 'Echo: and then',
    });
    expect(await use('stop_session', { session: 'busy' })).toEqual({ stopped: true });
  });

  it('sends a file, notifies, and asks a person who taps', async () => {
    writeFileSync(join(lab.project, 'report.txt'), 'fine\n');
    expect(await use('send_file', { path: 'report.txt' })).toEqual({ sent: true });
    const all = await lab.person.messages(lead.thread);
    expect(all.flatMap(({ attachments }) => attachments.map(({ filename }) => filename))).toEqual(['report.txt']);
    expect(await use('notify', { text: 'half done' })).toEqual({ posted: true });
    await lead.idle();
    const input = { question: 'Deploy now?', options: ['yes', 'no'] };
    await lead.submit(`tool mcp__plugin_threadmux_threadmux__ask_person ${JSON.stringify(input)}`);
    const card = await vi.waitFor(async () => {
      const found = (await lab.person.messages(lead.thread)).find(
        ({ content }) => content.includes('Deploy now?') && content.startsWith('❓'),
      );
      if (found === undefined) throw new Error('no question yet');
      return found;
    }, PATIENCE);
    await lab.person.tap(lead.thread, card.id, buttonOf(card, '2. no'));
    expect(await outcome()).toEqual({ answer: 'no' });
    expect(TOOLS).toHaveLength(11);
  });
});

describe('install --plugin', () => {
  it('installs it with Claude Code itself, refuses the hooks beside it, and leaves nothing', () => {
    const home = mkdtempSync(join(tmpdir(), 'tm-plugin-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    mkdirSync(join(home, '.claude'));
    const settings = '{\n    "model": "opus"\n}\n';
    writeFileSync(join(home, '.claude/settings.json'), settings);
    mkdirSync(join(home, '.threadmux'), { mode: 0o700 });
    writeFileSync(join(home, '.threadmux/config.json'), JSON.stringify({ agents: { claude: { command: [CLAUDE] } } }), {
      mode: 0o600,
    });
    const env = { PATH: process.env.PATH ?? '', HOME: home, THREADMUX_TMUX_SOCKET: join(home, 'tmux') };
    const run = (...args: string[]) => {
      try {
        return execFileSync(process.execPath, [PROGRAM, ...args], { env, encoding: 'utf8', stdio: 'pipe' });
      } catch (error) {
        return String((error as { stderr: string }).stderr);
      }
    };
    expect(run('install', '--plugin', '--no-tmux')).toContain('installed the plugin');
    const installed = readFileSync(join(home, '.claude/plugins/installed_plugins.json'), 'utf8');
    expect(installed).toContain('threadmux@threadmux');
    expect(run('install', '--no-tmux')).toContain('the plugin is installed');
    expect(run('doctor')).toContain('has the hooks of the threadmux plugin');
    expect(run('uninstall', '--no-tmux')).toContain('removed the plugin');
    expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).toBe(settings);
    expect(existsSync(join(home, '.claude/plugins'))).toBe(false);
    expect(run('install', '--no-tmux')).toContain('settings.json');
    expect(run('install', '--plugin', '--no-tmux')).toContain('already in');
  });
});
