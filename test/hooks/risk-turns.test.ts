import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openFailedLetters } from '../../hooks/outbox.ts';
import { postLetter } from '../../hooks/post-letter.ts';
import { createRiskTurns, mayTakeTurn } from '../../hooks/risk-turns.ts';
import { letterOf, openTestCourier } from '../support/courier-setup.ts';
import { saidIn, startMachine, stopInput } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const suspect = () => ({ isSuspect: true });
const fresh = () => ({ isSuspect: false });

describe('the turns of letters that may kill the process', () => {
  it.each([
    ['a letter at once', fresh(), [], true],
    ['a letter beside others', fresh(), [fresh(), fresh()], true],
    ['a suspect at once', suspect(), [], true],
    ['no suspect beside another letter', suspect(), [fresh()], false],
    ['no suspect beside another suspect', suspect(), [suspect()], false],
    ['no letter beside a suspect', fresh(), [suspect()], false],
  ])('admit %s', (_, one, taken, may) => {
    expect(mayTakeTurn(one, taken)).toBe(may);
  });

  it('admit a suspect before the letters that came after it, however many there are', async () => {
    const turns = createRiskTurns();
    const went: string[] = [];
    const take = (name: string, one: ReturnType<typeof fresh>) => void turns.take(one).then(() => went.push(name));
    const [early, middle, again] = [fresh(), suspect(), suspect()];
    take('early', early);
    take('suspect', middle);
    for (let n = 0; n < 3; n++) take(`late ${n}`, fresh());
    take('suspect again', again);
    await nextTurn();
    expect(went).toEqual(['early']);
    turns.giveBack(early);
    await nextTurn();
    expect(went).toEqual(['early', 'suspect']);
    await turns.take(middle); // its own next step does not wait for itself
    turns.giveBack(middle);
    await nextTurn();
    expect(went).toEqual(['early', 'suspect', 'late 0', 'late 1', 'late 2']);
  });

  it('are shared by the outboxes of a process: a suspect of a host is processed alone, too', async () => {
    const turns = createRiskTurns();
    const [here, there] = [tempFolder(), tempFolder()].map((outbox) => {
      mkdirSync(join(outbox, '1.2'));
      mkdirSync(join(outbox, 'begun'));
      const letter = join(outbox, '1.2', '100000001.3');
      writeFileSync(letter, 'a letter');
      return { letter, note: join(outbox, 'begun', '1.2-100000001.3'), failed: openFailedLetters(outbox, turns) };
    });
    if (here === undefined || there === undefined) throw new Error('there are two');
    writeFileSync(there.note, '1\n');
    const deadly = here.failed.begin(here.letter);
    await deadly.risky();
    const waiting = there.failed.begin(there.letter);
    const turn = waiting.risky();
    await nextTurn();
    expect(readFileSync(here.note, 'utf8')).toBe('1\n');
    expect(readFileSync(there.note, 'utf8')).toBe('1\n');
    deadly.end();
    await turn;
    expect(existsSync(here.note)).toBe(false);
    expect(readFileSync(there.note, 'utf8')).toBe('2\n');
    waiting.end();
  });

  it('are waited for before each step that processes the text of a reply', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    const posted: number[] = [];
    await postLetter(letterOf(pane, stopInput('the reply')), openTestCourier(machine).context, async () => {
      await sleep(100);
      posted.push((await saidIn(workspace, '[agent] web')).length);
    });
    expect(posted).toEqual([0, 0]);
    expect(await saidIn(workspace, '[agent] web')).toEqual(['the reply']);
  });
});
