import { describe, expect, it } from 'vitest';
import { createHandledEvents } from '../../discord/gateway-state.ts';

const at = (seq: number, id = 's') => ({ id, resumeUrl: 'u', seq });

describe('the list of handled events', () => {
  it('saves an event only after it was handled', () => {
    const saved: number[] = [];
    const done = createHandledEvents(({ seq }) => saved.push(seq)).open(at(1));
    expect(saved).toEqual([]);
    done();
    expect(saved).toEqual([1]);
  });

  it('never saves a position behind an event that is still open', () => {
    const saved: number[] = [];
    const ledger = createHandledEvents(({ seq }) => saved.push(seq));
    const [one, two, three] = [ledger.open(at(1)), ledger.open(at(2)), ledger.open(at(3))];
    three();
    two();
    expect(saved).toEqual([]);
    one();
    expect(saved).toEqual([3]);
  });

  it('keeps the old session until the first event of the new one was handled', () => {
    const saved: string[] = [];
    const ledger = createHandledEvents(({ id, seq }) => saved.push(`${id}:${seq}`));
    const old = ledger.open(at(9, 'old'));
    const fresh = ledger.open(at(1, 'new'));
    old();
    fresh();
    expect(saved).toEqual(['old:9', 'new:1']);
  });
});
