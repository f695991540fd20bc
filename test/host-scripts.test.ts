// Every script that may run on another host, in all sources: POSIX sh with options that macOS and busybox have too. They run with
// dash, bash and busybox in other tests; this one finds what GNU tools accept and others do not.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['agents', 'bin', 'bridge', 'hooks', 'hosts', 'install', 'streams', 'threads', 'tmux'];
/** Completions for the user's shell. */
const ONLY_HERE = ['bin/commands/completions.ts'];
/** Those that have another way where there is no /proc, and one that refuses to send files of it. */
const NAMES_PROC = ['hosts/worktree-shell.ts', 'streams/agent/process.ts', 'hooks/ask', 'hooks/outgoing-files.ts'];

const TOOLS =
  'awk|cat|chmod|cksum|cmp|cp|cut|date|dd|df|dirname|du|env|find|grep|head|id|ln|ls|mkdir|mkfifo|mv|od|ps|readlink|rm|rmdir|sed|sleep|sort|tail|tee|touch|tr|uniq|wc|xargs';

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['a long option', new RegExp(`(?:^|[\\s;|&({])(?:${TOOLS})(?= )[^|;&\\n]*\\s--[a-z]`)],
  ['[[ … ]]', /(?:^|[\s;&|])\[\[ /],
  ['==', /\[ [^\]\n]* == /],
  ['a here-string', /<<</],
  ['&>', /&>/],
  ['process substitution', /[\s(][<>]\(/],
  ['local or declare', /(?:^|[\s;{])(?:local|declare|typeset) \w/],
  ['source', /(?:^|[;&|]) *source /],
  ['pipefail', /pipefail/],
  ['read with options other than -r', /\bread -[^r\s]/],
  ['echo with options', /\becho -[a-zA-Z]/],
  ['a brace range', /\{\d+\.\.\d+\}/],
  ['readlink -f, realpath, mktemp, stat', /\breadlink -|\brealpath\b|\bmktemp\b|(?:^|[\s;(])stat -/],
  ['sed -i, -r, -s, -z', /\bsed -[a-zA-Z]*[irsz]/],
  ['date -d, -I, %N', /\bdate -[dIr]|\bdate '?\+[^\s']*%\d*N/],
  ['find -printf, -delete, -quit', /\bfind [^|;\n]*-(?:printf|delete|quit|regextype)/],
  ['xargs -r, -d', /\bxargs -[a-zA-Z]*[rd]/],
  ['grep -P, -z', /\bgrep -[a-zA-Z]*[Pz]/],
  ['cp -a, -T; mv -T, -n; ln -T, -r', /\bcp -[a-zA-Z]*[aT]|\bmv -[a-zA-Z]*[Tnt]|\bln -[a-zA-Z]*[Tr]/],
  ['head or tail with a negative count', /\bhead -[nc] ?-|\btail -[nc] ?\+0/],
  ['sort -V, -z, -h', /\bsort -[a-zA-Z]*[Vzh]/],
  ['dd status=, iflag=, oflag=, or a size with a letter', /\bdd [^|;\n]*(?:status=|[io]flag=|bs=\d+[A-Za-z])/],
  ['touch -d, du -b, od -w, ls -v', /\btouch -d|\bdu -[a-zA-Z]*b|\bod -w|\bls -[a-zA-Z]*v/],
  [
    'programs that only some systems have',
    /\b(?:timeout|setsid|seq|tac|nproc|pgrep|pkill|flock|stdbuf|sha\d+sum|md5sum|shuf) /,
  ],
  ['gensub, strftime or systime of gawk', /\b(?:gensub|strftime|systime)\(/],
  ['a fraction of a second without an alternative', /\bsleep "?0?\.\d+"?(?! 2> ?\/dev\/null \|\| sleep 1)/],
];

const PROC = /\/proc\b/;

/** The texts of a source file that look like shell. */
function shellIn(path: string): readonly string[] {
  const source = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) found.push(node.text);
    else if (ts.isTemplateExpression(node))
      found.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('x'));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.filter((text) =>
    /\$[1-9@#]|"\$\w|;\s*(?:do|then)\b|\besac\b|>\s*\/dev\/null|\|\| exit|&& echo/.test(text),
  );
}

function sources(): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  ).filter((path) => !ONLY_HERE.includes(path));
}

const withoutComments = (script: string) => script.replace(/(^|\s)#[^\n]*/g, '$1');

const scripts: readonly (readonly [string, string])[] = [
  ...sources().flatMap((path) => shellIn(path).map((text) => [path, withoutComments(text)] as const)),
  ...['drop', 'ask', 'statusline'].map((name) => {
    const path = join('hooks', name);
    return [path, withoutComments(readFileSync(join(ROOT, path), 'utf8'))] as const;
  }),
];

describe('the scripts for other hosts', () => {
  it('are found', () => {
    const files = new Set(scripts.map(([path]) => path));
    for (const path of [
      ...['hosts/collect-letters-script.ts', 'hosts/host-home.ts', 'hosts/host-files.ts', 'hosts/host-user-files.ts'],
      ...['hosts/worktree-scripts.ts', 'hosts/worktree-shell.ts', 'hosts/probe.ts', 'hosts/repository.ts'],
      ...['tmux/sessions.ts', 'tmux/keys.ts', 'tmux/type-message.ts', 'tmux/pipe.ts', 'tmux/look.ts', 'tmux/tmux.ts'],
      ...[
        'threads/prompts/hand-answer-to-hook.ts',
        'streams/terminal/remote-log.ts',
        'hooks/outgoing-files.ts',
        'hooks/ask',
      ],
    ])
      expect(files).toContain(path);
  });

  it.each(REFUSED)('have nothing that only GNU tools or bash have: %s', (_, pattern) => {
    const found = scripts.flatMap(([path, text]) => {
      const line = text.split('\n').find((one) => pattern.test(one));
      return line === undefined ? [] : [`${path}: ${line.trim()}`];
    });
    expect(found).toEqual([]);
  });

  it('do not need /proc', () => {
    const found = scripts.filter(([path, text]) => PROC.test(text) && !NAMES_PROC.includes(path));
    expect(found.map(([path]) => path)).toEqual([]);
  });
});
