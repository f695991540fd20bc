import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LaunchOptions } from '../../../agents/driver.ts';
import { gemini } from '../../../agents/gemini/driver.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/hooks/gemini-0.61.0');
const input = (name: string) => JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));

describe('the input of a hook of Gemini CLI', () => {
  it.each([
    ['SessionStart', { event: 'started', source: 'startup' }],
    ['BeforeAgent', { event: 'submitted', prompt: 'hello there' }],
    ['BeforeTool.run_shell_command', { event: 'tool', name: 'Bash', input: { command: 'curl http://127.0.0.1:1/' } }],
    ['BeforeTool.write_file', { event: 'tool', name: 'Write', input: { file_path: 'written.txt' } }],
    ['BeforeTool.ask_user', { event: 'tool', name: 'AskUserQuestion' }],
    ['Notification.exec', { event: 'waiting' }],
    ['Notification.edit', { event: 'waiting' }],
    ['Notification.ask_user', { event: 'waiting' }],
    ['AfterAgent', { event: 'idle', text: 'Echo: hello there' }],
    ['SessionEnd', { event: 'ended', reason: 'exit' }],
  ])('%s', (name, event) => {
    const session = 'cb4a5b81-3255-42ee-af66-f48a258b0a2d';
    expect(gemini.readEvent(input(name))).toMatchObject({ ...event, session, cwd: '/home/user/project' });
  });

  it('is the prompt without the files that it names', () => {
    const prompt =
      '@notes.md look\n--- Content from referenced files ---\nContent from @notes.md:\nx\n--- End of content ---';
    expect(gemini.readEvent({ ...input('BeforeAgent'), prompt })).toMatchObject({ prompt: '@notes.md look' });
  });

  it('has no text after an interruption or a failure', () => {
    const ended = gemini.readEvent({ ...input('AfterAgent'), prompt_response: '[no response text]' });
    expect(ended).toMatchObject({ event: 'idle' });
    expect(ended).not.toHaveProperty('text');
  });

  it('of an unknown event is not used, and one without its fields is refused', () => {
    expect(gemini.readEvent({ hook_event_name: 'AfterModel' })).toBeUndefined();
    expect(gemini.readEvent({ ...input('Notification.exec'), notification_type: 'Other' })).toBeUndefined();
    expect(() => gemini.readEvent({ hook_event_name: 'BeforeAgent' })).toThrow();
  });
});

describe('the extension', () => {
  const paths = { scripts: "/opt/it's/hooks", home: '/home/user/.threadmux' };

  it('runs `drop` for every event, and nothing that waits', () => {
    const files = gemini.extension?.files(paths) ?? {};
    expect(Object.keys(files)).toEqual(['gemini-extension.json', 'hooks/hooks.json']);
    const { hooks } = JSON.parse(files['hooks/hooks.json'] ?? '');
    expect(Object.keys(hooks)).toContain('AfterAgent');
    for (const [
      {
        hooks: [hook],
      },
    ] of Object.values(hooks) as [{ hooks: [{ command: string }] }][])
      expect(hook.command).toBe(String.raw`THREADMUX_HOME='/home/user/.threadmux' '/opt/it'\''s/hooks/drop' gemini`);
  });

  it('has its own folder for every machine that uses a host', () => {
    expect(gemini.extension?.folder(paths)).toBe('.gemini/extensions/threadmux');
    const other = { ...paths, home: '/home/user/.threadmux/for/Desk.top' };
    expect(gemini.extension?.folder(other)).toBe('.gemini/extensions/threadmux-desk-top');
    expect(gemini.extension?.files(other)['gemini-extension.json']).toContain('"threadmux-desk-top"');
  });
});

describe('a start', () => {
  const options: LaunchOptions = {
    command: ['gemini'],
    settings: {},
    scripts: '/s',
    home: '/h',
    directory: '/d',
  };

  it('takes the model, the mode and the conversation', () => {
    const settings: LaunchOptions['settings'] = { model: 'flash', permissionMode: 'acceptEdits', args: ['--debug'] };
    expect(gemini.launch({ ...options, settings, resume: 'newest' }).argv).toEqual([
      ...['gemini', '--model', 'flash', '--approval-mode', 'auto_edit', '--resume', 'latest', '--debug'],
    ]);
    expect(gemini.launch({ ...options, resume: { session: 'abc' } }).argv).toEqual(['gemini', '--resume', 'abc']);
  });

  it('says what is missing without the extension', () => {
    expect(gemini.launch(options).weaker).toBeUndefined();
    expect(gemini.launch({ ...options, hasExtension: true }).weaker).toBeUndefined();
    const missing = { ...options, hasExtension: false };
    expect(gemini.launch(missing).weaker).toContain('Run "threadmux install --agent gemini"');
    expect(gemini.launch({ ...missing, host: 'mini' }).weaker).toContain(
      '"threadmux install --host mini --agent gemini"',
    );
  });
});
