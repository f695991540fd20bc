// No regular expression may take more than linear time, because untrusted text could freeze the process.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from 'recheck';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { allDrivers } from '../agents/list.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = 'agents bin bridge core discord home hooks hosts streams threads tmux workspace scripts install';

/** Built at run time; each with all its cases or the worst one, or why it needs no check. */
const MADE: Readonly<Record<string, readonly string[] | { readonly because: string }>> = {
  "threads/reconcile.ts: new RegExp(pattern, 'u')": {
    because: 'the user’s own pattern, on the first 200 characters of a name',
  },
  "agents/screen-fingerprint.ts: new RegExp(dialogLine, 'm')": allDrivers().flatMap(({ screen }) =>
    screen.dialogLine === undefined ? [] : [`/${screen.dialogLine}/m`],
  ),
  "agents/claude/typing.ts: new RegExp(BOX, 'm')": ['/^❯\u00a0/m'],
  "core/config-schema.ts: new RegExp(text, 'gmu')": { because: 'it is compiled, never run' },
};

interface Found {
  readonly place: string;
  readonly text: string;
}

function sources(path: string): readonly string[] {
  if (/\.(?:ts|m?js)$/.test(path)) return [path];
  return readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((one) =>
    one.isDirectory() || /\.(?:ts|m?js)$/.test(one.name) ? sources(join(path, one.name)) : [],
  );
}

function expressionsIn(path: string, text: string): readonly Found[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    const place = () => `${path}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`;
    if (ts.isRegularExpressionLiteral(node)) found.push({ place: place(), text: node.text });
    else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(source) === 'RegExp') {
      const made = MADE[`${path}: ${node.getText(source)}`] ?? [node.getText(source)];
      if (!('because' in made)) found.push(...made.map((text) => ({ place: place(), text })));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/**
 * The same shape with fewer states makes the check a hundred times faster: counts above 3 and the ends of plain words change
 * how long an attempt is, not how the time grows with the text. A sticky expression is tried at one position only.
 */
function shortened(text: string): { readonly source: string; readonly flags: string } {
  const end = text.lastIndexOf('/');
  const flags = text.slice(end + 1);
  const source = text
    .slice(1, end)
    .replace(
      /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\.|\[(?:[^\]\\]|\\.)*\]|\{(\d+)(,?)(\d*)\}|[A-Za-z ]{4,}(?![*+?{])/gi,
      (token, least?: string, comma?: string, most?: string) => {
        if (least !== undefined) return `{${capped(least)}${comma}${most ? capped(most) : ''}}`;
        return /^[A-Za-z ]/.test(token) ? token.slice(0, 2) : token;
      },
    );
  return { source: flags.includes('y') ? `^(?:${source})` : source, flags: flags.replace(/[gyd]/g, '') };
}

function capped(count: string): number {
  return Math.min(3, Number(count));
}

/** The native checker needs a tenth of the time of the JavaScript one, which is the fallback. */
async function problemOf({ place, text }: Found): Promise<readonly string[]> {
  if (!text.startsWith('/')) return [`${place} makes ${text}: name it in this test`];
  const { source, flags } = shortened(text);
  if (!/[*+]|,\}/.test(source)) return []; // nothing repeats without a limit
  // A try that takes too long counts as an attack, also if the machine was only busy: the limits on steps are enough.
  const untimed = { seedingTimeout: null, incubationTimeout: null, mutationTimeout: null };
  const verdict = await check(source, flags, { ...untimed, timeout: 20_000, attackTimeout: 15_000 });
  if (verdict.status === 'safe') return [];
  const degree = verdict.status === 'vulnerable' ? verdict.complexity.summary : verdict.status;
  return [`${place} ${text} is ${degree}`];
}

describe('regular expressions', () => {
  const all = FOLDERS.split(' ')
    .flatMap(sources)
    .flatMap((path) => expressionsIn(path, readFileSync(join(ROOT, path), 'utf8')));

  it('are linear in the length of the text', async () => {
    const unique = [...new Map(all.map((one) => [one.text, one])).values()];
    expect(unique.length).toBeGreaterThan(200);
    const problems = [];
    for (const one of unique) problems.push(...(await problemOf(one)));
    expect(problems).toEqual([]);
  });

  it.each([
    ['/^\\s*\\[ATTACH:\\s*(.+?)\\s*\\]\\s*$/', '3rd degree'],
    ['/\\s+$/', '2nd degree'],
    ['/(a+)+$/', 'exponential'],
    ['/REMOTE HOST IDENTIFICATION HAS CHANGED|host key .*has changed/i', '2nd degree'],
  ])('like %s would be found', async (text, degree) => {
    expect(await problemOf({ place: 'here', text })).toEqual([expect.stringContaining(degree)]);
  });

  it('that are built at run time are found too', () => {
    const found = expressionsIn('x.ts', 'new RegExp(a); RegExp(b); /c/.test(d)');
    expect(found.map((one) => one.text)).toEqual(['new RegExp(a)', 'RegExp(b)', '/c/']);
  });
});
