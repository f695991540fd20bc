import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../core/version.ts';

/** The folders that a folder may import from, besides itself. */
const ADAPTERS = ['core', 'discord', 'tmux', 'agents', 'hosts', 'home'];
const SHARED = [...ADAPTERS, 'threads'];
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  home: ['core'],
  hosts: ['core', 'home'],
  discord: ['core'],
  agents: ['core', 'home', 'hosts'],
  tmux: ['core', 'hosts', 'home'],
  threads: ADAPTERS,
  streams: SHARED,
  hooks: SHARED,
  bridge: [...SHARED, 'streams'],
  workspace: ADAPTERS,
  install: ADAPTERS,
  bin: [...SHARED, 'streams', 'hooks', 'bridge', 'workspace', 'install'],
};

/** The only folders that may import a package. */
const PACKAGE_HOME: Record<string, RegExp> = {
  ws: /^(discord|workspace|agents\/codex)\//,
  undici: /^discord\//,
  commander: /^bin\//,
  '@clack': /^bin\//,
  '@modelcontextprotocol': /^bin\/mcp\/sdk/,
  'jsonc-parser': /^agents\/claude\//,
  '@xterm': /^streams\//,
  '@resvg': /^streams\//,
  zod: /./,
};

/** Every other file reads untrusted JSON with `parseJson`, which limits the depth. */
const READS_JSON = [
  'core/json.ts',
  'agents/opencode/plugin.ts', // what our own script printed, in the process of OpenCode
  'bridge/commands/streams.ts', // a string
  'streams/picture/picture.ts', // written by us, in its own process
  // Files that we wrote into our home.
  'home/atomic-write.ts',
  'workspace/storage/journal.ts',
];

/** Text between two stars: where words are made bold, and in the tables of a reply, which is Markdown. */
const BOLD = ['core/untrusted-text.ts', 'core/markdown-tables.ts'];

/** Who may write to the terminal, or to the process that started us. Nothing from outside may control the terminal. */
const PRINTS =
  /^bin\/(print|run-command-line|terminal-emulator|acts\/start-place)\.ts$|^agents\/pi\/extension\.ts$|^streams\/picture\//;

/** Modules that core must not use, because it is pure. */
const IMPURE = /^node:(fs|net|http|https|child_process|dgram|tls|worker_threads|os)(\/|$)/;

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

function importsOf(source: string): readonly Import[] {
  const found = source.matchAll(
    /^\s*(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm,
  );
  return [...found].map(([, type, a, b, c]) => ({ from: a ?? b ?? c ?? '', typeOnly: type !== undefined }));
}

function problems(file: string, source: string): readonly string[] {
  const folder = file.split('/')[0] as string;
  const allowed = [folder, ...(MAY_IMPORT[folder] ?? [])];
  return importsOf(source).flatMap(({ from, typeOnly }) => {
    if (from.startsWith('.')) {
      const [target = '', rest] = join(folder, ...file.split('/').slice(1, -1), from).split('/');
      const where = rest === undefined ? '.' : target;
      return allowed.includes(where) ? [] : [`${file} imports ${where}/`];
    }
    if (folder === 'core' && IMPURE.test(from)) return [`${file} imports ${from}, but core is pure`];
    if (from.startsWith('node:')) return [];
    if (from.startsWith('discord-api-types')) return typeOnly ? [] : [`${file} imports ${from} at run time`];
    const home = PACKAGE_HOME[from.split('/')[0] as string];
    return home?.test(file) ? [] : [`${file} imports the package ${from}`];
  });
}

function sourcesIn(folder: string, isSource: RegExp): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => isSource.test(name)).map((name) => join(folder, name));
}

const files = Object.keys(MAY_IMPORT).flatMap((folder) => sourcesIn(folder, /\.ts$/));
const everything = [...Object.keys(MAY_IMPORT), 'test', 'bench', 'scripts'].flatMap((folder) =>
  sourcesIn(folder, /\.(ts|js|mjs)$/),
);

describe('the architecture check', () => {
  it('sees every source file', () => {
    expect(files).toContain('core/errors.ts');
    expect(files.length).toBeGreaterThan(30);
    expect(everything).toEqual(expect.arrayContaining([...files, 'test/architecture.test.ts', 'bench/run.mjs']));
  });

  it.each(files)('accepts the imports and the size of %s', (file) => {
    const source = readFileSync(file, 'utf8');
    expect(problems(file, source)).toEqual([]);
    expect(source.split('\n').length - 1).toBeLessThanOrEqual(250);
    // Its message is shown in threads as our own words; that of bin/ only in a terminal.
    if (!file.startsWith('bin/'))
      expect(source, 'quote it with untrustedCode').not.toMatch(/new ThreadmuxError\([^;`]*`[^;`]*\$\{JSON\.stringify/);
    // Discord ends bold text at the next two stars, also inside of code.
    if (!BOLD.includes(file))
      expect(source, 'use bold of core/untrusted-text.ts').not.toMatch(/\*\*(\$\{|[^*`\n]*\wCode\()/);
    expect(source, 'no code in bold text').not.toMatch(/\bbold\([^)\n]*[cC]ode\(/);
    if (!PRINTS.test(file)) expect(source, 'use bin/print.ts').not.toMatch(/console\.|process\.std(out|err)\.write/);
    if (!READS_JSON.includes(file)) expect(source, 'use parseJson of core/json.ts').not.toContain('JSON.parse(');
    expect(source, 'no default exports').not.toMatch(/^export default/m);
    // The extension runs in pi's process.
    if (!file.startsWith('bin/') && file !== 'agents/pi/extension.ts')
      expect(source, 'only bin/ speaks to the process').not.toMatch(/process\.(exit|argv|env)\b/);
  });

  it.each([
    ['core/x.ts', "import { readFileSync } from 'node:fs';", 'core is pure'],
    ['core/x.ts', "import { a } from '../home/atomic-write.ts';", 'imports home/'],
    ['bridge/x.ts', "import { a } from '../hooks/post-letter.ts';", 'imports hooks/'],
    ['hooks/x.ts', "export { a } from '../bridge/route.ts';", 'imports bridge/'],
    ['discord/x.ts', "const a = await import('../hosts/host.ts');", 'imports hosts/'],
    ['bridge/x.ts', "import { WebSocket } from 'ws';", 'imports the package ws'],
    ['discord/x.ts', "import { Routes } from 'discord-api-types/v10';", 'at run time'],
    ['tmux/x.ts', "import 'left-pad';", 'imports the package left-pad'],
  ])('would report in %s: %s', (file, source, problem) => {
    expect(problems(file, source).join()).toContain(problem);
  });

  it('accepts no object literal that is spread into another one', () => {
    const found = everything.flatMap((file) => {
      const source = readFileSync(file, 'utf8');
      const spreads = [...source.matchAll(/\.\.\.\s*\(?\s*\{/g)];
      return spreads.map(({ index }) => `${file}:${source.slice(0, index).split('\n').length}`);
    });
    expect(found, 'write the fields plainly').toEqual([]);
  });

  it('finds the package version in what other programs are told', () => {
    expect(VERSION).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });
});
