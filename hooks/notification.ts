// Notification: Claude waits for a person. It says something only if the thread does not know yet.

import type { NotificationInput, StopInput } from '../claude/hook-input.ts';
import type { Outcome, Report } from './event.ts';
import { stop } from './stop.ts';

export function notification(input: NotificationInput, report: Report): Promise<Outcome> | Outcome {
  switch (input.notification_type) {
    case 'idle_prompt': {
      const { desk } = report;
      if (desk.shown.answered(input.session_id, input.prompt_id ?? '')) return { state: 'idle' };
      // The reply itself never came (a hook that was not installed yet): it is in the transcript.
      const stopped: StopInput = { ...input, hook_event_name: 'Stop', stop_hook_active: false };
      return stop(stopped, report);
    }
    case 'permission_prompt':
      return {
        state: 'waiting',
        say: { text: `🔔 ${input.message} — answer it in the terminal.` },
      };
    default:
      return { say: { text: `🔔 ${input.message}`, silent: true } };
  }
}
