// Exported names and file names are unique, nothing is exported in vain, and old-fashioned words stay out.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';

const ROOMS = /^(agents|bin|bridge|core|discord|home|hooks|hosts|install|streams|threads|tmux|workspace)\//;

/** Folders whose name is half of the file's name: `bridge/commands/new.ts` is the command `!new`. */
const FAMILIES: Record<string, string> = {
  'agents/': 'one folder per agent, whose files have the same names',
  'bin/commands/': 'one file per command of the command line',
  'bin/doctor/': 'one file per thing that doctor checks',
  'bin/init/': 'one file per step of init',
  'bridge/commands/': 'one file per command in a thread',
  'streams/agent/': 'the parts of a headless agent',
  'streams/terminal/': 'the parts of a terminal',
  'workspace/routes/': 'one file per group of REST routes',
  'workspace/wire/': 'what one kind of object looks like on the wire',
  'workspace/page/': 'the page is a program of its own, in the browser',
};

/** Names that exist twice for a reason. */
const TWICE: Record<string, string> = {};

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n').filter(Boolean);
const product = tracked.filter((file) => ROOMS.test(file) && /\.(ts|js)$/.test(file));

function repeated(pairs: readonly (readonly [name: string, file: string])[]): readonly string[] {
  const places = new Map<string, string[]>();
  for (const [name, file] of pairs) places.set(name, [...(places.get(name) ?? []), file]);
  return [...places].filter(([, files]) => files.length > 1).map(([name, files]) => `${name}: ${files.join(', ')}`);
}

it('no two files have the same name, except in the listed folders', () => {
  const alone = product.filter((file) => !Object.keys(FAMILIES).some((one) => file.startsWith(one)));
  expect(repeated(alone.map((file) => [basename(file), file]))).toEqual([]);
});

const exported = product
  .filter((file) => !file.startsWith('workspace/page/'))
  .flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^export (?:async )?(?:const|let|function\*?|type|interface|class) (\w+)/gm,
      ),
    ].map(([, name = '']) => [name, file] as const),
  );

it('no two files export the same name', () => {
  expect(exported.length).toBeGreaterThan(500);
  expect(repeated(exported.filter(([name]) => !(name in TWICE)))).toEqual([]);
});

it('no file exports a name that no other file uses', () => {
  const words = new Map<string, Set<string>>();
  for (const file of tracked.filter((one) => /\.(ts|mts|js|mjs)$/.test(one) && !one.startsWith('test/fixtures/')))
    for (const [word] of readFileSync(file, 'utf8').matchAll(/\w+/g))
      words.set(word, (words.get(word) ?? new Set()).add(file));
  expect(exported.filter(([name]) => (words.get(name)?.size ?? 0) < 2).map(String)).toEqual([]);
});

it('no file uses old-fashioned words', () => {
  const old =
    /\b(anew|afresh|whence|thence|whither|hither|thereof|whosoever|mend(s|ed|ing)?|strangerness|forthwith|betwixt|lest)\b/i;
  const found = tracked
    .filter((file) => /\.(ts|js|mjs|md|html|css)$|^hooks\//.test(file))
    .filter((file) => !/^test\/(fixtures|names\.test)|^CHANGELOG/.test(file))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, at) => (old.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
    );
  expect(found).toEqual([]);
});
