// The view of all sessions in the page, at both sizes.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import { shareAmongTests } from '../support/at-end.ts';
import { FAKE_CLAUDE, standInAt } from '../support/fake-claude.ts';
import { DROP } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { makeRepo } from '../support/worktree-repo.ts';
import { DESKTOP, openPage, PHONE, see } from './browser.ts';
import { startProgram } from './program.ts';

/** One program with declared sessions, one of them in a worktree, and a project; and one page. */
const shared = shareAmongTests(async () => {
  const agent = recordingAgent();
  const path = join(tempFolder(), 'my shop');
  mkdirSync(path);
  const sessions = [
    { name: 'web', directory: makeRepo().path, worktree: true },
    { name: 'shop', start: 'manual' },
    { name: 'docs', start: 'manual' },
  ];
  const projects = [{ path, name: 'shop', defaults: { model: 'opus' } }];
  const program = await startProgram({
    file: { agents: { claude: { command: [agent.program] } }, sessions, projects },
  });
  const { page } = await openPage();
  await page.goto(program.link);
  await see(page.locator('#sessions li')); // signed in
  return { program, page, agent, path };
});

/** The list of sessions, at this size. */
async function start(viewport: typeof DESKTOP) {
  const { page } = shared();
  await page.setViewportSize(viewport);
  await page.goto(shared().program.url);
  await see(page.getByRole('button', { name: 'All sessions' }));
  return shared();
}

describe.each([
  ['on a desktop', DESKTOP, { declared: 'shop', created: 'cart' }],
  ['on a phone', PHONE, { declared: 'docs', created: 'till' }],
])('%s', (_, viewport, { declared, created }) => {
  it('the view of all sessions starts and stops a declared session', async () => {
    const { program, page } = await start(viewport);
    await page.getByRole('button', { name: 'All sessions' }).click();
    const view = page.getByRole('dialog', { name: 'Sessions' });
    const row = view.getByRole('listitem').filter({ hasText: declared });
    await see(row.getByText(/not started|stopped/)); // stopped by an attempt that failed
    await view.getByRole('button', { name: `Start ${declared}` }).click();
    await see(view.getByRole('button', { name: `Stop ${declared}` }));
    const wide = await view.evaluate((one) => {
      const element = one as unknown as { scrollWidth: number; clientWidth: number };
      return element.scrollWidth - element.clientWidth;
    });
    expect(wide).toBeLessThanOrEqual(0);
    await view.getByRole('button', { name: `Stop ${declared}` }).click();
    await see(row.getByText('stopped'));
    await vi.waitFor(
      () => expect(() => program.machine.tmux.call('has-session', '-t', `=${declared}`)).toThrow(),
      10_000,
    );
  });

  it('the form starts a session in a project, with a model and a first message', async () => {
    const { program, page, agent, path } = await start(viewport);
    await page.getByRole('button', { name: 'New session' }).first().click();
    const form = page.getByRole('dialog', { name: 'New session' });
    // What can be chosen may come later than the page.
    await vi.waitFor(async () => expect(await form.getByLabel('Project').inputValue()).toBe('shop'), 20_000);
    expect(await form.getByLabel('Directory').getAttribute('placeholder')).toBe(path);
    expect(await form.getByLabel('Host').isVisible()).toBe(false);
    await form.getByRole('button', { name: 'Start' }).click();
    expect(await form.isVisible()).toBe(true); // the name is missing
    await form.getByLabel('Name').fill(created);
    await form.getByLabel('Model').fill('haiku');
    await form.getByLabel('Permission mode').selectOption('plan');
    await form.getByLabel('First message').fill('Fix the cart.\nThen commit.');
    const wide = await form.evaluate((one) => {
      const element = one as unknown as { scrollWidth: number; clientWidth: number };
      return element.scrollWidth - element.clientWidth;
    });
    expect(wide).toBeLessThanOrEqual(0);
    await form.getByRole('button', { name: 'Start' }).click();
    await form.waitFor({ state: 'hidden' });
    await see(page.getByText(`${created} is up`));
    expect(agent.started(created)).toEqual([path, '--model haiku --permission-mode plan']);
    await vi.waitFor(() => expect(agent.prompts(created)).toEqual(['Fix the cart.\nThen commit.']));
    const record = loadThreadRecords(program.machine.home).find(({ sessionName }) => sessionName === created);
    const said = (await program.person.messages(record?.thread ?? '')).map(({ content }) => content);
    expect(said).toContain('Fix the cart.\nThen commit.');
  });
});

it('the view lists a worktree that was kept, with a link to its thread', async () => {
  const { page, agent } = await start(DESKTOP);
  await page.getByRole('button', { name: 'All sessions' }).click();
  const view = page.getByRole('dialog', { name: 'Sessions' });
  const startAgain = view.getByRole('button', { name: 'Start web' });
  if (await startAgain.isVisible()) await startAgain.click(); // stopped by an attempt that failed
  await see(view.getByRole('button', { name: 'Stop web' }));
  await see(view.getByText(/threadmux\/web \(worktree\)/));
  const [at] = await vi.waitFor(() => agent.started('web'));
  writeFileSync(join(at, 'new.txt'), 'work\n');
  await view.getByRole('button', { name: 'Stop web' }).click();
  await see(view.getByRole('heading', { name: 'Worktrees without a session' }));
  await view.getByRole('link', { name: /\/web$/ }).click();
  await see(page.getByText(/The worktree is kept: it has 1 changed file/));
  await see(page.getByRole('button', { name: 'Show the diff' }));
});

/** A fake Claude Code that notes where and how it was started, without the settings that threadmux adds. */
function recordingAgent() {
  const folder = tempFolder();
  const program = join(folder, 'agent');
  const script = `#!/bin/sh
at="${folder}/$(tmux display-message -p -t "$TMUX_PANE" '#S')"
rm -rf "$at"; mkdir "$at"
pwd > "$at/new"
printf '%s' "$*" | sed 's/--settings [^ ]* *//' >> "$at/new"
mv "$at/new" "$at/started"
export THREADMUX_HOME="\${2%/state/*}" # its settings are there
exec ${process.execPath} ${FAKE_CLAUDE} "$at" ${DROP}
`;
  writeFileSync(program, script, { mode: 0o755 });
  return {
    program,
    started: (name: string) =>
      readFileSync(join(folder, name, 'started'), 'utf8').split('\n') as [at: string, args: string],
    prompts: (name: string) => standInAt(join(folder, name)).prompts(),
  };
}
