// Writing, commands, drafts, marks, search and keys: the page as a user works with it.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { renderPicture } from '../../streams/picture/picture.ts';
import { withFiles } from '../support/workspace.ts';
import { startRestClient } from './bot.ts';
import { DESKTOP, openPage, PHONE, person, see } from './browser.ts';
import { buttons, PROMPT, sayIn, shareWorkspace } from './page.ts';

/** The text whose first answer is lost. */
const ONCE = 'only once';
let attempts = 0;
const start = shareWorkspace({
  faults: {
    onRequest: ({ method, path, body }) =>
      method === 'POST' &&
      path.endsWith('/messages') &&
      (body as { content?: string } | undefined)?.content === ONCE &&
      attempts++ === 0
        ? { kind: 'apply-then-answer', status: 500 }
        : undefined,
  },
});

/** A page that was opened on a phone. */
async function startOnPhone() {
  const world = await start();
  onTestFinished(() => world.page.setViewportSize(DESKTOP));
  await world.page.setViewportSize(PHONE);
  await world.page.goto(world.workspace.url);
  return world;
}

describe('the thread of a terminal', () => {
  it('shows output, including unfinished lines, and whether it is running', async () => {
    const { workspace, thread, you, name, say } = await start('[terminal]');
    workspace.tellState(thread, { state: 'shell', since: Date.now() });
    await say('```text\n*one*\n> 42% ```');
    await you.openSession(name);
    const block = you.last.locator('pre');
    await see(block.getByText('*one*'));
    expect((await block.textContent())?.trimEnd()).toBe('*one*\n> 42%');
    const word = (text: string) => you.session(name).locator('.word', { hasText: text });
    await see(word('running'));
    await say('⏹️ Exited with code 1 after 3 s.');
    workspace.tellState(thread, { state: 'ended', since: Date.now() });
    await see(word('ended'));
  });
});

describe('the line of a running turn', () => {
  it('counts the time while nothing is edited', async () => {
    const { you, name, say } = await start();
    await say(`-# working · Bash: Run the tests · started <t:${Math.floor(Date.now() / 1000) - 50}:R>`);
    await you.openSession(name);
    await see(you.last.getByText(/5\d seconds ago/));
    await see(you.last.getByText('1 minute ago'));
  });
});

describe('the message box', () => {
  it('has its full height on a phone, where it is hidden at first', async () => {
    const { page } = await startOnPhone();
    await page.locator('#sessions a, #sessions button').filter({ hasText: 'agents' }).first().click();
    const box = page.locator('#text');
    await see(box);
    await vi.waitFor(async () => expect((await box.boundingBox())?.height ?? 0).toBeGreaterThan(20));
  });
});

describe('the message box', () => {
  it('sends with Enter, adds a line with Shift+Enter, and shows the message when the server has it', async () => {
    const { workspace, thread, you, name } = await start();
    await you.openSession(name);
    await you.box.pressSequentially('one');
    await you.box.press('Shift+Enter');
    await you.box.pressSequentially('two');
    await you.box.press('Enter');
    await see(you.last.getByText('two'));
    expect((await workspace.person.messages(thread))[0]?.content).toBe('one\ntwo');
    expect(await you.box.inputValue()).toBe('');
  });

  it('keeps a draft for each session, even after a reload', async () => {
    const { page, you, name } = await start();
    const other = await start();
    await you.openSession(name);
    await you.box.fill('for this');
    await you.openSession(other.name);
    expect(await you.box.inputValue()).toBe('');
    await you.box.fill('for the other');
    await you.openSession(name);
    expect(await you.box.inputValue()).toBe('for this');
    await page.reload();
    await you.openSession(other.name);
    await vi.waitFor(async () => expect(await you.box.inputValue()).toBe('for the other'));
  });

  it('sends a message once, although the answer to the first attempt was lost', async () => {
    const { workspace, thread, page, complaints, you, name } = await start();
    attempts = 0;
    await you.openSession(name);
    await you.write(ONCE);
    await see(page.locator('#send-trouble', { hasText: 'It is still here' }));
    await you.box.press('Enter');
    await vi.waitFor(async () => expect(await you.box.inputValue()).toBe(''));
    const said = (await workspace.person.messages(thread)).map(({ content }) => content);
    expect([attempts, said.filter((content) => content === ONCE)]).toEqual([2, [ONCE]]);
    expect(await page.locator('.mine', { hasText: ONCE }).count()).toBe(1);
    expect(complaints.splice(0)).toEqual([expect.stringContaining('500')]);
  });

  it('sends a text that is too long for a message as a file', async () => {
    const { workspace, thread, page, you, name } = await start();
    await you.openSession(name);
    await you.box.fill('x'.repeat(2001));
    await see(page.getByText('2001 characters: it will be sent as a file'));
    await you.box.press('Enter');
    await see(you.last.getByText('message.txt'));
    expect((await workspace.person.messages(thread))[0]?.attachments[0]).toMatchObject({
      filename: 'message.txt',
      size: 2001,
    });
  });
});

describe('the conversation', () => {
  it('shows Markdown with highlighted code, small lines, times and links to threads', async () => {
    const { thread, page, you, name, say } = await start();
    await you.openSession(name);
    const at = Math.floor(Date.now() / 1000) + 7260;
    await say(
      `# Head\n**bold** \`code\` <#${thread}> <t:${at}:R>\n-# small\n\n\`\`\`ts\nconst x: number = 1; // note\n\`\`\`\n\`\`\`ansi\n\u001b[1;31mred\u001b[0m plain\n\`\`\``,
    );
    await see(you.last.locator('h1', { hasText: 'Head' }));
    await see(you.last.locator('.hl-keyword', { hasText: 'const' }));
    await see(you.last.locator('.hl-comment', { hasText: '// note' }));
    expect(await you.last.locator('.subtext').textContent()).toBe('small');
    expect(await you.last.locator('a.mention').textContent()).toBe(name);
    expect(await you.last.locator('.body time').textContent()).toBe('in 2 hours');
    expect(await you.last.locator('.ansi-1.bold').textContent()).toBe('red');
    expect(await page.locator('pre').first().textContent()).toBe('const x: number = 1; // note');
  });

  it('shows code without colours if they would be nested so deeply that the page stops for seconds', async () => {
    const { you, name, say } = await start();
    await you.openSession(name);
    const nested = '`${'.repeat(60);
    await say(`\`\`\`js\n${nested}\n\`\`\`\n\`\`\`js\nconst x = \`\${1}\`;\n\`\`\``);
    await see(you.last.locator('.hl-keyword', { hasText: 'const' }));
    const code = you.last.locator('pre code').first();
    expect(await code.textContent()).toBe(nested);
    expect(await code.locator('span').count()).toBe(0);
  });

  it.each([['- '], ['1. '], ['> '], ['> - ']])('shows every word after very many %s, inside the page', async (mark) => {
    const { page, you, name, say } = await start();
    await you.openSession(name);
    const before = page.viewportSize();
    onTestFinished(() => page.setViewportSize(before ?? { width: 1280, height: 720 }));
    await page.setViewportSize({ width: 360, height: 700 });
    for (const times of [14, 40, 400]) {
      await say(`${mark.repeat(times)}first ${times}\n\nthen`);
      const words = you.last.getByText(`first ${times}`);
      await see(words);
      const box = await words.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 1000)).toBeLessThanOrEqual(360);
    }
  });

  it.each(['https://docs.example/%E2%80%AE%20a', 'https://xn--80ak6aa92e.com/login'])(
    'shows an address as it was written: %s',
    async (address) => {
      const { you, name, say } = await start();
      await you.openSession(name);
      await say(`see ${address} now`);
      await see(you.last.getByText('now'));
      expect(await you.last.locator('p').textContent()).toBe(`see ${address} now`);
      expect(await you.last.locator('p a').getAttribute('href')).toBe(address);
    },
  );

  it('names a session once where its name and its thread stand side by side', async () => {
    const { thread, you, name, say } = await start();
    await you.openSession(name);
    await say(`🟢 \`${name}\` <#${thread}> idle, \`other\` <#${thread}> ends here`);
    await see(you.last.getByText('ends here'));
    expect(await you.last.locator('p').textContent()).toBe(`🟢 ${name} idle, other ${name} ends here`);
  });

  it('shows the picture of a screen, and after an edit the new one in its place', async () => {
    const { workspace, thread, page, you, name } = await start();
    await you.openSession(name);
    const screen = async (ansi: string, description: string) => {
      const png = await renderPicture(ansi, { width: 80, height: 24 });
      const attachments = [{ id: '0', filename: 'screen.png', description }];
      const data = new Uint8Array(png ?? []);
      return withFiles({ content: 'What `web` shows:', attachments }, [{ name: 'screen.png', data }]);
    };
    const path = `/channels/${thread}/messages`;
    const small = await screen('$ ls', 'a prompt');
    const { body: message } = await workspace.bot('POST', path, small);
    await see(you.last.getByAltText('a prompt'));
    const large = await screen('line\n'.repeat(24), 'many lines');
    await workspace.bot('PATCH', `${path}/${message.id}`, large);
    const image = you.last.getByAltText('many lines');
    await see(image);
    expect(await page.locator('.picture img').count()).toBe(1);
    const heightOf = () => image.evaluate((one) => (one as unknown as { naturalHeight: number }).naturalHeight);
    await vi.waitFor(async () => expect(await heightOf()).toBe(24 * 33 + 34));
    await workspace.bot('PATCH', `${path}/${message.id}`, { content: 'gone', attachments: [] });
    await see(you.last.getByText('gone'));
    expect(await page.locator('.picture').count()).toBe(0);
  });

  it('updates in place: edits, reactions, delivery marks, deletions', async () => {
    const { workspace, thread, page, you, name, say } = await start();
    await you.openSession(name);
    const message = await say('-# working · 3 s');
    workspace.tellState(thread, { state: 'working', since: Date.now() - 3_000 });
    await see(page.locator('#place-state', { hasText: 'working' }));
    await workspace.bot('PATCH', `/channels/${thread}/messages/${message.id}`, { content: 'done now' });
    await see(you.last.getByText('done now'));
    workspace.tellState(thread, { state: 'idle', since: Date.now() });
    await page.locator('#place-state', { hasText: 'idle' }).waitFor();

    const mine = await workspace.person.say(thread, 'do it');
    const mark = (method: string, emoji: string) =>
      workspace.bot(method, `/channels/${thread}/messages/${mine.id}/reactions/${encodeURIComponent(emoji)}/@me`);
    await mark('PUT', '👀');
    await see(you.last.locator('.delivery', { hasText: 'Typed' }));
    await mark('PUT', '✅');
    await mark('DELETE', '👀');
    await see(you.last.locator('.delivery', { hasText: 'Submitted' }));
    await you.last.locator('.delivery', { hasText: 'Typed' }).waitFor({ state: 'detached' });

    await workspace.bot('PUT', `/channels/${thread}/messages/${message.id}/reactions/${encodeURIComponent('🎉')}/@me`);
    await page.getByRole('button', { name: '🎉, 1' }).click();
    await see(page.getByRole('button', { name: '🎉, 2' }));

    await workspace.bot('DELETE', `/channels/${thread}/messages/${message.id}`);
    await page.getByText('done now').first().waitFor({ state: 'detached' });
  });

  it('shows who is typing, and what is waiting for the user, in the list and in the title', async () => {
    const { workspace, thread, page, you, name, say } = await start();
    await you.openSession(name);
    await workspace.bot('POST', `/channels/${thread}/typing`);
    await see(page.locator('#typing'));
    workspace.tellState(thread, { state: 'working', since: Date.now() });
    await see(you.session(name).getByText('working'));
    await you.openSession('agents');
    await say('🔔 Claude wants to use **Bash**', { components: buttons('Allow') });
    workspace.tellState(thread, { state: 'needs_person', for: 'permission', since: Date.now() });
    await see(you.session(name).getByText('needs you'));
    await see(you.session(name).getByText('laptop'));
    expect(await page.title()).toBe('(1) agents · threadmux');
    await you.openSession(name);
    await see(page.locator('.divider.new').or(page.locator('.prompt')));
    workspace.tellState(thread, { state: 'idle', since: Date.now() });
  });

  it('marks messages as unread until they were seen', async () => {
    const { workspace, page, you, name, say } = await start();
    await you.openSession(name);
    await say('seen');
    await see(you.last.getByText('seen'));
    await you.openSession('agents');
    await say('first new');
    await say('second new');
    await see(you.session(name).locator('.count', { hasText: '2' }));
    await you.openSession(name);
    await see(page.locator('.divider.new'));
    await you.session(name).locator('.count').waitFor({ state: 'detached' });
    await sayIn(workspace, workspace.channelId)('elsewhere');
    await see(you.session('agents').locator('.count', { hasText: '1' }));
  });
});

describe('the page', () => {
  it('offers slash commands, completes their options, and runs them', async () => {
    const { workspace, thread, page, you, name } = await start();
    const bot = await startRestClient(workspace);
    bot.on('autocomplete', ({ options }) => [
      { name: 'mini', value: 'mini' },
      { name: `begun ${options.find((one) => one.focused)?.value}`, value: 'begun' },
    ]);
    await bot.register([
      { name: 'screen', description: 'what the pane shows' },
      {
        name: 'new',
        description: 'start a session',
        options: [
          { type: 3, name: 'name', description: 'Name of the session', required: true },
          { type: 3, name: 'host', description: 'Where to start it', autocomplete: true },
          { type: 3, name: 'command', description: 'What to start' },
        ],
      },
    ]);
    await page.reload();
    await you.openSession(name);
    await page.getByRole('button', { name: 'Commands' }).click();
    await see(page.getByRole('option', { name: '/new' }));
    await you.box.pressSequentially('ne');
    await you.box.press('Enter');
    await you.box.pressSequentially('shop m');
    await see(page.getByRole('option', { name: 'begun m' }));
    await see(page.locator('#hint', { hasText: 'Where to start it' }));
    await you.box.press('ArrowDown');
    await you.box.press('Enter');
    expect(await you.box.inputValue()).toBe('/new shop mini ');
    await you.box.pressSequentially('bash -l');
    await you.box.press('Enter');
    const run = await bot.next('command');
    expect(run).toMatchObject({ name: 'new', channel: thread });
    expect(run.options).toEqual([
      expect.objectContaining({ name: 'name', value: 'shop' }),
      expect.objectContaining({ name: 'host', value: 'mini' }),
      expect.objectContaining({ name: 'command', value: 'bash -l' }),
    ]);
    await vi.waitFor(async () => expect(await you.box.inputValue()).toBe(''));
    await see(you.last.getByText('answer to new'));
  });

  it('lists the commands of Claude Code beside ours, and sends the one that was chosen', async () => {
    const { workspace, thread, page, you, name } = await start();
    const bot = await startRestClient(workspace);
    const theirs = [
      '/status · Claude Code · version, model and account',
      '/review · Claude Code · review',
      '/team:stand-up · your command · meets · daily',
    ];
    bot.on('autocomplete', ({ options }) =>
      theirs
        .filter((one) => one.startsWith(String(options[0]?.value)))
        .map((name) => ({ name, value: name.split(' ')[0] })),
    );
    const command = { type: 3, name: 'command', description: 'Which', required: true, autocomplete: true };
    await bot.register([
      { name: 'status', description: 'list all terminals' },
      { name: 'claude', description: 'run a command of Claude Code', options: [command] },
    ]);
    await page.reload();
    await you.openSession(name);
    const options = page.locator('#suggestions [role=option]');
    const sent = async () => (await workspace.person.messages(thread))[0]?.content.trim();

    await you.box.pressSequentially('/');
    await vi.waitFor(async () =>
      expect(await options.allInnerTexts()).toEqual([
        expect.stringMatching(/^\/status\s+list all terminals\s+threadmux$/),
        expect.stringMatching(/^\/status\s+version, model and account\s+Claude Code$/),
        expect.stringMatching(/^\/review\s+review\s+Claude Code$/),
        expect.stringMatching(/^\/team:stand-up\s+meets · daily\s+your command$/),
      ]),
    );
    await you.box.pressSequentially('status');
    await vi.waitFor(async () => expect(await options.count()).toBe(2));
    await you.box.press('ArrowDown');
    await you.box.press('Enter');
    expect(await you.box.inputValue()).toBe('/status ');
    await see(page.locator('#hint', { hasText: 'Claude Code' }));
    await you.box.press('Enter');
    await vi.waitFor(async () => expect(await sent()).toBe('/status'));

    await you.write('/status');
    expect(await bot.next('command')).toMatchObject({ name: 'status', channel: thread });

    await you.box.pressSequentially('/team:s');
    await vi.waitFor(async () => expect(await options.count()).toBe(1));
    await you.box.press('Tab');
    await you.box.pressSequentially('now please');
    await you.box.press('Enter');
    await vi.waitFor(async () => expect(await sent()).toBe('/team:stand-up now please'));
  });

  it('sends an unknown command as a message', async () => {
    const { workspace, thread, you, name } = await start();
    await you.openSession(name);
    await you.write('/compact');
    await see(you.last.getByText('/compact'));
    expect((await workspace.person.messages(thread))[0]?.content).toBe('/compact');
  });

  it('lets the user choose several options, and sends nothing before they submit', async () => {
    const { workspace, page, you, name, say } = await start();
    const bot = await startRestClient(workspace);
    await you.openSession(name);
    const option = (n: number) => ({ label: `option ${n}`, value: `${n}`, description: `about ${n}` });
    await say('which?', {
      components: [
        {
          type: 1,
          components: [{ type: 3, custom_id: `${PROMPT}:choose`, max_values: 3, options: [1, 2, 3].map(option) }],
        },
      ],
    });
    await page.getByLabel('option 1').check();
    await page.getByLabel('option 3').check();
    expect(bot.heard('tap')).toEqual([]);
    await you.button('Choose').click();
    expect(await bot.next('tap')).toMatchObject({ values: ['1', '3'] });
  });

  it('says so when nobody answers a tap', async () => {
    const { page, you, name, say } = await start();
    await you.openSession(name);
    await say('tap', { components: buttons('Allow') });
    await you.button('Allow').click();
    await see(page.locator('.components .trouble', { hasText: 'Nobody answered' }));
  });
});

describe('the keyboard', () => {
  it('switches between sessions, searches every message, and returns to the box', async () => {
    const { page, you, name, say } = await start();
    const other = await start();
    for (let at = 0; at < 150; at++) await other.say(`line ${at} of many${at === 7 ? ' needle' : ''}`);
    await other.say('the very last');
    await say('nothing here');
    await you.openSession(name);
    await page.keyboard.press('Alt+ArrowDown');
    await see(page.locator('#place-name', { hasText: other.name }));
    await see(you.last.getByText('the very last'));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('many needle');
    await see(page.getByRole('option', { name: 'line 7 of many' }));
    await page.keyboard.press('Enter');
    await see(page.locator('.pointed', { hasText: 'line 7 of many' }));
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('text');
    await page.getByRole('button', { name: 'Latest' }).click();
    await see(you.last.getByText('the very last'));
  });
});

describe('the look of the page', () => {
  it('follows the system until the user chooses, and remembers the choice', async () => {
    const { page } = await start();
    onTestFinished(() => page.evaluate(() => localStorage.removeItem('threadmux:theme')));
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await page.getByRole('button', { name: 'Theme: as the system' }).click();
    const light = await background();
    expect(light).not.toBe(dark);
    await page.reload();
    expect(await background()).toBe(light);
  });

  it('has a list and a conversation on a phone, with a way back, and never scrolls sideways', async () => {
    const { page, you, name, say } = await startOnPhone();
    await say(`\`\`\`\n${'wide '.repeat(80)}\n\`\`\`\n${'x'.repeat(300)}`);
    await see(page.locator('#list'));
    expect(await page.locator('#talk').isVisible()).toBe(false);
    await you.openSession(name);
    expect(await page.locator('#list').isVisible()).toBe(false);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(await page.locator('#scroller').evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    await page.goBack();
    await see(page.locator('#list'));
  });
});

describe('notifications', () => {
  it('are requested only by a button, and appear when a session needs the user or is done', async () => {
    const { workspace, thread, name } = await start();
    const { page } = await openPage();
    await page.context().grantPermissions(['notifications'], { origin: workspace.url });
    await page.addInitScript(() => {
      const shown: string[] = [];
      let asked = 0;
      class Shown extends EventTarget {
        static permission = 'granted';
        static requestPermission = async () => {
          asked++;
          return 'granted';
        };
        constructor(title: string) {
          super();
          shown.push(title);
        }
      }
      Object.assign(window, { Notification: Shown, shown, asked: () => asked });
    });
    await page.goto(workspace.link);
    const you = person(page);
    await see(you.session(name));
    const look = () =>
      page.evaluate(() => {
        const all = window as unknown as { shown: string[]; asked(): number };
        return { shown: all.shown, asked: all.asked() };
      });
    const say = sayIn(workspace, thread);
    await say('before');
    expect(await look()).toEqual({ shown: [], asked: 0 });
    await page.getByRole('button', { name: /Notify me/ }).click();
    await say('🔔 Claude wants', { components: buttons('Allow') });
    await say('working', { flags: 4096 });
    await say('the reply');
    await vi.waitFor(async () =>
      expect(await look()).toEqual({ shown: [`${name} needs you`, `${name} is done`], asked: 1 }),
    );
  });
});
