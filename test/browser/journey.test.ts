// From the link to a conversation with a real tmux session, on a desktop and on a phone.

import { describe, expect, it, vi } from 'vitest';
import { shareAmongTests } from '../support/at-end.ts';
import { startFakeClaude } from '../support/fake-claude.ts';
import { DESKTOP, openPage, PHONE, person, see } from './browser.ts';
import { startProgram } from './program.ts';

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const program = shareAmongTests(startProgram);
let sessions = 0;
/** None is the beginning of another. */
const nameFor = (what: string) => `${what}-${++sessions}-here`;

describe.each([
  ['on a desktop', DESKTOP],
  ['on a phone', PHONE],
])('%s', (_, viewport) => {
  const shared = shareAmongTests(async () => {
    const sheet = await openPage({ viewport });
    await sheet.page.goto(program().link);
    return sheet;
  });

  it('a user opens the link, starts a shell, writes to it and reads its answer', async () => {
    const { page } = shared();
    const you = person(page);
    const demo = nameFor('demo');
    expect(page.url()).toBe(`${program().url}/`); // the secret does not stay in the address
    await you.openSession('agents');

    await you.write(`!new ${demo} -- bash`);
    await see(page.locator('#messages').getByText(`${demo} is up (bash)`));
    await you.openSession(demo);
    await see(page.locator('#messages').getByText('What you write in its thread is typed'));
    await you.write('echo hello-$((40 + 2))');

    await see(you.last.getByText('hello-42'));
    expect(program().machine.tmux.call('capture-pane', '-p', '-t', `=${demo}:`)).toContain('\nhello-42\n');
    await see(page.locator('.mine .delivery'));
    expect(await you.box.inputValue()).toBe('');
  });

  it('a message reaches an agent and is marked as submitted, and the reply is shown', async () => {
    const { page } = shared();
    const you = person(page);
    const echo = nameFor('echo');
    const claude = await startFakeClaude(program().machine, echo);
    await you.openSession(echo);

    await you.write('first line\nsecond *line*');

    await see(page.locator('.theirs').getByText('Echo: first line'));
    expect(claude.prompts()).toEqual(['first line\nsecond *line*']);
    await see(page.locator('.mine .delivery.submitted').getByText('Submitted'));
  });

  it('dropped or pasted pictures are shown and reach the session as files', async () => {
    const { page } = shared();
    const you = person(page);
    const files = nameFor('files');
    const claude = await startFakeClaude(program().machine, files);
    await you.openSession(files);

    for (const [type, name] of [
      ['drop', 'dropped.png'],
      ['paste', 'pasted.png'],
    ] as const) {
      await page.evaluate(
        ([kind, file, bytes]) => {
          const data = new DataTransfer();
          const raw = Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0));
          data.items.add(new File([raw], file, { type: 'image/png' }));
          const target = document.getElementById('text');
          const init = { bubbles: true, cancelable: true };
          target?.dispatchEvent(
            kind === 'drop'
              ? new DragEvent('drop', { ...init, dataTransfer: data })
              : new ClipboardEvent('paste', { ...init, clipboardData: data }),
          );
        },
        [type, name, PICTURE.toString('base64')] as const,
      );
      await see(page.locator('#pending').getByText(name));
    }
    await you.write('look at these');

    const pictures = page.locator('.mine .picture img');
    await see(pictures);
    await vi.waitFor(async () =>
      expect(await pictures.evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth))).toEqual([
        1, 1,
      ]),
    );
    await vi.waitFor(() => expect(claude.prompts()[0]).toMatch(/look at these[\s\S]*dropped\.png/), {
      timeout: 15_000,
    });
    // Claude Code turns the path of an image at the end into the image itself.
    expect(claude.prompts()[0]).toContain('[Image #1]');
    expect(await page.locator('#pending').isVisible()).toBe(false);
  });
});
