// The view of all sessions in the page, at both sizes.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import { tempFolder } from '../support/temp-home.ts';
import { makeRepo } from '../support/worktree-repo.ts';
import { closeBrowserAtTheEnd, DESKTOP, openPage, PHONE, see } from './browser.ts';
import { startProgram } from './program.ts';

closeBrowserAtTheEnd();

describe.each([
  ['on a desktop', DESKTOP],
  ['on a phone', PHONE],
])('%s', (_, viewport) => {
  it('the view of all sessions starts and stops a declared session', async () => {
    const sessions = [{ name: 'web' }, { name: 'shop', start: 'manual' }, { name: 'docs', start: 'manual' }];
    const agent = join(tempFolder(), 'agent');
    writeFileSync(agent, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
    const program = await startProgram({ file: { agent: { command: [agent] }, sessions } });
    const { page } = await openPage({ viewport });
    await page.goto(program.link);
    await page.getByRole('button', { name: 'All sessions' }).click();
    const view = page.getByRole('dialog', { name: 'Sessions' });
    await see(view.getByText('not started'));
    await view.getByRole('button', { name: 'Start shop' }).click();
    await see(view.getByRole('button', { name: 'Stop shop' }));
    const wide = await view.evaluate((one) => {
      const element = one as unknown as { scrollWidth: number; clientWidth: number };
      return element.scrollWidth - element.clientWidth;
    });
    expect(wide).toBeLessThanOrEqual(0);
    await view.getByRole('button', { name: 'Stop shop' }).click();
    await see(view.getByText('stopped'));
    await vi.waitFor(() => expect(() => program.machine.tmux.call('has-session', '-t', '=shop')).toThrow(), 10_000);
  });

  it('the form starts a session in a project, with a model and a first message', async () => {
    const agent = recordingAgent();
    const path = join(tempFolder(), 'my shop');
    mkdirSync(path);
    const program = await startProgram({
      file: { agent: { command: [agent.program] }, projects: [{ path, name: 'shop', defaults: { model: 'opus' } }] },
    });
    const { page } = await openPage({ viewport });
    await page.goto(program.link);
    await page.getByRole('button', { name: 'New session' }).first().click();
    const form = page.getByRole('dialog', { name: 'New session' });
    // What can be chosen may come later than the page.
    await vi.waitFor(async () => expect(await form.getByLabel('Project').inputValue()).toBe('shop'), 20_000);
    expect(await form.getByLabel('Directory').getAttribute('placeholder')).toBe(path);
    expect(await form.getByLabel('Host').isVisible()).toBe(false);
    await form.getByRole('button', { name: 'Start' }).click();
    expect(await form.isVisible()).toBe(true); // the name is missing
    await form.getByLabel('Name').fill('cart');
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
    await vi.waitFor(() => expect(agent.started()).toEqual([path, '--model haiku --permission-mode plan']), 20_000);
    await see(page.getByText(/cart is up|has not reported/));
    await vi.waitFor(async () => {
      const [record] = loadThreadRecords(program.machine.home);
      const said = (await program.person.messages(record?.thread ?? '')).map(({ content }) => content);
      expect(said).toContain('Fix the cart.\nThen commit.');
    }, 30_000);
  });
});

it('the view lists a worktree that was kept, with a link to its thread', async () => {
  const agent = recordingAgent();
  const repo = makeRepo();
  const sessions = [{ name: 'web', directory: repo.path, worktree: true }];
  const program = await startProgram({ file: { agent: { command: [agent.program] }, sessions } });
  const { page } = await openPage({ viewport: DESKTOP });
  await page.goto(program.link);
  await page.getByRole('button', { name: 'All sessions' }).click();
  const view = page.getByRole('dialog', { name: 'Sessions' });
  await see(view.getByRole('button', { name: 'Stop web' }));
  await see(view.getByText(/threadmux\/web \(worktree\)/));
  const [at] = await vi.waitFor(agent.started, 20_000);
  writeFileSync(join(at, 'new.txt'), 'work\n');
  await view.getByRole('button', { name: 'Stop web' }).click();
  await see(view.getByRole('heading', { name: 'Worktrees without a session' }));
  await view.getByRole('link', { name: /\/web$/ }).click();
  await see(page.getByText(/The worktree is kept: it has 1 changed file/));
  await see(page.getByRole('button', { name: 'Show the diff' }));
});

/** Notes where and how it was started, without the settings that threadmux adds. */
function recordingAgent() {
  const folder = tempFolder();
  const program = join(folder, 'agent');
  const note = `pwd > ${folder}/new; printf '%s' "$*" | sed 's/--settings [^ ]* *//' >> ${folder}/new; mv ${folder}/new ${folder}/started`;
  writeFileSync(program, `#!/bin/sh\n${note}\nexec sleep 600\n`, { mode: 0o755 });
  return {
    program,
    started: () => readFileSync(join(folder, 'started'), 'utf8').split('\n') as [at: string, args: string],
  };
}
