import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrappedCommandIn } from '../../../agents/claude/hook-commands.ts';
import {
  addThreadmux,
  hookSettings,
  inspectSettings,
  ownStatusline,
  removeThreadmux,
  showsStatusline,
} from '../../../agents/claude/settings.ts';

const paths = { dist: '/opt/threadmux/dist' };
const moved = { dist: "/srv/it's here/dist" };
const theirs = (command: string) => ({ hooks: [{ type: 'command', command }] });

describe('what install adds to the settings', () => {
  it('matches the example in the documentation', () => {
    const example = JSON.parse(readFileSync('settings.example.json', 'utf8'));
    expect(JSON.parse(addThreadmux('{}\n', paths))).toEqual(example);
    expect(hookSettings(paths)).toEqual({ hooks: example.hooks });
  });

  it('follows the entries of others, whose bytes stay unchanged', () => {
    const text = `{\n\t"hooks":   {\n\t\t"Stop": [ ${JSON.stringify(theirs('say'))} ]\n\t},\n\n\t"model" : "\\u006fpus"\n}`;
    const after = addThreadmux(text, paths);
    const kept = after.split('\n').filter((line) => text.split('\n').includes(line));
    expect(kept).toContain('\t"hooks":   {');
    expect(after).toContain('"model" : "\\u006fpus"');
    expect(JSON.parse(after).hooks.Stop).toEqual([theirs('say'), hookSettings(paths).hooks.Stop?.[0]]);
    expect(after).toContain('\n\t\t"UserPromptSubmit": [\n\t\t\t{\n');
    expect(after.endsWith('}')).toBe(true);
  });

  it.each([
    ['two spaces', '{\n  "a": 1\n}\n', '\n  "hooks": {\n    "UserPromptSubmit": [\n'],
    ['four spaces', '{\n    "a": 1\n}\n', '\n    "hooks": {\n        "UserPromptSubmit": [\n'],
    ['CRLF', '{\r\n  "a": 1\r\n}\r\n', '\r\n  "hooks": {\r\n    "UserPromptSubmit": [\r\n'],
    ['one line', '{"a":1}', '{"a":1,"hooks":{"UserPromptSubmit":[{'],
    ['an empty object', '{}', '{\n  "hooks": {\n'],
    ['an empty file', '', '{\n  "hooks": {\n'],
  ])('is formatted like a file with %s', (_, text, expected) => {
    const after = addThreadmux(text, paths);
    expect(after).toContain(expected);
    expect(JSON.parse(after).hooks).toEqual(hookSettings(paths).hooks);
    if (text.includes('\r')) expect(after.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it('changes nothing the second time, even if the user moved and reformatted it', () => {
    const once = addThreadmux('{"hooks":{"Stop":[]}}', paths);
    expect(addThreadmux(once, paths)).toBe(once);
    const settings = JSON.parse(once);
    settings.hooks.Stop.push(theirs('after'));
    settings.hooks.Stop[0].hooks.unshift({ type: 'command', command: 'before' });
    const reformatted = JSON.stringify(settings, null, 7);
    expect(addThreadmux(reformatted, paths)).toBe(reformatted);
  });

  it('replaces the entries of an installation in another place', () => {
    const old = addThreadmux('{\n  "statusLine": {"type": "command", "command": "mine"}\n}\n', moved);
    const now = addThreadmux(old, paths);
    expect(now).not.toContain('/srv/');
    expect(JSON.parse(now).hooks).toEqual(hookSettings(paths).hooks);
    expect(ownStatusline(now)).toBe('mine');
  });

  it('goes where Claude Code reads it if a key appears twice', () => {
    const [stop] = hookSettings(moved).hooks.Stop ?? [];
    const after = addThreadmux(`{"hooks":[],"hooks":{"Stop":[${JSON.stringify(stop)}]}}`, paths);
    expect(JSON.parse(after).hooks).toEqual(hookSettings(paths).hooks);
  });

  it.each([
    ['a comment', '{\n  // mine\n  "a": 1\n}', /line 2 contains a comment/],
    ['a trailing comma', '{\n"a": 1,\n}', /line 3 has "}"/],
    ['half a file', '{"a": [1', /the end of the file/],
    ['a list', '[]', /is not a JSON object/],
    ['hooks as a list', '{"hooks": []}', /"hooks" is not an object/],
    ['an event that is not a list', '{"hooks": {"Stop": {}}}', /"hooks.Stop" is not a list/],
    ['a hook without its group', '{"hooks": {"Stop": [{"command": "x"}]}}', /"hooks.Stop"/],
  ])('is refused for %s', (_, text, sentence) => {
    expect(() => addThreadmux(text, paths)).toThrow(sentence);
  });
});

describe('a settings file', () => {
  /** What JSON.parse refuses, Claude Code refuses too: an edit would only hide the mistake. */
  it('is accepted only if it is strict JSON', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"a"', '"\\u00e9"', '"\\x"', '"\t"', '"', ' ', '\n', '\r', '\u00a0', '\u2028'],
      ...['\ufeff', '0', '01', '-', '1.', '.5', '1e3', '1E+', 'true', 'nul', 'NaN', '//', '/**/', "'a'", 'a'],
    );
    const typed = fc.tuple(fc.array(piece, { maxLength: 3 }), fc.nat(40));
    fc.assert(
      fc.property(fc.json(), typed, (json, [pieces, at]) => {
        const text = json.slice(0, at) + pieces.join('') + json.slice(at);
        expect(inspectSettings(`{"x": ${text}}`).kind).toBe(isJson(`{"x": ${text}}`) ? 'settings' : 'invalid');
      }),
      { numRuns: 2_000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('what uninstall leaves of the settings', () => {
  it('keeps every entry of others, before, between and after ours', () => {
    const settings = JSON.parse(addThreadmux('{"hooks":{"Stop":[]}}', paths));
    const [ours] = settings.hooks.Stop;
    settings.hooks.Stop = [theirs('before'), ours, theirs('after')];
    settings.hooks.Stop.push({ hooks: [theirs('a').hooks[0], ours.hooks[0], theirs('b').hooks[0]] });
    settings.hooks.PostToolUse = [theirs('other')];
    const left = JSON.parse(removeThreadmux(JSON.stringify(settings, null, 3)));
    expect(left).toEqual({
      hooks: {
        Stop: [theirs('before'), theirs('after'), { hooks: [...theirs('a').hooks, ...theirs('b').hooks] }],
        PostToolUse: [theirs('other')],
      },
    });
  });

  it('keeps what was already empty, and removes what we created', () => {
    const before = '{"hooks": {"Stop": []}}';
    const after = addThreadmux(before, paths);
    expect(removeThreadmux(after, before)).toBe(before);
    expect(removeThreadmux(addThreadmux('{"a":1}', paths))).toBe('{"a":1}');
  });

  it('is an error if the file has become invalid', () => {
    expect(() => removeThreadmux(`${addThreadmux('{}', paths)},`)).toThrow(/not valid JSON/);
  });

  it('is byte for byte the original file', () => {
    const line = fc.option(fc.record({ type: fc.constant('command'), command: fc.string(), padding: fc.nat(3) }), {
      nil: undefined,
    });
    const group = fc.record({
      matcher: fc.string(),
      hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() }), { minLength: 1 }),
    });
    const event = fc.constantFrom('Stop', 'PreToolUse', 'PostToolUse', 'SessionEnd');
    const hooks = fc.option(fc.dictionary(event, fc.array(group, { minLength: 1 }), { minKeys: 1 }), {
      nil: undefined,
    });
    const settings = fc.record({
      model: fc.string(),
      env: fc.dictionary(fc.string(), fc.jsonValue()),
      hooks,
      statusLine: line,
    });
    const space = fc.constantFrom(undefined, 2, 4, '\t');
    fc.assert(
      fc.property(settings, space, fc.boolean(), (value, indent, windows) => {
        const text = JSON.stringify(value, null, indent).replaceAll('\n', windows ? '\r\n' : '\n');
        const after = addThreadmux(text, moved);
        expect(addThreadmux(after, moved)).toBe(after);
        expect(removeThreadmux(after)).toBe(text);
        const { hooks: was = {}, ...rest } = JSON.parse(text);
        const now = JSON.parse(after);
        expect(now).toMatchObject(value.statusLine ? { model: rest.model } : rest);
        for (const key of Object.keys(was)) expect(now.hooks[key].slice(0, was[key].length)).toEqual(was[key]);
      }),
      { numRuns: 150 },
    );
  });
});

describe('the status line in the settings', () => {
  const wrap = (command: string) =>
    JSON.parse(addThreadmux(JSON.stringify({ statusLine: { type: 'command', command, padding: 0 } }), moved))
      .statusLine;

  it.each(['mine', 'npx -y ccstatusline@latest', `a 'b' "c" \\ $(d) # e`, "''", 'x\ny', '--', '-n -- x'])(
    'keeps the user’s command %j readable inside ours',
    (command) => {
      const { command: ours, padding } = wrap(command);
      expect(padding).toBe(0);
      expect(wrappedCommandIn(ours)).toEqual({ command, borrowed: false });
    },
  );

  it('restores the user’s command as the user edited it inside ours', () => {
    const text = JSON.stringify({ statusLine: wrap('mine') }).replace('-- mine', '-- mine --fancy');
    expect(JSON.parse(removeThreadmux(text)).statusLine.command).toBe('mine --fancy');
  });

  it.each([
    [
      `THREADMUX_HOME='/x/statusline -- y' '/srv/it'\\''s here/dist/hooks/statusline' -- 'my line' # threadmux`,
      'my line',
    ],
    ['/opt/threadmux/dist/hooks/statusline -- mine --fancy -- x', 'mine --fancy -- x'],
    ['/opt/threadmux/dist/hooks/statusline # threadmux', undefined],
    ['/opt/threadmux/dist/hooks/statusline --borrowed -- x # threadmux', undefined],
  ])('restores what %s wraps', (command, inner) => {
    const text = JSON.stringify({ statusLine: { type: 'command', command } });
    expect(showsStatusline(text)).toBe(true);
    for (const ours of [text, addThreadmux(text, paths)])
      expect(JSON.parse(removeThreadmux(ours)).statusLine?.command).toBe(inner);
  });

  it('is left alone if it replaced ours or has another form', () => {
    const replaced = addThreadmux('{}', paths).replace(/"[^"]*hooks\/statusline[^"]*"/, '"theirs"');
    expect(JSON.parse(removeThreadmux(replaced))).toEqual({ statusLine: { type: 'command', command: 'theirs' } });
    const odd = addThreadmux('{"statusLine": {"type": "static", "text": "x"}}', paths);
    expect(JSON.parse(odd).statusLine).toEqual({ type: 'static', text: 'x' });
    expect(showsStatusline(odd)).toBe(false);
  });

  it('shows the user’s line in a project, and removes none of it on uninstall', () => {
    const after = addThreadmux('{"a":1}', paths, 'their line');
    expect(wrappedCommandIn(JSON.parse(after).statusLine.command)).toEqual({ command: 'their line', borrowed: true });
    expect(ownStatusline(after)).toBeUndefined();
    expect(removeThreadmux(after)).toBe('{"a":1}');
  });
});
