// The shell code of docs/recipes.md, as it is written there, with the real Claude Code and the scripted model.

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openHome } from '../../../../home/home.ts';
import { loadThreadRecords } from '../../../../threads/registry.ts';
import { type ClaudeLab, startClaudeLab } from '../../../support/claude-lab.ts';
import { declineAutoMode, startLabWithHost } from '../../../support/far-lab.ts';
import { buttonOf } from '../../../support/prompt-pane.ts';

const PATIENCE = { timeout: 90_000, interval: 300 };
const PROGRAM = join(import.meta.dirname, '../../../../dist/bin/threadmux.js');
const RECIPES = readFileSync(join(import.meta.dirname, '../../../../docs/recipes.md'), 'utf8');

/** The code below this heading. */
function recipe(heading: string): string {
  const [, after = ''] = RECIPES.split(`## ${heading}\n`);
  return /```sh\n(.*?)```/s.exec(after)?.[1] ?? '';
}

/** Runs it with `threadmux`, and the other programs that a test names, in the PATH. */
function shellIn(lab: ClaudeLab, programs: Readonly<Record<string, string>> = {}) {
  const bin = join(lab.dir, 'recipe-bin');
  mkdirSync(bin, { recursive: true });
  const all = { threadmux: `exec ${process.execPath} ${PROGRAM} "$@"`, ...programs };
  for (const [name, script] of Object.entries(all))
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { ...lab.env, PATH: `${bin}:${lab.env.PATH}` };
  return {
    env,
    run: (code: string, ...args: string[]) =>
      promisify(execFile)('sh', ['-c', code, 'recipe', ...args], { env, cwd: lab.dir }),
  };
}

it('an orchestrator lets three workers work in worktrees', async () => {
  const lab = await startClaudeLab();
  onTestFinished(() => lab.stop());
  await lab.start('demo'); // starts the model
  const shop = join(lab.dir, 'shop');
  execFileSync('git', ['init', '-q', shop]);
  execFileSync('git', [
    '-C',
    shop,
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@a',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'first',
  ]);
  const home = openHome(join(lab.dir, 'home/.threadmux'));
  const tapped = new Set<string>();
  const trusting = setInterval(async () => {
    for (const { thread } of loadThreadRecords(home)) {
      const messages = await lab.person.messages(thread).catch(() => []);
      const card = messages.find(({ content, id }) => /Accessing workspace/.test(content) && !tapped.has(id));
      if (card === undefined || card.components.length === 0) continue;
      tapped.add(card.id);
      await lab.person
        .tap(thread, card.id, buttonOf(card, 'Yes, I trust this folder'))
        .catch(() => tapped.delete(card.id));
    }
  }, 1_000);
  onTestFinished(() => clearInterval(trusting));
  const code = recipe('An orchestrator that lets three workers work').replaceAll('~/shop', shop);
  const { stdout } = await shellIn(lab).run(code);
  const printed = stdout.split('\n').map((line) => line.slice(0, 38));
  expect(printed.filter((line) => line.startsWith('Echo: ') || line.includes('needs a look'))).toEqual(
    ['api', 'web', 'docs'].map((part) => `Echo: Fix the failing tests in ${part}/. Commit`.slice(0, 38)),
  );
  const worktrees = execFileSync('git', ['-C', shop, 'worktree', 'list'], { encoding: 'utf8' });
  for (const part of ['api', 'web', 'docs']) expect(worktrees).toContain(`threadmux/fix-${part}`);
});

it('a pipeline asks a person before it deploys', async () => {
  const lab = await startClaudeLab();
  onTestFinished(() => lab.stop());
  const done = join(lab.dir, 'deployed');
  const { run } = shellIn(lab, { npm: `[ "$2" != deploy ] || : > ${done}`, git: 'echo abc123' });
  const pipeline = join(lab.dir, 'pipeline.sh');
  writeFileSync(pipeline, recipe('Ask a person before a deployment'), { mode: 0o755 });
  await run(`threadmux start deploy --dir ${lab.dir} -- env PATH="$PATH" ${pipeline}`);
  const home = openHome(join(lab.dir, 'home/.threadmux'));
  const card = await vi.waitFor(async () => {
    const thread = loadThreadRecords(home).find(({ sessionName }) => sessionName === 'deploy')?.thread ?? '';
    const found = (await lab.person.messages(thread)).find(({ content }) =>
      content.includes('Deploy abc123 to production?'),
    );
    if (found === undefined) throw new Error('no question yet');
    return found;
  }, PATIENCE);
  await lab.person.tap(card.channel_id, card.id, buttonOf(card, '1. yes'));
  await vi.waitFor(async () => {
    expect(readFileSync(done, 'utf8')).toBe('');
    expect((await lab.person.messages(card.channel_id)).map(({ content }) => content)).toContain('🔔 deployed');
  }, PATIENCE);
});

it('a script runs a prompt on another host and prints the reply', async () => {
  const far = await startLabWithHost();
  const { lab, project } = far;
  const code = recipe('Run a prompt on another host and print the reply')
    .replaceAll('mini', 'far')
    .replaceAll('~/shop', project);
  let isOver = false;
  const declining = declineAutoMode(far, 'question', () => isOver);
  const running = shellIn(lab).run(code, 'why is the build slow?');
  const { stdout } = await running.finally(() => {
    isOver = true;
  });
  await declining;
  expect(stdout).toContain('Echo: why is the build slow?');
});
