// The extension that makes a pi report that threadmux did not start: it loads ours. `install` writes and removes it.

import type { AgentExtension, ExtensionPaths } from '../driver.ts';
import { extensionName } from '../extension-name.ts';

export const piExtension: AgentExtension = {
  folder: ({ home }) => `.pi/agent/extensions/${extensionName(home)}`,
  files: (paths) => ({ 'index.js': loaderOf(paths) }),
};

function loaderOf({ scripts, home }: ExtensionPaths): string {
  return [
    '// Written by `threadmux install`: pi reports to threadmux. `threadmux uninstall` removes it.',
    `import report from ${JSON.stringify(`${scripts}/pi/extension.js`)};`,
    `export default (pi) => report(pi, ${JSON.stringify(home)});`,
    '',
  ].join('\n');
}
