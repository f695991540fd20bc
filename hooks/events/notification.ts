// Notification: Claude waits for the user. Posts only what the thread does not show yet.

import type { NotificationInput, StopInput } from '../../agents/claude/hook-input.ts';
import { screenFingerprint } from '../../agents/claude/screen/fingerprint.ts';
import { untrustedText } from '../../core/untrusted-text.ts';
import { keyButtons } from '../../discord/buttons.ts';
import { screenBlock } from '../../threads/notices.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import type { EventOutcome, EventReport } from './event.ts';
import { handleStop } from './stop.ts';

export function handleNotification(
  input: NotificationInput,
  report: EventReport,
): Promise<EventOutcome> | EventOutcome {
  switch (input.notification_type) {
    case 'idle_prompt': {
      const { context } = report;
      if (context.shown.answered(input.session_id, input.prompt_id ?? '')) return { state: 'idle' };
      // No Stop was received (the hook was not installed yet): read the reply from the transcript.
      const stopped: StopInput = { ...input, hook_event_name: 'Stop', stop_hook_active: false };
      return handleStop(stopped, report);
    }
    case 'permission_prompt':
      return permissionPrompt(input, report);
    default:
      return { say: { text: `🔔 ${untrustedText(input.message)}`, silent: true } };
  }
}

/** With our hook the prompt is already in the thread; without it (an older Claude Code) the screen is posted. */
async function permissionPrompt(input: NotificationInput, { context, session }: EventReport): Promise<EventOutcome> {
  if (context.prompts.isOpenFor(input.session_id)) return { state: 'waiting' };
  const seen = await lookAtPane(tmuxOn(context.host, session.socket), session);
  const screen = seen.kind === 'gone' ? '' : screenBlock(seen.text);
  const print = seen.kind === 'gone' ? undefined : screenFingerprint(session.paneId, seen);
  return {
    state: 'waiting',
    say: { text: `🔔 ${untrustedText(input.message)}\n${screen}`, components: [keyButtons(print)] },
  };
}
