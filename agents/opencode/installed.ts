// The file that makes an OpenCode report that threadmux did not start: it loads our plugin. `install` writes and removes it.

import type { AgentExtension, ExtensionPaths } from '../driver.ts';
import { extensionName } from '../extension-name.ts';

export const opencodeExtension: AgentExtension = {
  folder: () => '.config/opencode/plugins',
  files: (paths) => ({ [`${extensionName(paths.home)}.js`]: loaderOf(paths) }),
};

function loaderOf({ scripts, home }: ExtensionPaths): string {
  const options = JSON.stringify({ home });
  return [
    '// Written by `threadmux install`: OpenCode reports to threadmux. `threadmux uninstall` removes it.',
    `import { ThreadmuxPlugin as plugin } from ${JSON.stringify(`${scripts}/opencode/plugin.js`)};`,
    `export const ThreadmuxPlugin = (input) => plugin(input, ${options});`,
    '',
  ].join('\n');
}
