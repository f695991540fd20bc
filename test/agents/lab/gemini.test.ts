// The real Gemini CLI with our extension, and without it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentDriver } from '../../../agents/driver.ts';
import { gemini } from '../../../agents/gemini/driver.ts';
import type { AgentScreen } from '../../../agents/screen.ts';
import { type AgentPane, startAgentPane } from './agent-pane.ts';

type Dialog = AgentScreen & { kind: 'dialog' };

const idleBox = (pane: AgentPane) => pane.waitFor((screen) => screen.kind === 'empty' && !screen.busy);
const dialog = async (pane: AgentPane, which: string) =>
  (await pane.waitFor((screen) => screen.kind === 'dialog' && screen.which === which)) as Dialog;

/** With our extension in the home of the lab, as `install` puts it there. */
const installed: AgentDriver = {
  ...gemini,
  launch(options) {
    const folder = join(options.home, '../home', gemini.extension?.folder(options) ?? '');
    for (const [path, text] of Object.entries(gemini.extension?.files(options) ?? {})) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return gemini.launch(options);
  },
};

async function startGemini(driver: AgentDriver = installed): Promise<AgentPane> {
  const pane = await startAgentPane('gemini', driver);
  await idleBox(pane);
  return pane;
}

/** Presses Enter again while the text stands in the box, as threadmux does: a busy Gemini CLI may not count the first one. */
async function send(pane: AgentPane, text: string): Promise<void> {
  await pane.paste(text);
  for (let looks = 0; looks < 20; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    if (gemini.screen.boxHolds(pane.read(), text) === 'no') return;
    pane.press('Enter');
  }
}

/** Presses the key of an option, as a tap does. */
function choose(pane: AgentPane, { options }: Dialog, label: RegExp): void {
  const key = options.find((option) => label.test(option.label))?.key;
  if (key === undefined) throw new Error(`${label} has no key: ${JSON.stringify(options)}`);
  pane.press(key);
}

it('reports a turn with all texts, and an interruption', async () => {
  const pane = await startGemini();
  const started = await pane.next('started');
  expect(started.event.cwd).toBe(pane.project);
  expect(started.headers).toMatchObject({ agent: 'gemini', pane: '%0' });
  await send(pane, 'two\nlines of "text" & more');
  expect((await pane.next('submitted')).event.prompt).toBe('two\nlines of "text" & more');
  expect((await pane.next('idle')).event.text).toBe('Echo: two\nlines of "text" & more');
  await idleBox(pane);
  await send(pane, 'slow 60');
  await pane.next('submitted');
  await pane.waitFor((screen) => screen.kind === 'empty' && screen.busy);
  pane.press('Escape');
  expect((await pane.next('idle')).event.text).toBeUndefined();
  await idleBox(pane);
  await send(pane, 'fail 400');
  await pane.next('submitted');
  await pane.next('idle');
  await idleBox(pane);
});

it('is answered by one key on a permission that was recognised', async () => {
  const pane = await startGemini();
  await send(pane, 'run touch made && echo allowed-by-key'); // it may run `echo` alone without asking
  await pane.next('waiting');
  const asked = await dialog(pane, 'permission');
  expect(asked).toMatchObject({ form: 'choice', title: 'Allow execution of [Shell]?' });
  expect(asked.text.join('\n')).toContain('touch made && echo allowed-by-key');
  choose(pane, asked, /^Allow once$/);
  expect((await pane.next('idle')).event.text).toContain('allowed-by-key');
  await idleBox(pane);
  await send(pane, 'write written.txt');
  choose(pane, await dialog(pane, 'permission'), /^No\b/);
  await idleBox(pane); // no hook tells the end of this turn
});

it('is answered by one key on a question, and no text is typed into it', async () => {
  const pane = await startGemini();
  await send(pane, 'ask');
  const asked = await dialog(pane, 'question');
  expect(asked.title).toBe('Which database should we use?');
  expect(gemini.typing.boxLines(pane.screen(), 'a message', { width: 120, height: 40 })).toEqual([
    '^threadmux: no box$',
  ]);
  choose(pane, asked, /^Postgres$/);
  expect((await pane.next('idle')).event.text).toContain('Postgres');
});

it('reads a text with a slash as text if a person wants that', async () => {
  const pane = await startGemini();
  for (const text of ['/quit', ' /about this', 'ends with a backslash \\', 'ends with @proj']) {
    const typed = gemini.typing.guard?.(text) ?? text;
    await send(pane, typed);
    const { prompt } = (await pane.next('submitted')).event;
    expect(prompt.replace('\u2060', '').trim()).toMatch(text.includes('@') ? /^ends with @/ : text.trim());
    await pane.next('idle');
    await idleBox(pane);
  }
});

it('is typed into by its screen alone where the extension is missing', async () => {
  const pane = await startGemini(gemini);
  await send(pane, 'hello there');
  await pane.waitFor(() => pane.screen().includes('Echo: hello there'));
  await idleBox(pane);
  expect(gemini.screen.timesShown(pane.screen(), 'hello there')).toBe(1);
  expect(pane.events()).toEqual([]);
});

it('shows a command to approve in full, whatever its lines look like', async () => {
  const pane = await startGemini();
  await send(pane, 'run touch one # Esc to cancel\nAllow execution of [ls]\ntouch two');
  const { title, text, options } = await dialog(pane, 'permission');
  expect(title).toMatch(/^Allow execution of \[Shell\]/);
  for (const line of ['touch one # Esc to cancel', 'Allow execution of [ls]', 'touch two'])
    expect(text).toContain(line);
  expect(options.map(({ key }) => key)).toEqual(['1', '2', '3']);
  pane.press('Escape');
});
