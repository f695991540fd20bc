// Claude's prompts, answered by tapping in the page while the real hook waits beside the dialog.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { shareAmongTests } from '../support/at-end.ts';
import { startFakeClaude } from '../support/fake-claude.ts';
import { decisionIn, startHook, startPromptPane } from '../support/prompt-pane.ts';
import { DESKTOP, openPage, PHONE, person, see } from './browser.ts';
import { startProgram } from './program.ts';

const shared = shareAmongTests(async () => {
  const program = await startProgram();
  const { page } = await openPage();
  await page.goto(program.link);
  return { program, page, you: person(page) };
});
let sessions = 100;

/** A session of its own for each test, in the same program and page. */
async function start(viewport: { width: number; height: number }) {
  const { program, page, you } = shared();
  const name = `s${++sessions}`; // none is the beginning of another
  const pane = await startPromptPane(program.machine, name);
  onTestFinished(() => void program.machine.tmux.call('kill-session', '-t', `=${name}`));
  await page.setViewportSize(viewport);
  await you.openSession(name);
  const ask = async (tool: string, screen: string, tool_input?: Record<string, unknown>) => {
    await pane.show(screen);
    const input = pane.input(tool, tool_input === undefined ? {} : { tool_input });
    const hook = startHook(program.machine, pane, input);
    await see(page.locator('.prompt'));
    return hook;
  };
  return { page, you, pane, ask };
}

describe.each([
  ['on a desktop', DESKTOP],
  ['on a phone', PHONE],
])('%s', (_, viewport) => {
  it('a permission is allowed with one tap, and the message shows who allowed it', async () => {
    const { page, you, pane, ask } = await start(viewport);
    const hook = await ask('Bash', 'dialog-permission-bash');
    await see(page.locator('#place-state', { hasText: 'needs you' }));

    await you.button('Allow').click();

    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    await see(page.locator('#messages').getByText('Allowed'));
    expect(await page.locator('.prompt').count()).toBe(0);
    await pane.show('busy-empty-box'); // as Claude does when it has the answer
    await page.locator('#place-state', { hasText: 'needs you' }).waitFor({ state: 'hidden' });
  });

  it('a permission is denied with a reason, written in a dialog', async () => {
    const { page, you, ask } = await start(viewport);
    const hook = await ask('Bash', 'dialog-permission-bash');

    await you.button(/Deny with a reason/).click();
    await page.getByRole('dialog').getByRole('textbox').fill('use the test database');
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();

    expect(decisionIn(await hook.printed)).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('use the test database'),
    });
    await see(page.locator('#messages').getByText('use the test database'));
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('a question is answered with free text, through Other', async () => {
    const { page, you, ask } = await start(viewport);
    const hook = await ask('AskUserQuestion', 'dialog-question-first');

    await you.button(/Other/).click();
    await page.getByRole('dialog').getByRole('textbox').fill('a colour of my own');
    await page.keyboard.press('Control+Enter');

    expect(JSON.stringify(decisionIn(await hook.printed))).toContain('a colour of my own');
    await see(page.locator('#messages').getByText('a colour of my own'));
  });

  it('a plan is approved', async () => {
    const { page, you, ask } = await start(viewport);
    const hook = await ask('ExitPlanMode', 'dialog-plan');

    await you.button('Approve').click();

    expect(decisionIn(await hook.printed)).toMatchObject({ behavior: 'allow' });
    await see(page.locator('#messages').getByText(/Approved/));
  });
});

it.each([
  ['spaces', ' '.repeat(500)],
  ['one long word', 'a'.repeat(500)],
  ['tabs', '\t'.repeat(100)],
])('a command is seen whole, also behind %s, on a desktop and on a phone', async (_, between) => {
  const { page, ask } = await start(DESKTOP);
  await ask('Bash', 'dialog-permission-bash', { command: `ls ${between};rm`, description: `ls ${between}` });
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    const hidden = await page
      .locator('.prompt, .prompt .body, .prompt pre')
      .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
    expect(hidden.length).toBeGreaterThan(2);
    expect(hidden.filter((pixels) => pixels > 0)).toEqual([]);
  }
});

describe('the card of a dialog', () => {
  it('is seen whole also in a narrow window, and shows words in the order in which they run', async () => {
    const { program, page, you } = shared();
    const name = `s${++sessions}`;
    const claude = await startFakeClaude(program.machine, name);
    await page.setViewportSize({ width: 780, height: 800 });
    await you.openSession(name);
    await claude.tell('choice', {
      title: 'Bash command',
      text: [`${'ls '.repeat(19)};rm`, 'cp א ב'],
      options: ['Yes', 'No'],
      at: 0,
    });
    await see(you.button('No'));
    const text = page.locator('.code pre', { hasText: ';rm' });
    expect(await text.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    const [alef, bet] = await text.evaluate((one) => {
      const words = document.createTreeWalker(one, NodeFilter.SHOW_TEXT).nextNode() as Text;
      return ['א', 'ב'].map((letter) => {
        const range = document.createRange();
        range.setStart(words, words.data.indexOf(letter));
        range.setEnd(words, words.data.indexOf(letter) + 1);
        return range.getBoundingClientRect().x;
      });
    });
    expect(alef).toBeLessThan(bet ?? 0);
  });

  it('is read and answered with a thumb: its text and its options are on the screen of a phone, and large enough', async () => {
    const { program, page, you } = shared();
    const name = `s${++sessions}`;
    const claude = await startFakeClaude(program.machine, name);
    await page.setViewportSize(PHONE);
    await you.openSession(name);
    await claude.tell('choice', {
      title: 'Accessing workspace:',
      text: ['/home/me/project', '', 'Is this a project you created or one you trust? (Such as your own code)'],
      options: ['No, exit', 'Yes, and do not ask again for this folder', 'Yes, I trust this folder'],
      at: 0,
    });
    const option = you.button('Yes, I trust this folder');
    await see(option);
    const box = await option.boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(32);
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(PHONE.width);
    const text = page.locator('.code pre', { hasText: 'Is this a project' });
    expect(await text.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);

    await option.click();

    await see(page.locator('#messages').getByText(/Yes, I trust this folder —/));
    await vi.waitFor(() => expect(claude.noted()).toContainEqual({ kind: 'chosen', text: 'Yes, I trust this folder' }));
    expect(await you.button('Yes, I trust this folder').count()).toBe(0);
  });
});
