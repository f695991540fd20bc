import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAnsi } from '../../../../agents/claude/screen/box.ts';
import { findDialog } from '../../../../agents/claude/screen/dialog.ts';
import type { AgentDialog } from '../../../../agents/screen.ts';

const CORPUS = join(import.meta.dirname, '../../../fixtures', 'screens');

const read = (path: string) =>
  findDialog(parseAnsi(readFileSync(join(CORPUS, path), 'utf8')), Number(/(\d+)x\d+/.exec(path)?.[1]));
const readOne = (path: string) => {
  const dialog = read(`${path}.ansi`);
  if (dialog === undefined) throw new Error(`${path} shows no dialog`);
  return dialog;
};

/** Every state at every size on which the dialog is whole. Options: `>` marks the highlighted one; `old`: 2.1.197. */
interface Expected {
  readonly form: AgentDialog['form'];
  readonly title: string;
  readonly options?: readonly string[];
  readonly old?: readonly string[];
}

const YES_NO = ['>Yes', 'No'];
const MODES = ['Auto (match terminal)', '>Dark mode', 'Light mode', 'Dark mode (colorblind-friendly)'];
const THEMES = [
  ...[...MODES, 'Light mode (colorblind-friendly)', 'Dark mode (ANSI colors only)'],
  'Light mode (ANSI colors only)',
];
const marked = (labels: readonly string[]) => labels.map((label) => (label === '>Dark mode' ? '>Dark mode ✔' : label));
const AUTO = 'Yes, and switch to auto mode · auto mode handles these prompts for you';
const CURL = ['>Yes', 'Yes, and don’t ask again for: curl *', 'No'];
const EDITS =
  'Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)';
const DATABASES = ['SQLite', 'Postgres', 'DuckDB'];
const REWOUND = ['>Restore conversation', 'Summarize from here', 'Summarize up to here', 'Never mind'];
const SERVER = ['Use this MCP server', 'Use this and all future MCP servers in this project'];
const ALONE = 'Continue without using this MCP server';

const bash: Expected = { form: 'choice', title: 'Bash command', options: [...CURL.slice(0, 2), AUTO, 'No'], old: CURL };
const panel = (title: string): Expected => ({ form: 'panel', title });
const unknown = (title: string): Expected => ({ form: 'unknown', title });
const choice = (title: string, options: readonly string[], old = options): Expected => ({
  form: 'choice',
  title,
  options,
  old,
});

const EXPECTED: Readonly<Record<string, Expected>> = {
  agents: panel('Agents'),
  btw: panel('Side question'),
  cost: panel('Usage'),
  help: panel('Help'),
  hooks: panel('Hooks'),
  skills: panel('Skills'),
  stats: panel('Statistics'),
  status: panel('Status'),
  tasks: panel('Shell details'),
  config: unknown('Settings'),
  effort: unknown('Effort'),
  permissions: unknown('Permissions'),
  plugin: unknown('Plugins'),
  'add-dir': unknown('Add directory to workspace'),
  'export-file': unknown('Export conversation'),
  'login-url': unknown('Login'),
  'question-second': unknown('Which extras do you want?'),
  'auto-mode-check': choice("Auto mode can't check actions in this session", [
    ...['Stay in auto mode', 'Leave for accept edits mode and stop'],
  ]),
  'auto-mode-default': choice('Make auto mode your default permission mode?', [
    ...['>Yes, set auto mode as my default permission mode', 'No, keep manual mode'],
  ]),
  export: choice('Export conversation', ['>Copy to clipboard', 'Save to file']),
  key: choice('Detected a custom API key in your environment', ['Yes', '>No (recommended)']),
  limit: choice('What do you want to do?', ['>Stop and wait for limit to reset', 'Upgrade your plan']),
  login: choice(
    'Login',
    [
      ...['>Claude account with subscription · Individual, Team, or Enterprise'],
      ...['Anthropic Console account · API usage billing'],
      ...['3rd-party platform · Bedrock, Microsoft Foundry, Google Vertex AI'],
    ],
    [
      ...['>Claude account with subscription · Pro, Max, Team, or Enterprise'],
      ...['Anthropic Console account · API usage billing'],
      ...['3rd-party platform · Amazon Bedrock, Microsoft Foundry, or Vertex AI'],
    ],
  ),
  memory: choice(
    'Memory',
    ['>User instructions', 'Project instructions', 'Open auto-memory folder'],
    ['>User memory', 'Project memory', 'Open auto-memory folder'],
  ),
  model: choice(
    'Select model',
    ['>Default (recommended) ✔', 'Opus', 'Fable', 'Sonnet', 'Haiku'],
    ['>Default (recommended) ✔', 'Opus', 'Sonnet', 'Sonnet 5 (1M context)', 'Haiku'],
  ),
  onboarding: { form: 'choice', title: expect.stringContaining('Welcome'), options: THEMES, old: marked(THEMES) },
  'onboarding-notes': { ...choice('', ['Continue']), title: expect.stringContaining('Welcome') },
  'permission-bash': bash,
  'permission-status-line': bash,
  'permission-under-picture': bash,
  'permission-fetch': choice('Fetch', [
    ...['>Yes', "Yes, and don't ask again for example.com", 'No, and tell Claude what to do differently (esc)'],
  ]),
  'permission-long': choice(
    'Bash command',
    ['>Yes', 'Yes, and always allow access to /home/me/project from this project', AUTO, 'No'],
    ['>Yes', 'Yes, and always allow access to project/ from this project', 'No'],
  ),
  'permission-write': choice(
    'Create file',
    ['>Yes', EDITS, 'No'],
    ['>Yes', 'Yes, allow all edits during this session (shift+tab)', 'No'],
  ),
  plan: choice('Exit plan mode?', ['>Yes, and switch to default (ask each time) for this session', 'No'], YES_NO),
  'plan-feedback': choice(expect.stringMatching(/^Ready to code\?$|^Claude has written up a plan/), [
    ...['Yes, and use auto mode', 'Yes, manually approve edits', '>Tell Claude what to change'],
  ]),
  question: choice('Which database should we use?', [
    '>SQLite',
    ...DATABASES.slice(1),
    'Type something.',
    'Chat about this',
  ]),
  'question-field': choice('Which database should we use?', [...DATABASES, '>Type something.', 'Chat about this']),
  'question-first': choice('Which database should we use?', [
    '>SQLite',
    'Postgres',
    'Type something.',
    'Chat about this',
  ]),
  'question-review': choice('Review your answers', ['>Submit answers', 'Cancel']),
  'question-typing': choice('Which database should we use?', [...DATABASES, '>own words', 'Chat about this']),
  'resume-several': choice('Resume session', ['>first talk']),
  'rewind-restore': choice('Rewind', REWOUND),
  server: choice(
    'New MCP server found in this project: lab',
    [...SERVER, `>${ALONE}`],
    [`>${SERVER[0]}`, SERVER[1] ?? '', ALONE],
  ),
  'server-several': unknown('2 new MCP servers found in this project'),
  'server-more': unknown(''),
  theme: choice('Theme', [...THEMES, 'New custom theme…'], marked([...THEMES, 'New custom theme…'])),
  trust: choice(
    'Accessing workspace:',
    ['>No, exit', 'Yes, I trust this folder'],
    ['>Yes, I trust this folder', 'No, exit'],
  ),
};

const whole = readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^\d.*\/dialog-[^/]*\.ansi$/.test(path) && !path.includes('40x15')) // of Claude Code
  .sort()
  .map((path) => ({ path, state: path.replace(/.*\/dialog-|\.ansi$/g, ''), isOld: path.startsWith('2.1.197/') }));

const labels = ({ options }: AgentDialog) => options.map(({ label, selected }) => (selected ? `>${label}` : label));

describe('a recorded dialog', () => {
  it.each(whole.filter(({ state }) => state in EXPECTED))('$path is read as it is', ({ path, state, isOld }) => {
    const { form, title, options = [], old = options } = EXPECTED[state] as Expected;
    const dialog = readOne(path.replace('.ansi', ''));
    expect(dialog).toMatchObject({ form, title });
    const all = isOld ? old : options;
    if (form === 'choice') expect(labels(dialog)).toEqual(dialog.hasMore ? all.slice(0, dialog.options.length) : all);
    if (state !== 'effort') expect(dialog.text.join('\n')).not.toMatch(/[─━╌▔│╭╮╰╯]{2}/u);
  });

  it('is in the table above, except for lists whose content depends on the recording', () => {
    const others = new Set(whole.map(({ state }) => state).filter((state) => !(state in EXPECTED)));
    expect([...others].sort()).toEqual(['resume', 'rewind']);
  });
});

describe('the options of a dialog', () => {
  it('have the explanation beside or below them', () => {
    expect(readOne('2.1.325/80x24/dialog-model').options[1]).toEqual({
      number: 2,
      label: 'Opus',
      selected: false,
      about: 'Opus 5.5 · Best for everyday, complex tasks · $4/$20 per Mtok',
    });
    expect(readOne('2.1.197/80x24/dialog-question').options[2]?.about).toBe('Columnar, embedded');
    expect(readOne('2.1.197/80x24/dialog-resume').options).toEqual([
      {
        number: undefined,
        selected: true,
        about: '1 minute ago · HEAD · 1.4KB',
        label: '<task-notification> <output-file>/tmp/claude-1000/-home-me-project/6c3f4…',
      },
    ]);
    expect(labels(readOne('2.1.197/80x24/dialog-rewind'))).toEqual(['hello', 'table', 'picture', '>(current)']);
  });

  it('are whole where Claude Code wrapped them', () => {
    const narrow = readOne('2.1.325/40x15/dialog-auto-mode-default');
    expect(labels(narrow)).toEqual(['>Yes, set auto mode as my default permission mode', 'No, keep manual mode']);
    expect(labels(readOne('2.1.325/40x15/dialog-permission-write'))).toEqual(['>Yes', EDITS, 'No']);
  });

  it('say that there are more than the screen shows', () => {
    for (const state of ['model', 'theme', 'rewind'])
      expect(readOne(`2.1.325/80x24/dialog-${state}`).hasMore, state).toBe(true);
    expect(readOne('2.1.197/80x24/dialog-model').hasMore).toBe(false);
  });

  it('have a key where the dialog has no list', () => {
    const [stay, leave] = readOne('2.1.325/80x24/dialog-auto-mode-check').options;
    expect([stay?.key, leave?.key]).toEqual(['Enter', 'BTab']);
    expect(readOne('2.1.197/80x24/dialog-onboarding-notes').options.map(({ key }) => key)).toEqual(['Enter']);
  });
});

describe('a text field', () => {
  const fieldsOf = (path: string) =>
    readOne(path).options.flatMap(({ label, field }) => (field ? [[label, field]] : []));

  it.each(['2.1.197', '2.1.325'])('that is an option of %s is closed, empty or full', (version) => {
    expect(fieldsOf(`${version}/80x24/dialog-question`)).toEqual([['Type something.', 'closed']]);
    expect(fieldsOf(`${version}/80x24/dialog-question-field`)).toEqual([['Type something.', 'empty']]);
    expect(fieldsOf(`${version}/80x24/dialog-question-typing`)).toEqual([['own words', 'full']]);
    expect(fieldsOf(`${version}/80x24/dialog-plan-feedback`)).toEqual([['Tell Claude what to change', 'empty']]);
    expect(fieldsOf(`${version}/80x24/dialog-permission-bash`)).toEqual([]);
  });

  it('for the code of a login is full when something is in it, and the code is not in the text', () => {
    const path = join(CORPUS, '2.1.325/80x24/dialog-login-url.ansi');
    const typed = readFileSync(path, 'utf8').replace(/(Paste code here if prompted >)/, '$1 *****ateabc');
    const dialog = findDialog(parseAnsi(typed));
    expect(dialog?.field).toBe('full');
    expect(JSON.stringify(dialog)).not.toContain('ateabc');
  });
});

describe('the text of a dialog', () => {
  it('is whole where Claude Code wrapped it', () => {
    expect(readOne('2.1.325/80x24/dialog-trust').text).toEqual([
      ...['/home/me/project', ''],
      "Quick safety check: Is this a project you created or one you trust? (Like your own code, a well-known open source project, or work from your team). If not, take a moment to review what's in this folder first.",
      ...['', "Claude Code'll be able to read, edit, and execute files here.", '', 'Security guide'],
    ]);
  });

  it('has the address of a login in one piece, and says that there is a field to write in', () => {
    for (const version of ['2.1.197', '2.1.325']) {
      const dialog = readOne(`${version}/80x24/dialog-login-url`);
      expect(dialog.text.some((line) => /^ *https:\/\/claude\.com\/\S+&state=[\w-]{43}$/.test(line))).toBe(true);
      expect(dialog.field).toBe('empty');
      expect(readOne(`${version}/80x24/dialog-add-dir`).field).toBe('empty');
      expect(readOne(`${version}/80x24/dialog-export-file`).field).toBe('full');
    }
    expect(readOne('2.1.325/80x24/dialog-trust').field).toBeUndefined();
  });

  it('keeps the rows of a table apart', () => {
    const { text } = readOne('2.1.325/80x24/dialog-status');
    expect(text).toContain('Setting sources:            User settings');
    expect(text.filter((line) => line.startsWith('Auto mode server:'))).toHaveLength(1);
  });
});

describe('a command to approve', () => {
  const WIDTH = 80;
  const edge = '─'.repeat(WIDTH);
  const lineOf = '╌'.repeat(WIDTH);
  /** As Claude Code shows it: the command is indented by one column. */
  const asking = (command: readonly string[], above = ['● Running it.', '', edge, ' Bash command']) => [
    ...[...above, lineOf, ...command.map((line) => ` ${line}`), lineOf, '', ' Do you want to proceed?'],
    ...[' \u001b[34m❯ 1. Yes\u001b[39m', '   2. No', '', ' Esc to cancel · Tab to amend'],
  ];
  const see = (lines: readonly string[]) => findDialog(parseAnsi(`${lines.join('\n')}\n`), WIDTH) as AgentDialog;

  it.each([
    ['a line that ends like the upper edge', ['rm -rf ~', ': ▔', 'echo hello']],
    ['a line of such signs', ['rm -rf ~', `: ${'▔'.repeat(WIDTH - 4)}`, 'echo hello']],
    ['a rule', ['rm -rf ~', ':', ` ${'─'.repeat(WIDTH - 4)}`, 'echo hello']],
    ['numbered lines', ['cat <<E', '1. rm -rf ~', '2. Yes', 'E', 'echo hello']],
    ['the words of an option', ['cat <<E', '7. Type something; rm -rf ~', 'echo hello']],
    ['a number before the first option', ['0. x; rm -rf ~', 'echo hello']],
    ['an arrow', ['❯ 1. rm -rf ~', '  2. No', 'echo hello']],
    ['letters of two units each, up to an edge', ['rm -rf ~', `: ${'𝐀'.repeat(38)}▔`, 'echo hello']],
    ['letters with marks, up to an edge', ['rm -rf ~', `: ${'a\u0301'.repeat(38)}▔`, 'echo hello']],
    ['the words of a login', ['Paste code here if prompted >x; rm -rf ~', 'echo hello']],
    ['the words of a longer list', ['rm -rf ~', '5 more', '… +5 lines']],
    ['a space that is none', ['echo\u00a0hello', 'rm -rf ~']],
  ])('is read in full, with its own options, although it has %s', (_, command) => {
    const dialog = see(asking(command));
    expect(dialog).toMatchObject({ which: 'permission', title: 'Bash command' });
    for (const line of command.filter((one) => /\w{2}/.test(one)))
      expect(dialog.text.join('\n')).toContain(line.trim().replace('\u00a0', '⟨U+00A0⟩'));
    expect(labels(dialog)).toEqual(['>Yes', 'No']);
  });

  it('has its lines, also if one of them is as long as the row', () => {
    const comment = `# ${'x'.repeat(40)} ${'y'.repeat(33)}`;
    const { text } = see(asking([comment, 'rm -rf ~; true']));
    expect(text.slice(0, 2)).toEqual([comment, 'rm -rf ~; true']);
  });

  it.each(['Accessing workspace:', 'Make auto mode your default', 'Login', '☐ Do'])(
    'is a permission also if it has the words of another dialog: %s',
    (line) => {
      const command = [line, 'Paste code here if prompted >x; rm -rf ~', 'echo hello'];
      const dialog = see(asking(command));
      expect(dialog).toMatchObject({ which: 'permission', title: 'Bash command' });
      expect(dialog.text.slice(0, 3)).toEqual(command);
    },
  );

  it.each([
    ...[
      '',
      ' true',
      ' Welcome to hell',
      ' Login',
      ' Permissions: all',
      ' ☐ Do',
      ' ⌕ Search settings',
      ' Ready to code?',
    ],
    ...[' Settings  Status  Config', ' Stop and wait for limit to reset'],
  ])('has no title if the screen begins inside of it, at %j', (first) => {
    expect(see(asking(['echo hello'], [first]))).toMatchObject({ which: 'permission', title: '' });
  });
});

describe('a plan to approve', () => {
  const edge = '─'.repeat(80);
  const end = [
    ...[edge, ' Claude has written up a plan and is ready to execute. Would you like to', ' proceed?', ''],
    ...[' \u001b[34m❯ 1. Yes, and use auto mode\u001b[39m', '   2. Yes, manually approve edits', ''],
  ];
  const begin = ['● Here is it.', '', edge, ' Ready to code?', '', " Here is Claude's plan:"];
  const see = (lines: readonly string[]) => findDialog(parseAnsi(`${lines.join('\n')}\n`), 80) as AgentDialog;

  it.each(['2.1.197/80x24', '2.1.325/80x24'])('is in its dialog: %s', (place) => {
    expect(readOne(`${place}/dialog-plan-feedback`).text.join('\n')).toContain('1. Read the code');
  });

  it.each([
    ['a rule', edge],
    ['boxes to tick', ' ☐ Write the tests'],
    ['the words of another dialog', ' Login'],
    ['its own end', ' Claude has written up a plan'],
  ])('is read in full although it has %s', (_, line) => {
    const dialog = see([...begin, ' rm -rf ~', line, ' Run the tests', ...end]);
    expect(dialog).toMatchObject({ which: 'plan', title: 'Ready to code?' });
    expect(dialog.text.join('\n')).toContain('rm -rf ~');
  });

  it('has no title if its beginning is not on the screen', () => {
    expect(see([' ☐ Write the tests', ...end])).toMatchObject({ which: 'plan', title: '' });
  });
});

describe('a question', () => {
  const edge = '─'.repeat(80);
  const keys = 'Enter to select · ↑/↓ to navigate · Esc to cancel';
  const see = (lines: readonly string[]) => findDialog(parseAnsi(`${lines.join('\n')}\n`), 80) as AgentDialog;

  it('is read in full although its text contains an edge and another question', () => {
    const dialog = see([
      ...['❯ go', '', edge, ' ☐ Wipe', '', 'May I wipe the database?', edge, ' ☐ Tidy', '', 'May I format it?', ''],
      ...['\u001b[34m❯ 1. Yes\u001b[39m', '  2. No', edge, '  3. Chat about this', '', keys],
    ]);
    expect(dialog).toMatchObject({ which: 'question', title: 'May I wipe the database?' });
    expect(dialog.text).toContain('May I format it?');
    expect(labels(dialog)).toEqual(['>Yes', 'No', 'Chat about this']);
  });

  it('with previews has its text and its options, although the line below them has no number', () => {
    const dialog = see([
      ...['❯ go', '', edge, ' ☐ Dep', '', 'Deploy where?', ''],
      ...['\u001b[34m❯ 1. Delete production\u001b[39m     ┌─────────┐', '  2. Staging               │ drop it │'],
      ...['                           └─────────┘', '', edge, '  Chat about this', '', keys],
    ]);
    const { title, text, options } = dialog;
    const all = JSON.stringify([title, text, options]);
    for (const part of ['Deploy where?', 'Delete production', 'Staging', 'drop it']) expect(all).toContain(part);
  });
});

it('a command keeps its lines that look like a frame', () => {
  const { text, options } = findDialog(
    parseAnsi(
      [
        ...['─'.repeat(80), ' Bash command', '', '   cat <<"────"', '   Hello', '   ────', '   touch x', ''],
        ...[' Do you want to proceed?', ' \u001b[34m❯ 1. Yes\u001b[39m', "   2.Yes, and don't ask again for touch x"],
        ...['   3. No', '', ' Esc to cancel · Tab to amend', ''],
      ].join('\n'),
    ),
    80,
  ) as AgentDialog;
  expect(text.map((line) => line.trim())).toContain('────');
  expect(options.map(({ label }) => label)).toEqual(['Yes', "Yes, and don't ask again for touch x", 'No']);
});

it('a list of servers is cut if a row of it is a part of a name', () => {
  const row = (name: string) => `   [✔] ${name}`;
  const server = (rows: readonly string[]) =>
    findDialog(
      parseAnsi(
        [
          ...['─'.repeat(80), ' 3 new MCP servers found in this project', '', ' Select any you wish to enable.', ''],
          ...[' \u001b[34m❯ [✔] a\u001b[39m', ...rows, ' Space to select · Enter to confirm · Esc to reject all', ''],
        ].join('\n'),
      ),
      80,
    ) as AgentDialog;
  expect(server([row('b'), row('c')])).toMatchObject({ title: '3 new MCP servers found in this project' });
  expect(server([row('b'), '       [✔] c'])).toMatchObject({ title: '' });
});
