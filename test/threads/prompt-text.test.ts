import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import type { AskedEvent } from '../../agents/event.ts';
import {
  NO_ANSWER_YET,
  nextPromptStep,
  type Prompt,
  type PromptDecision,
  type PromptProgress,
  type PromptQuestion,
} from '../../core/prompt.ts';
import { contentOf } from '../../threads/prompts/post-prompt.ts';
import { escapeText } from '../../threads/prompts/preview.ts';
import { promptButtons } from '../../threads/prompts/prompt-buttons.ts';
import type { PromptEnd } from '../../threads/prompts/prompt-record.ts';
import { promptOf } from '../../threads/prompts/prompt-record.ts';
import {
  PROMPT_TEXT_LIMIT,
  type PromptText,
  permissionText,
  planText,
  promptEndText,
  questionText,
} from '../../threads/prompts/prompt-text.ts';
import { messageComponents } from '../../workspace/request-schemas.ts';
import { askedBy, textOfRequest } from '../support/asked.ts';
import { fixture } from '../support/hook-process.ts';

const ID = 'AbCdEfGhIjKlMnOpQr-_12';
const BIDI = 'rm -rf ~ # \u202egnihtemos sselmrah\u202c';
const HIDDEN = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

const bash = (command: string, more: object = {}) => textOfRequest('Bash', { command, ...more }, '/home/me/shop', []);
const fileOf = (shown: PromptText, name: string) => {
  const file = shown.files.find((one) => one.name === name);
  return file === undefined ? undefined : Buffer.from(file.data as Uint8Array).toString();
};
/** The content of code blocks, with the fences as Discord sees them: at any three backticks. */
const fencesOf = (text: string) => text.split('```').length - 1;

describe('a permission in the thread', () => {
  it('shows a field that has the name of what every object has', () => {
    const tool_input = JSON.parse('{"command": "ls", "__proto__": {"host": "prod"}}');
    const { text } = permissionText(askedBy({ tool_input, permission_suggestions: [] }), 'Claude');
    expect(text).toContain('"__proto__"');
    expect(text).toContain('"host": "prod"');
  });

  it('shows every field of what "always" would add, also those that we do not know', () => {
    const rules = [{ toolName: 'Bash', ruleContent: 'ls', host: 'prod' }];
    const update = { type: 'addRules', rules, behavior: 'allow', destination: 'session', until: 'never' };
    const { text } = permissionText(
      askedBy({ permission_suggestions: [update, { type: 'trust', what: '/' }] }),
      'Claude',
    );
    expect(text).toContain('`Bash(ls) {"host":"prod"} (session) {"until":"never"}`');
    expect(text).toContain('`trust allow trust {"what":"/"}`');
  });

  it('shows tool, command, purpose, directory, and what "always" would add', () => {
    const input = request('Bash');
    const { text, hint, files } = permissionText(input, 'Claude');
    expect(text.split('\n')).toEqual([
      '🔔 Claude wants to use **Bash**: Run the command asked for',
      '```bash',
      'curl http://127.0.0.1:1/',
      '```',
      'in `/home/me/shop`',
      '*Always allow* would add: `Bash(curl http://127.0.0.1:1/) (localSettings)`',
    ]);
    expect(hint).toContain('denies it');
    expect(files).toEqual([]);
  });

  it('shows a path on one line, so that it cannot look like the change', () => {
    const file_path = 'README.md\n+ # Title/../../.ssh/authorized_keys ';
    for (const change of [{ content: 'a' }, { old_string: 'b', new_string: 'a' }, { diff: '+ a' }]) {
      const lines = textOfRequest('Write', { file_path, ...change }, '/home/me/shop', []).text.split('\n');
      expect(lines[2]).toBe('README.md⟨U+000A⟩+ # Title/../../.ssh/authorized_keys⟨U+0020⟩');
    }
  });

  it('cannot push a part of the command out of sight with blank lines', () => {
    const command = `rm -rf ~ #${'\n'.repeat(1_000)}ls`;
    expect(bash(command).text).toContain('```bash\nrm -rf ~ #\n⟨999 blank lines⟩\nls\n```');
    const { text } = textOfRequest('Write', { file_path: '/a', content: `x\n${' \n'.repeat(800)}y` }, '/', []);
    expect(text).toContain('```diff\n/a\n+ x\n+⟨800 blank lines⟩\n+ y\n```');
    const long = bash(`${'a'.repeat(2_000)}${'\n'.repeat(1_000)}ls`);
    expect(fileOf(long, 'command.txt')).toBe(`${'a'.repeat(2_000)}${'\n'.repeat(1_000)}ls`);
    const plan = planText(`do this${'\n'.repeat(1_000)}do that`, 'Claude');
    expect(plan.text).toContain('do this\n⟨999 blank lines⟩\ndo that\n*The whole plan is attached.*');
  });

  it('shows words that are written from right to left in the order in which they run', () => {
    const { text } = textOfRequest('Bash', { command: 'cp א ב' }, '/א/ב', [
      { type: 'addDirectories', directories: ['/א/ב'] },
    ]);
    const [alef, bet] = ['\u200eא\u200e', '\u200eב\u200e'];
    expect(text).toContain(`cp ${alef} ${bet}\n`);
    expect(text).toContain(`in \`/${alef}/${bet}\``);
    expect(text).toContain(`folder /${alef}/${bet}`);
    const long = bash('א '.repeat(2_000));
    expect(long.text.length).toBeLessThanOrEqual(PROMPT_TEXT_LIMIT);
    expect(fileOf(long, 'command.txt')).toBe(`${alef} `.repeat(2_000));
  });

  it('shows invisible and reordering characters as code points', () => {
    const { text } = bash(`${BIDI}\u200b\u00ad\u0007`);
    expect(text).not.toMatch(HIDDEN);
    expect(text).toContain('rm -rf ~ # ⟨U+202E⟩gnihtemos sselmrah⟨U+202C⟩⟨U+200B⟩⟨U+00AD⟩⟨U+0007⟩');
  });

  it('shows a stack of marks as code points, so that it covers no other line, and marks of a language as they are', () => {
    const { text } = bash(`rm -rf ~\na${'\u0336\u0489'.repeat(3)}\necho e\u0302\u0301 \u0e17\u0e35\u0e48`);
    expect(text).toContain(
      'rm -rf ~\na\u0336\u0489\u0336\u0489⟨U+0336⟩⟨U+0489⟩\necho e\u0302\u0301 \u0e17\u0e35\u0e48',
    );
    const long = bash(`x${'\u0336'.repeat(3_000)}`);
    expect(long.text.length).toBeLessThanOrEqual(PROMPT_TEXT_LIMIT);
    expect(fileOf(long, 'command.txt')).toContain('⟨U+0336⟩');
  });

  it('cannot be broken out of by a fence in the command', () => {
    const { text } = bash('echo ```\n# Harmless\n```` @everyone `````');
    expect(fencesOf(text)).toBe(2);
    expect(text).toContain('# Harmless');
  });

  it('shows the start and the end of a 200 kB command, and attaches all of it', () => {
    const command = `first ${'x'.repeat(200_000)}\u202e last`;
    const shown = bash(command);
    expect(shown.text.length).toBeLessThanOrEqual(PROMPT_TEXT_LIMIT);
    expect(shown.text).toContain('first xxx');
    expect(shown.text).toContain('⟨U+202E⟩ last');
    expect(shown.text).toMatch(/\*\*… \d+ more characters\*\*, all of them in `command\.txt` …/);
    expect(fileOf(shown, 'command.txt')).toBe(command.replace('\u202e', '⟨U+202E⟩'));
  });

  it('says how much is left out', () => {
    const shown = bash('y'.repeat(10_000));
    const left = Number(shown.text.match(/… (\d+) more/)?.[1]);
    expect(left + (shown.text.match(/y+/g) ?? []).join('').length).toBe(10_000);
  });

  it('shows the rest of the input too, and omits nothing', () => {
    const { text } = bash('make', { dangerouslyDisableSandbox: true, host: 'production' });
    expect(text).toContain('"dangerouslyDisableSandbox": true');
    expect(text).toContain('"host": "production"');
    const edit = { file_path: '/a/b.ts', old_string: 'one', new_string: 'two\nthree' };
    const shown = textOfRequest('Edit', { ...edit, replace_all: true }, '/a', []);
    expect(shown.text).toContain('/a/b.ts\n- one\n+ two\n+ three\n');
    expect(shown.text).toContain('"replace_all": true');
  });

  it('shows a description that is too long for the heading as part of the input', () => {
    const description = `${'harmless '.repeat(40)}but not quite`;
    expect(bash('make', { description }).text).toContain('but not quite');
  });

  it('shows every other tool with its whole input', () => {
    const { text } = textOfRequest('mcp__db__query', { sql: 'drop table x' }, '/a', []);
    expect(text).toContain('**mcp\\_\\_db\\_\\_query**');
    expect(text).toContain('"sql": "drop table x"');
  });

  it('shows Markdown and mentions in names and descriptions literally', () => {
    const { text } = bash('true', { description: '**safe** <@1> @everyone [x](y) `z` ||w||' });
    expect(text).toContain('\\*\\*safe\\*\\* \\<\\@1\\> \\@everyone \\[x\\](y) \\`z\\` \\|\\|w\\|\\|');
  });

  it.each([
    ['many rules', Array.from({ length: 40 }, (_, at) => `rule number ${at}`)],
    ['a long rule', [`start ${'x'.repeat(300)} end`]],
  ])('attaches what "always" would add if it is %s', (_, contents) => {
    const rules = contents.map((ruleContent) => ({ toolName: 'Bash', ruleContent }));
    const shown = textOfRequest('Bash', { command: 'x' }, '/', [{ type: 'addRules', rules }]);
    expect(shown.text).toContain('`always.json`');
    for (const content of contents) expect(fileOf(shown, 'always.json')).toContain(content);
  });

  it('attaches a plan whose end is far below its beginning', () => {
    const shown = planText(`Read the code.${'\n'.repeat(5_000)}rm -rf ~`, 'Claude');
    expect(shown.text).toContain('*The whole plan is attached.*');
    expect(fileOf(shown, 'plan.md')).toContain('rm -rf ~');
  });

  it('processes only as many options as fit', () => {
    const hidden = '\u200b'.repeat(500);
    const options = Array.from({ length: 4_000 }, () => ({ label: hidden, description: hidden }));
    const before = process.cpuUsage();
    const shown = questionText([{ question: 'Which?', header: 'It', multiSelect: false, options }], NO_ANSWER_YET);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(8_000); // it was 13 seconds, several times, and nothing else ran meanwhile
    expect(shown.text.length).toBeLessThanOrEqual(PROMPT_TEXT_LIMIT);
    expect(shown.text).toMatch(/^❓ \*\*It\*\*: Which\?\n\*\*1\.\*\* /);
    expect(shown.files).toHaveLength(1);
  });

  const ZERO_WIDTH = '\u200b'.repeat(60);

  it('attaches a rule that invisible characters push out of sight', () => {
    const rules = [{ toolName: 'Bash', ruleContent: `ls ${ZERO_WIDTH} && rm:*` }];
    const shown = textOfRequest('Bash', { command: 'ls' }, '/', [{ type: 'addRules', rules }]);
    expect(shown.text).toContain('`always.json`');
    expect(fileOf(shown, 'always.json')).toContain('⟨U+200B⟩ && rm:*');
  });

  it('shows a backtick, a tab and a line break in a rule visibly', () => {
    const rules = [{ toolName: 'Bash', ruleContent: 'echo `id`\trm\nrm:*' }];
    const { text } = textOfRequest('Bash', { command: 'x' }, '/', [{ type: 'addRules', rules }]);
    expect(text).toContain('`Bash(echo ⟨U+0060⟩id⟨U+0060⟩⟨U+0009⟩rm⟨U+000A⟩rm:*)`');
  });

  it('shows a description whole even if invisible characters make it long', () => {
    const shown = bash('make', { description: `safe ${ZERO_WIDTH} && rm -rf ~` });
    const all = [shown.text, ...shown.files.map(({ name }) => fileOf(shown, name))].join('\n');
    expect(all).toContain('⟨U+200B⟩ && rm -rf ~');
  });

  it.each([
    ['folder', 'Bash', `/home/me/${'deep/'.repeat(60)}production`, 'production'],
    ['name of the tool', `mcp__${'x'.repeat(120)}__delete`, '/', '__delete'],
  ])('attaches the %s if it does not fit, and says so', (_, tool, cwd, end) => {
    const shown = textOfRequest(tool, { command: 'x' }, cwd, []);
    expect(shown.text).toContain('`request.json`');
    expect(fileOf(shown, 'request.json')).toContain(`${end}"`);
  });

  it('says what "always" would do if it does more than allow', () => {
    const { text } = textOfRequest('Bash', { command: 'x' }, '/', [
      { type: 'removeRules', behavior: 'deny', rules: [{ toolName: 'Read' }] },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      { type: 'somethingNew' },
    ]);
    expect(text).toContain('`removeRules deny Read`, `mode acceptEdits (session)`, `somethingNew allow somethingNew`');
  });

  it('always fits, and its fences are always closed', () => {
    const words = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3_000 }),
      fc
        .constantFrom('`', '```', '\u202e', '😀', '𝒳', '\n', '*', '<')
        .chain((bit) => fc.nat(3_000).map((times) => bit.repeat(times))),
    );
    const input = fc.oneof(
      fc.record({ command: words, description: words }),
      fc.record({ command: words, more: words }),
      fc.record({ file_path: words, old_string: words, new_string: words }),
      fc.record({ file_path: words, content: words }),
      fc.dictionary(fc.string(), words, { maxKeys: 4 }),
    );
    const update = fc.record({
      type: fc.constantFrom('addRules', 'x'),
      rules: fc.array(fc.record({ toolName: words, ruleContent: words }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(words, input, words, fc.array(update, { maxLength: 3 }), (tool, of, cwd, rules) => {
        const shown = textOfRequest(tool, of, cwd, rules);
        expect(shown.text.length).toBeLessThanOrEqual(PROMPT_TEXT_LIMIT);
        expect(fencesOf(shown.text) % 2).toBe(0);
        expect(shown.text.isWellFormed()).toBe(true);
        // Our own marks keep words that are written from right to left in their places.
        expect(shown.text.replaceAll('\u200e', '')).not.toMatch(HIDDEN);
        expect(shown.files.length).toBeLessThanOrEqual(10);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a plan in the thread', () => {
  it('shows what else it would allow', () => {
    const asked = request('ExitPlanMode');
    const allowedPrompts = [{ tool: 'Bash', prompt: 'push to any remote' }];
    const plan = 'a line of the plan\n'.repeat(500);
    const input = { ...asked, input: { plan, allowedPrompts } };
    expect(contentOf(promptOf(input), input, NO_ANSWER_YET, 'Claude')).toContain('push to any remote');
  });

  it.each([
    ['/home/you/.claude/plans/plan-quiet-fox.md', '📋 Claude has a plan:\n1. Read\n-# `approve`'],
    ['/etc/passwd', '📋 Claude has a plan:\n```json\n{\n  "planFilePath": "/etc/passwd"'],
  ])('names its file only if it is not one of Claude Code itself: %s', (planFilePath, begins) => {
    const input = { ...request('ExitPlanMode'), input: { plan: '1. Read', planFilePath } };
    expect(contentOf(promptOf(input), input, NO_ANSWER_YET, 'Claude').startsWith(begins)).toBe(true);
  });

  it('that is not text is shown as JSON', () => {
    const plan = { steps: ['read', 'push to any remote'] };
    const input = { ...request('ExitPlanMode'), input: { plan } };
    const shown = contentOf(promptOf(input), input, NO_ANSWER_YET, 'Claude');
    expect(shown).toContain('"push to any remote"');
    expect(shown).not.toContain('[object');
  });

  it('is shown whole', () => {
    const { text, files } = planText('## Plan\n1. Read\n2. Write', 'Claude');
    expect(text).toBe('📋 Claude has a plan:\n## Plan\n1. Read\n2. Write');
    expect(files).toEqual([]);
  });

  it.each(['```sh\nls\n```', '~~~\nls\n~~~', '- ```TS\n  a\n  ```\r\n', 'a \\d b'])(
    'is only posted as text if nothing in it is hidden: %j',
    (plan) => expect(planText(plan, 'Claude').files).toEqual([]),
  );

  it.each([
    '||rm -rf ~||',
    '[the manual](https://example.com/other)',
    '```rm -rf ~\n1. Read\n```',
    '```rm\n1. Read\n```',
    '```sh rm -rf ~\nls\n```',
    '~~~sh `rm -rf ~`\nls\n~~~',
    'First: ````curl\nls\n````',
    '> - ```python -c\n> ls\n> ```',
    'tell <@123>, then </deploy:456>',
    'delete \\*.ts',
    `1. Read\n${'- '.repeat(7)}rm -rf ~`,
    `${'> 1. '.repeat(4)}rm -rf ~`,
  ])('is also attached as a file if Markdown hides a part of it: %s', (plan) => {
    expect(fileOf(planText(plan, 'Claude'), 'plan.md')).toBe(plan);
    expect(planText(plan, 'Claude').text).toContain('attached');
  });

  it('is also attached as a file if it is long, and a fence open at the cut is closed', () => {
    const plan = `Begin\n\`\`\`sh\n${'echo hello\n'.repeat(900)}\`\`\`\nEnd`;
    const shown = planText(plan, 'Claude');
    expect(fencesOf(shown.text)).toBe(2);
    expect(fileOf(shown, 'plan.md')).toBe(plan);
  });

  it.each(['', '```', '```sh\nrm', '\u202e', '😀'.repeat(2_000)])('fits into a message: %j', (plan) => {
    const { text } = planText(plan, 'Claude');
    expect(text.length).toBeLessThanOrEqual(PROMPT_TEXT_LIMIT);
    expect(fencesOf(text) % 2).toBe(0);
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toMatch(HIDDEN);
  });
});

describe('questions in the thread', () => {
  const question = (over: Partial<PromptQuestion> = {}): PromptQuestion => ({
    question: 'Which database?',
    header: 'Database',
    multiSelect: false,
    options: [
      { label: 'SQLite', description: 'One file' },
      { label: 'Postgres', description: '' },
    ],
    ...over,
  });

  it('show header, number, options and their descriptions', () => {
    const shown = questionText([question(), question({ multiSelect: true })], { chosen: ['A*B'] });
    expect(shown.text.split('\n')).toEqual([
      '✔ **Database**: A\\*B',
      '❓ **Database** (2 of 2): Which database?',
      '**1.** SQLite — One file',
      '**2.** Postgres',
    ]);
    expect(shown.hint).toContain('with commas');
  });

  it('show the answers before they are submitted', () => {
    const { text, hint } = questionText([question(), question()], { chosen: ['A', 'B'] });
    expect(text).toBe('❓ Your answers:\n✔ **Database**: A\n✔ **Database**: B');
    expect(hint).toContain('`submit`');
  });

  it('show no Markdown of a label, and hide nothing', () => {
    const option = { label: '**1** ||x|| \u202e@everyone', description: '[safe](http://evil)' };
    const asked = question({ options: [option] });
    const { text } = questionText([asked], NO_ANSWER_YET);
    expect(text).toContain('\\*\\*1\\*\\* \\|\\|x\\|\\| ⟨U+202E⟩\\@everyone — \\[safe\\](http');
    const rows = JSON.stringify(promptButtons(ID, { kind: 'question', questions: [asked] }, NO_ANSWER_YET));
    expect(rows).not.toMatch(HIDDEN);
    expect(rows).toContain('⟨U+202E⟩');
  });

  it('are shown whole after a long answer, or attached', () => {
    const asked = question({ question: `${'Why? '.repeat(200)}And delete it?` });
    const shown = questionText([question(), asked], { chosen: ['w'.repeat(2_000)] });
    expect(shown.text).toContain('And delete it?');
    const huge = question({ question: `${'Why? '.repeat(310)}And delete it?` });
    expect(fileOf(questionText([question(), huge], NO_ANSWER_YET), 'questions.txt')).toContain('And delete it?');
  });

  it('that are long are shortened, and attached in full with the first one', () => {
    const options = Array.from({ length: 20 }, (_, at) => ({
      label: `Option ${at} ${'x'.repeat(90)} end ${at}.`,
      description: 'd'.repeat(400),
    }));
    const shown = questionText([question(), question({ options })], NO_ANSWER_YET);
    expect(shown.text).toContain('(1 of 2)');
    for (const { label, description } of options) {
      expect(fileOf(shown, 'questions.txt')).toContain(`${label} — ${description}`);
    }
    const second = questionText([question(), question({ options })], { chosen: ['x'] });
    expect(second.text.length).toBeLessThanOrEqual(PROMPT_TEXT_LIMIT);
    expect(second.text).toContain('**20.** Option 19');
  });
});

describe('for any prompt of Claude,', () => {
  const words = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc
      .constantFrom('😀', '*', '\u202e', ' ', '`', '@everyone ')
      .chain((bit) => fc.nat(300).map((times) => bit.repeat(times))),
  );
  const option = fc.record({ label: words, description: words });
  const questions = fc.array(
    fc.record({
      question: words,
      header: words,
      multiSelect: fc.boolean(),
      options: fc.array(option, { maxLength: 30 }),
    }),
    { minLength: 1, maxLength: 8 },
  );

  it('every message is accepted by Discord, from the first step to the last', () => {
    const ends = fc.constantFrom<PromptEnd>({ kind: 'answered' }, { kind: 'exited' }, { kind: 'time is up' });
    fc.assert(
      fc.property(questions, words, ends, (asked, answer, end) => {
        const prompt: Prompt = { kind: 'question', questions: asked };
        let progress: PromptProgress = NO_ANSWER_YET;
        for (let steps = 0; steps <= asked.length; steps++) {
          const shown = questionText(asked, progress);
          accepted(shown, end, prompt, promptButtons(ID, prompt, progress));
          const text = answer.trim() === '' ? '1' : answer;
          const next = nextPromptStep(prompt, progress, { action: 'text', values: [], text });
          if (next.kind === 'decided') return accepted(shown, { ...next, by: { id: '1', name: answer } }, prompt, []);
          if (next.kind === 'goes on') progress = next.progress;
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each<Prompt>([
    { kind: 'permission', canAlways: true },
    { kind: 'permission', canAlways: false },
    { kind: 'plan' },
  ])('the buttons of %j are accepted by Discord', (prompt) => {
    expect(messageComponents.safeParse(promptButtons(ID, prompt, NO_ANSWER_YET)).error).toBe(undefined);
  });

  it('Always is only offered if Claude Code offered it', () => {
    const labels = (canAlways: boolean) =>
      JSON.stringify(promptButtons(ID, { kind: 'permission', canAlways }, NO_ANSWER_YET));
    expect(labels(true)).toContain('Always allow');
    expect(labels(false)).not.toContain('Always allow');
  });

  function accepted(shown: PromptText, end: PromptEnd, prompt: Prompt, rows: readonly unknown[]): void {
    for (const content of [`${shown.text}\n${shown.hint}`, `${shown.text}\n${promptEndText(prompt, end, 'Claude')}`]) {
      expect(content.length).toBeLessThanOrEqual(2_000);
      expect(content.isWellFormed()).toBe(true);
      expect(content).not.toMatch(HIDDEN);
    }
    expect(messageComponents.safeParse(rows).error).toBe(undefined);
  }
});

describe('the output for Claude Code', () => {
  const output = (name: string, decision: PromptDecision) =>
    JSON.parse(claude.answer(request(name), decision) ?? 'null');
  const decision = (decision: object) => ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
  });

  it('allows', () => {
    expect(output('Bash', { kind: 'allow', always: false })).toEqual(decision({ behavior: 'allow' }));
  });

  it('always allows, with the rules that it suggested itself, unchanged', () => {
    expect(output('Bash', { kind: 'allow', always: true })).toEqual(
      decision({
        behavior: 'allow',
        updatedPermissions: fixture('PermissionRequest.Bash').permission_suggestions,
      }),
    );
  });

  it('denies, with the reason', () => {
    expect(output('Bash', { kind: 'deny', reason: 'use a temp dir instead' })).toEqual(
      decision({ behavior: 'deny', message: 'use a temp dir instead' }),
    );
    expect(output('Bash', { kind: 'deny', reason: '' })).toEqual(
      decision({ behavior: 'deny', message: 'The user denied this.' }),
    );
  });

  it('contains the whole input, and the answers by the exact text of their questions', () => {
    const given = fixture('PermissionRequest.AskUserQuestion.two-questions').tool_input as {
      questions: { question: string }[];
    };
    const [first, second] = given.questions.map(({ question }) => question);
    expect(
      output('AskUserQuestion.two-questions', {
        kind: 'answers',
        answers: ['SQLite', 'Cache, Queue'],
      }),
    ).toEqual(
      decision({
        behavior: 'allow',
        updatedInput: {
          ...given,
          answers: { [String(first)]: 'SQLite', [String(second)]: 'Cache, Queue' },
        },
      }),
    );
  });

  it('approves or rejects a plan', () => {
    expect(promptOf(request('ExitPlanMode'))).toEqual({ kind: 'plan' });
    expect(output('ExitPlanMode', { kind: 'allow', always: false })).toEqual(
      decision({ behavior: 'allow', updatedInput: request('ExitPlanMode').input }),
    );
  });

  it('never guesses: questions that we cannot read are shown as a permission', () => {
    const input = askedBy({ tool_input: { questions: [] } }, 'PermissionRequest.AskUserQuestion');
    expect(promptOf(input)).toEqual({ kind: 'permission', canAlways: false });
  });
});

describe('the last line of a prompt', () => {
  const by = { id: '1', name: 'a*b' };
  const permission: Prompt = { kind: 'permission', canAlways: true };

  it.each<[Prompt, PromptEnd, string]>([
    [permission, { kind: 'answered' }, '🖥️ Answered in the terminal.'],
    [permission, { kind: 'exited' }, '⏹️ Claude has exited.'],
    [permission, { kind: 'called off' }, '⏹️ Cancelled in the terminal.'],
    [
      permission,
      { kind: 'time is up' },
      '⌛ Not answered here in time. Answer in the terminal, where the dialog is still open.',
    ],
    [permission, decided({ kind: 'allow', always: false }), '✅ **Allowed** — a\\*b'],
    [permission, decided({ kind: 'allow', always: true }), '✅ **Always allowed** — a\\*b'],
    [permission, decided({ kind: 'deny', reason: '' }), '⛔ **Denied** — a\\*b'],
    [permission, decided({ kind: 'deny', reason: 'x_y' }), '⛔ **Denied**: x\\_y — a\\*b'],
    [{ kind: 'plan' }, decided({ kind: 'allow', always: false }), '✅ **Approved** — a\\*b'],
    [{ kind: 'plan' }, decided({ kind: 'deny', reason: 'no' }), '⛔ **Rejected**: no — a\\*b'],
    [{ kind: 'question', questions: [] }, decided({ kind: 'answers', answers: ['A', 'B'] }), '✅ **A · B** — a\\*b'],
  ])('for %j says how it ended: %j', (prompt, ended, expected) => {
    expect(promptEndText(prompt, ended, 'Claude')).toBe(expected);
  });

  function decided(decision: (PromptEnd & { kind: 'decided' })['decision']): PromptEnd {
    return { kind: 'decided', decision, by };
  }
});

describe('escaped text', () => {
  it('never ends inside an escape', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('*', 'a', '😀', '\\') }),
        fc.integer({ min: 2, max: 40 }),
        (text, room) => {
          const shown = escapeText(text, room);
          expect(shown.length).toBeLessThanOrEqual(room);
          expect(shown.replace(/\\./gu, '')).not.toMatch(/[\\*]/);
          expect(shown.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

function request(name: string): AskedEvent {
  return askedBy({}, `PermissionRequest.${name}`);
}

describe('a question whose options have a preview', () => {
  it('attaches all of it, so that the choice is shown whole', () => {
    const option = (label: string, preview?: string) => ({ label, description: '', preview });
    const questions = [
      {
        question: 'Which?',
        header: 'Way',
        multiSelect: false,
        options: [option('A', 'rm -rf ~'), option('B')],
      },
    ];
    const shown = questionText(questions, NO_ANSWER_YET);
    expect(shown.hint).toContain('`questions.txt`');
    expect(fileOf(shown, 'questions.txt')).toContain('rm -rf ~');
  });
});
