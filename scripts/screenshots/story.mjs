// What the pictures show: sessions, their messages, and the view of all of them.

import { cardDraft } from '../../dist/bridge/dialogs/card-text.js';
import { signIn } from '../../test/support/workspace-access.mjs';

const MINUTE = 60_000;
const TESTED = [
  ' ✓ prices (9 tests) 14ms',
  ' ✓ checkout (26 tests) 212ms',
  ' ✗ cart (12 tests) 40ms',
  '   → keeps its items on reload',
  '',
  ' 46 passed, 1 failed',
];

const TRUST = {
  which: 'trust',
  full: false,
  form: 'choice',
  hasMore: false,
  field: undefined,
  help: '',
  title: 'Accessing workspace:',
  text: [
    '~/notes',
    '',
    'Quick safety check: is this a project that you created, or one that you trust?',
    '',
    'Claude Code can read, edit and run files here.',
  ],
  options: ['Yes, I trust this folder', 'No, exit'].map((label, at) => ({
    number: at + 1,
    label,
    about: '',
    selected: at === 0,
  })),
};

/** The messages of the workspace, and their times. */
export async function tellStory({ workspace, bot, at }) {
  const { channelId, newLink, url } = workspace;
  const say = (channel, content, more = {}) => bot('POST', `/channels/${channel}/messages`, { content, ...more });
  const write = async (channel, content, mark) => {
    const { headers } = await signIn(newLink()); // a token does not live as long as this story
    const response = await fetch(`${url}/api/v10/channels/${channel}/messages`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ content }),
    });
    const { id } = await response.json();
    const path = `/channels/${channel}/messages/${id}/reactions`;
    if (mark) await bot('PUT', `${path}/${encodeURIComponent(mark)}/@me`);
  };
  const session = async (name, host, cwd, kind = 'agent') => {
    const title = `[${kind}] ${name}${host === 'laptop' ? '' : `@${host}`}`;
    const welcome = await say(
      channelId,
      `**\`${name}\`** on \`${host}\`, in \`${cwd}\`\nWhat you write in its thread is typed into the session: 👀 typed, ✅ submitted, 📨 waiting, ⚠️ failed.`,
    );
    const path = `/channels/${channelId}/messages/${welcome.id}/threads`;
    return (await bot('POST', path, { name: title })).id;
  };

  at(26 * 60);
  const docs = await session('docs', 'laptop', '~/handbook');
  await say(docs, '-# laptop · handbook · docs\nAll 14 links in the handbook work again.');
  at(190);
  const train = await session('training', 'mini', '~/vision');
  await say(train, '-# mini · vision · training\nEpoch 12 is done: accuracy 0.941, loss 0.183.');
  at(41);
  const apiThread = await session('api', 'laptop', '~/shop/api');
  await write(apiThread, 'Move the rate limiter into its own module', '✅');
  at(14);
  const terminal = await session('shop-npm', 'laptop', '~/shop', 'terminal');
  await say(terminal, block(['> shop@2.3.0 test', '> vitest run', '', ...TESTED, '']));
  await write(terminal, 'r', '✅');
  await say(terminal, block(['r', ' RERUN  cart', '', ' ✓ cart (12 tests) 31ms', '', ' 47 passed']));
  at(12);
  const shop = await session('shop', 'laptop', '~/shop');
  at(9);
  await write(shop, 'The cart forgets its items on reload. Find out why and fix it.', '✅');
  at(6);
  await say(
    shop,
    [
      '-# laptop · shop · shop',
      'Found it: the cart is written **before** the last item is added, so a reload loses that one. The fix saves after the change, and a test covers it.',
      '',
      '```ts',
      'export function addItem(cart: Cart, item: Item): Cart {',
      '  const next = { ...cart, items: [...cart.items, item] };',
      '  save(next); // after the change, not before',
      '  return next;',
      '}',
      '```',
      '| file | change |',
      '| --- | ---: |',
      '| `cart.ts` | +4 −3 |',
      '| `cart.test.ts` | +18 |',
      '-# opus · context 23 % · $0.31',
    ].join('\n'),
  );
  at(2);
  await write(shop, 'Good. Run the tests and commit.', '✅');
  at(1);
  const id = 'p:aaaaaaaaaaaaaaaaaaaaaa';
  const button = (label, style, action) => ({ type: 2, style, label, custom_id: `${id}:${action}` });
  await say(
    shop,
    [
      '🔔 Claude wants to use **Bash**: Run the tests, then commit',
      '```bash',
      'npm test -- cart && git commit -am "cart: save after adding"',
      '```',
      'in `~/shop`',
      '-# `allow` or `yes` allows it once; anything else you write denies it, with your words as the reason.',
    ].join('\n'),
    {
      components: [
        {
          type: 1,
          components: [
            button('Allow', 3, 'allow'),
            button('Always allow', 2, 'always'),
            button('Deny', 4, 'deny'),
            button('Deny with a reason…', 2, '~reason'),
          ],
        },
      ],
    },
  );
  at(0.5);
  const notes = await session('notes', 'laptop', '~/notes');
  const card = cardDraft(TRUST, 'aaaaaaaaaaaaaaaa', 'Claude');
  await say(notes, card.content, { components: card.components });
  await write(notes, 'Sum up what I wrote last week', '📨');
  at(0);
  const since = Math.floor(Date.now() / 1000) - 41;
  await say(apiThread, `-# working · Edit: limiter.ts · started <t:${since}:R>`, { flags: 4096 });
  const tell = (thread, state, seconds, more = {}) =>
    workspace.tellState(thread, { state, since: Date.now() - seconds * 1_000, ...more });
  tell(shop, 'needs_person', 48, { for: 'permission' });
  tell(notes, 'needs_person', 30, { for: 'dialog: Accessing workspace' });
  tell(apiThread, 'working', 41);
  tell(train, 'idle', 60);
  tell(terminal, 'shell', 600);
  return { shop, notes, terminal, api: apiThread, training: train };
}

export function allSessions({ shop, api, training }) {
  const ago = (minutes) => Date.now() - minutes * MINUTE;
  const row = (label, host, thread, more) => ({
    label,
    host,
    thread,
    because: undefined,
    branch: undefined,
    isWorktree: false,
    model: undefined,
    context: undefined,
    at: undefined,
    state: undefined,
    ...more,
  });
  return {
    rows: [
      row('shop', 'laptop', shop, {
        state: { state: 'needs_person', since: ago(1), for: 'permission' },
        branch: 'main',
        model: 'Opus',
        context: 23,
        at: ago(1),
      }),
      row('api', 'laptop', api, {
        state: { state: 'working', since: ago(0.7) },
        branch: 'threadmux/api',
        isWorktree: true,
        model: 'Sonnet',
        context: 58,
        at: ago(0.7),
      }),
      row('training@mini', 'mini', training, {
        state: { state: 'idle', since: ago(14) },
        branch: 'sweep',
        model: 'Opus',
        context: 71,
        at: ago(14),
      }),
      row('review', 'laptop', undefined, { because: 'manual' }),
      row('nightly@mini', 'mini', undefined, { because: 'stopped' }),
    ],
    worktrees: [{ project: 'shop', name: 'coupons', branch: 'threadmux/coupons', host: 'laptop', thread: api }],
    choices: {
      projects: [{ name: 'shop', directory: '~/shop', host: 'laptop' }],
      hosts: ['laptop', 'mini'],
      defaultHost: 'laptop',
      models: ['opus'],
      modes: ['plan'],
    },
  };
}

function block(lines) {
  return `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
}
