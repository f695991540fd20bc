// Notification: Claude waits for a person. It says something only if the thread does not know yet.

import type { NotificationInput, StopInput } from '../claude/hook-input.ts';
import { insideFence } from '../core/neutralise.ts';
import { plain } from '../core/outside-words.ts';
import { KEY_BUTTONS } from '../discord/buttons.ts';
import { openPrompts } from '../home/open-prompt.ts';
import { look } from '../tmux/look.ts';
import { tmuxOn } from '../tmux/tmux.ts';
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
      return permissionPrompt(input, report);
    default:
      return { say: { text: `🔔 ${plain(input.message)}`, silent: true } };
  }
}

/** With our hook the prompt is in the thread already; without it (an older Claude Code) the screen has to do. */
async function permissionPrompt(
  input: NotificationInput,
  { desk, session }: Report,
): Promise<Outcome> {
  if (openPrompts(desk.home).some(({ claudeSession }) => claudeSession === input.session_id))
    return { state: 'waiting' };
  const seen = await look(tmuxOn(desk.host, session.socket), session);
  const screen = seen.kind === 'gone' ? '' : insideFence(lastLines(seen.text));
  return {
    state: 'waiting',
    say: { text: `🔔 ${plain(input.message)}\n${screen}`, components: [KEY_BUTTONS] },
  };
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-25).join('\n').slice(-1_500);
}
