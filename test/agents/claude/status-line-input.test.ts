import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { footer, parseStatusLineInput } from '../../../agents/status-line.ts';

const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/claude/statusline.json'), 'utf8'),
) as Record<string, unknown>;
const shown = (more: object) => {
  const status = parseStatusLineInput({ ...recorded, ...more });
  return status && footer(status);
};

describe('footer', () => {
  it('shows model, context and cost', () => {
    expect(shown({})).toBe('Opus 4.8 · 0% context · $0.09');
  });

  it('shows the limits of a subscription and when they reset', () => {
    const rate_limits = {
      five_hour: { used_percentage: 33.6, resets_at: 1738425600 },
      seven_day: { used_percentage: 41.2, resets_at: 1738857600 },
    };
    expect(shown({ rate_limits })).toBe(
      'Opus 4.8 · 0% context · $0.09 · 5h 34% (resets <t:1738425600:R>) · 7d 41% (resets <t:1738857600:R>)',
    );
    expect(shown({ rate_limits: { seven_day: { used_percentage: 41 } } })).toMatch(/ · 7d 41%$/);
  });

  it('shows what is known when fields are missing, null or malformed', () => {
    expect(shown({ context_window: { used_percentage: null }, cost: 'free', rate_limits: null })).toBe('Opus 4.8');
    expect(shown({ model: undefined, context_window: undefined, cost: undefined })).toBe('');
  });
});

describe('parseStatus', () => {
  it.each([[null], ['x'], [{}]])('has no status for %j', (json) => {
    expect(parseStatusLineInput(json)).toBeUndefined();
  });
});
