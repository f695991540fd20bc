// StopFailure: the turn ended with an API error, or a usage limit was reached.

import type { StopFailureInput } from '../../agents/claude/hook-input.ts';
import { untrustedText } from '../../core/untrusted-text.ts';
import { type EventOutcome, type EventReport, turnOf } from './event.ts';

const WORDS: Readonly<Record<string, string>> = {
  rate_limit: 'a usage limit was reached',
  authentication_failed: 'Claude Code is not logged in',
  billing_error: 'there is a problem with the account',
  server_error: 'the service failed',
};

export function handleStopFailure(input: StopFailureInput, report: EventReport): EventOutcome {
  const what = WORDS[input.error ?? ''] ?? 'the turn ended with an error';
  const said = input.last_assistant_message ?? untrustedText(input.error_details ?? '');
  return {
    state: 'idle',
    say: {
      text: `⚠️ Claude stopped: ${what}.${said.trim() === '' ? '' : `\n> ${said.trim().split('\n').join('\n> ')}`}`,
    },
    after: () => report.context.progress.end(turnOf(report), report.rest, 'failed'),
  };
}
