// pi: reports through our extension. It asks for nothing, so there are no prompts to answer.

import { type AgentDriver, type ExtensionPaths, extensionName, type Launch, type LaunchOptions } from '../driver.ts';
import { parseAgentEvent } from '../event.ts';
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
  extension: {
    folder: ({ home }) => `.pi/agent/extensions/${extensionName(home)}`,
    files: (paths) => ({ 'index.js': loaderOf(paths) }),
  },
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

/** It makes a pi report that threadmux did not start: it loads our extension. */
function loaderOf({ scripts, home }: ExtensionPaths): string {
  return [
    '// Written by `threadmux install`: pi reports to threadmux. `threadmux uninstall` removes it.',
    `import report from ${JSON.stringify(`${scripts}/pi/extension.js`)};`,
    `export default (pi) => report(pi, ${JSON.stringify(home)});`,
    '',
  ].join('\n');
}
