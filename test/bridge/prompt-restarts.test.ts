// The bridge stops at every step of an answer: after the restart, the hook has the answer or the user is told. The
// answer is never typed into the pane.

import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import type { PromptDecision } from '../../core/prompt.ts';
import { writeJson } from '../../home/atomic-write.ts';
import { loadPromptRecords, type PromptRecord } from '../../threads/prompts/prompt-record.ts';
import { askedBy } from '../support/asked.ts';
import { readIfThere } from '../support/hook-process.ts';
import { decisionIn, messageNow, promptIn, startHook, startPromptPane, verdictOf } from '../support/prompt-pane.ts';
import { aWhile, screenOf, startSetting, WAIT } from './bridge-setup.ts';

const UNCLEAR = /^⚠️ Not used as an answer.*Tap a button/s;
const BY = { id: '1', name: 'you' };

const TEXTS: readonly (readonly [string, PromptDecision])[] = [
  ['yes', { kind: 'allow', always: false }],
  ['Not like this', { kind: 'deny', reason: 'Not like this' }],
];

/** A text that was accepted as the answer to the open prompt, in the inbox of a stopped bridge. */
async function start(text: string) {
  const setting = await startSetting();
  const pane = await startPromptPane(setting.machine);
  await pane.show('dialog-permission-bash');
  const input = pane.input('Bash');
  const hook = startHook(setting.machine, pane, input);
  const message = await promptIn(setting.workspace, pane.thread);
  const { home } = setting.machine;
  await vi.waitFor(() => expect(loadPromptRecords(home)[0]?.message).toBe(message.id), WAIT);
  await setting.stop();
  const [record] = loadPromptRecords(home) as [PromptRecord];
  const said = await setting.say(pane.thread, text);
  const cursors = openCursors(`${home.folder('state')}/local.cursors.json`);
  openInbox(home.folder('inbox'), cursors, 'local').take({
    id: said.id,
    channelId: pane.thread,
    text,
    attachments: [],
    author: BY.name,
    authorId: setting.workspace.userId,
    answers: { id: record.id, messageId: message.id, question: 0, labels: [] },
  });
  const decide = (decision: PromptDecision) =>
    writeJson(home.path('prompts', `${record.id}.json`), {
      ...record,
      ended: { kind: 'decided', decision, by: BY },
      orders: [said.id],
    });
  const output = (decision: PromptDecision) => claude.answer(askedBy(input), decision) ?? '';
  const answers = (suffix = '') => home.path('answers', `${record.id}${suffix}`);
  const before = screenOf(setting.machine, 'web');
  const untouched = async () => {
    await aWhile();
    expect(screenOf(setting.machine, 'web')).toBe(before);
    expect(readIfThere(home.path('log', 'threadmux.log'))).not.toContain('typed');
    expect(readdirSync(home.folder('inbox'))).toEqual([]);
  };
  return { setting, pane, hook, message, said, record, decide, output, answers, untouched };
}

describe.each(TEXTS)('"%s" in the inbox, when the bridge stops', (text, decision) => {
  const behavior = decision.kind;

  it.each<[string, (parts: Awaited<ReturnType<typeof start>>) => void]>([
    ['before anything was decided', () => {}],
    ['after the decision was saved', ({ decide }) => decide(decision)],
    [
      'after the answer was written, before the hook was told',
      ({ decide, output, answers }) => {
        decide(decision);
        writeFileSync(answers('.new'), output(decision));
        renameSync(answers('.new'), answers());
      },
    ],
  ])('%s, reaches the hook once', async (_, before) => {
    const parts = await start(text);
    before(parts);
    await parts.setting.restart();
    expect(decisionIn(await parts.hook.printed).behavior).toBe(behavior);
    await parts.setting.untilMarked(parts.said, '✅');
    expect(await verdictOf(parts.setting.workspace, parts.message)).toContain('— you');
    await parts.untouched();
  });

  it('after the hook took it, is neither given nor typed again', async () => {
    const parts = await start(text);
    parts.decide(decision);
    writeFileSync(parts.answers('.new'), parts.output(decision));
    renameSync(parts.answers('.new'), parts.answers());
    writeFileSync(parts.answers('.bell'), '\n'); // rings the bell like the bridge
    expect(decisionIn(await parts.hook.printed).behavior).toBe(behavior);
    await parts.setting.restart();
    await parts.setting.untilMarked(parts.said, '✅');
    expect(await verdictOf(parts.setting.workspace, parts.message)).toContain('— you');
    await parts.untouched();
  });

  it('after the decision, with the hook killed, is reported to the user', async () => {
    const parts = await start(text);
    parts.decide(decision);
    parts.hook.child.kill('SIGKILL');
    await parts.hook.ended;
    await parts.setting.restart();
    await parts.setting.answer(parts.pane.thread, UNCLEAR);
    await parts.setting.untilMarked(parts.said, '⚠️');
    expect(await parts.hook.printed).toBe('');
    await vi.waitFor(async () => {
      const now = await messageNow(parts.setting.workspace, parts.message);
      expect(now.content).toMatch(/did not reach the agent\. Answer in the terminal\.$/);
      expect(JSON.stringify(now.components)).toContain('key:look');
    }, WAIT);
    await parts.untouched();
  });

  it('after everything but the mark, is only marked', async () => {
    const parts = await start(text);
    parts.hook.child.kill('SIGKILL');
    writeJson(parts.setting.machine.home.path('prompts', `${parts.record.id}.json`), {
      ...parts.record,
      input: {},
      shown: true,
      orders: [parts.said.id],
      ended: { kind: 'decided', decision, by: BY },
    });
    await parts.setting.restart();
    await parts.setting.untilMarked(parts.said, '✅');
    await parts.untouched();
  });
});
