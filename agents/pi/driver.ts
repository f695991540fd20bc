// pi: reports through our extension. It asks for nothing, so there are no prompts to answer.

import type { AgentDriver, Launch, LaunchOptions } from '../driver.ts';
import { parseAgentEvent } from '../event.ts';
import { piExtension } from './installed.ts';
import { piScreen, piTyping } from './typing.ts';

export const pi: AgentDriver = {
  name: 'pi',
  title: 'pi',
  programs: ['pi'],
  variables: ['PI_*', 'OPENAI_*', 'ANTHROPIC_*', 'OPENROUTER_*', 'GEMINI_*', 'GOOGLE_*'],
  guarantees: {
    receipt: 'hook',
    permission: 'never',
    question: 'never',
    textBetweenTools: true,
    draft: 'waits',
    everyEnd: true,
    resume: true,
  },
  files: ['reporter.js', 'loose-fields.js', 'pi/extension.js', 'pi/translate.js'],
  extension: piExtension,
  launch,
  readEvent: parseAgentEvent,
  screen: piScreen,
  typing: piTyping,
  answer: () => undefined,
};

function launch({ command, settings, resume, scripts, home }: LaunchOptions): Launch {
  const { model, args = [] } = settings;
  return {
    argv: [
      ...[...command, '--extension', `${scripts}/pi/extension.js`],
      ...(model === undefined ? [] : ['--model', model]),
      ...(resume === undefined ? [] : resume === 'newest' ? ['--continue'] : ['--session', resume.session]),
      ...args,
    ],
    environment: { THREADMUX_HOME: home },
  };
}
