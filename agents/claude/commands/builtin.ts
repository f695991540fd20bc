// The slash commands of Claude Code itself: what its menu offered in 2.1.197 and 2.1.325, with and without an account.
// A version that lacks one of them says so ("Unknown command").

export interface ClaudeCommand {
  /** Without the slash; folders are separated by ":". */
  readonly name: string;
  readonly about: string;
  readonly aliases?: readonly string[];
  readonly owner: 'Claude Code' | 'your command';
  /** What it would change. Such a command is passed only after a confirmation. */
  readonly risk?: CommandRisk;
}

export type CommandRisk = 'account' | 'installation' | 'session' | 'sharing';

const command = (name: string, about: string, more: Pick<ClaudeCommand, 'aliases' | 'risk'> = {}): ClaudeCommand => ({
  ...{ name, about, owner: 'Claude Code' },
  ...more,
});
const aka = (...aliases: string[]) => ({ aliases });
const ACCOUNT = { risk: 'account' } as const;
const INSTALLATION = { risk: 'installation' } as const;
/** It ends the session, or moves it out of its pane. */
const SESSION = { risk: 'session' } as const;
/** It sends the conversation to somebody else. */
const SHARING = { risk: 'sharing' } as const;

export const BUILTIN_COMMANDS: readonly ClaudeCommand[] = [
  command('add-dir', 'let Claude work in another directory, too'),
  command('agents', 'manage agents'),
  command('auto-mode-setup', 'tell auto mode about your environment'),
  command('autocompact', 'choose when the conversation is summarised by itself'),
  command('background', 'continue in the background and leave the pane', { ...aka('bg'), ...SESSION }),
  command('batch', 'plan a large change and do it with several agents'),
  command('branch', 'branch the conversation here'),
  command('btw', 'ask something on the side'),
  command('bug', 'report a bug, with the conversation', SHARING),
  command('cd', 'move the session to another directory'),
  command('claude-api', 'help with programs that use the Claude API'),
  command('clear', 'start a new conversation', aka('reset', 'new')),
  command('code-review', 'review the current changes'),
  command('color', 'colour of the input box'),
  command('compact', 'summarise the conversation to free context'),
  command('config', 'settings', aka('settings')),
  command('context', 'how full the context is'),
  command('copy', 'copy the last reply on the host'),
  command('dataviz', 'help with charts'),
  command('debug', 'turn on debug logging'),
  command('deep-research', 'research a question in many sources'),
  command('desktop', 'continue in the desktop app', { ...aka('app'), ...SESSION }),
  command('diff', 'uncommitted changes'),
  command('doctor', 'check the installation'),
  command('effort', 'how hard the model thinks'),
  command('exit', 'end Claude Code', { ...aka('quit'), ...SESSION }),
  command('export', 'save the conversation to a file on the host'),
  command('extra-usage', 'pay for more usage', ACCOUNT),
  command('fast', 'turn fast mode on or off'),
  command('feedback', 'send feedback, with the conversation', { ...aka('share'), ...SHARING }),
  command('fewer-permission-prompts', 'allow harmless commands that you often approve'),
  command('focus', 'show only prompts and replies'),
  command('fork', 'copy the conversation to a background agent'),
  command('goal', 'set a goal to check before Claude stops'),
  command('help', 'help of Claude Code'),
  command('hooks', 'show the hooks'),
  command('ide', 'connections to editors'),
  command('init', 'write a CLAUDE.md for the project'),
  command('insights', 'report about your sessions'),
  command('install', 'install Claude Code', INSTALLATION),
  command('install-github-app', 'install the GitHub app', INSTALLATION),
  command('install-slack-app', 'install the Slack app', INSTALLATION),
  command('keybindings', 'open the keyboard shortcuts in an editor'),
  command('list-agents', 'agents and sessions that Claude can message'),
  command('login', 'log in, or change the account', ACCOUNT),
  command('logout', 'log out', ACCOUNT),
  command('loop', 'repeat a prompt at an interval'),
  command('mcp', 'manage MCP servers'),
  command('memory', 'memory files'),
  command('mobile', 'QR code of the mobile app', aka('ios', 'android')),
  command('model', 'choose the model'),
  command('output-style', 'choose an output style'),
  command('passes', 'give passes to friends', ACCOUNT),
  command('permissions', 'rules for permissions', aka('allowed-tools')),
  command('plan', 'plan mode, or the current plan'),
  command('plugin', 'manage plugins', { ...aka('plugins', 'marketplace'), ...INSTALLATION }),
  command('powerup', 'short lessons about Claude Code'),
  command('privacy-settings', 'what Anthropic may use', ACCOUNT),
  command('recap', 'one line about the session'),
  command('release-notes', 'what is new in Claude Code'),
  command('reload-plugins', 'load changed plugins'),
  command('reload-skills', 'load changed skills'),
  command('remote-control', 'control the session from claude.ai', { ...aka('rc'), ...SHARING }),
  command('rename', 'rename the conversation', aka('name')),
  command('resume', 'go back to an earlier conversation', aka('continue')),
  command('review', 'review a pull request'),
  command('rewind', 'go back to an earlier point', aka('checkpoint', 'undo')),
  command('run', 'start the app of the project'),
  command('run-skill-generator', 'write a skill that runs the project'),
  command('sandbox', 'sandbox for commands'),
  command('security-review', 'review the branch for security problems'),
  command('setup-bedrock', 'use Amazon Bedrock', ACCOUNT),
  command('setup-vertex', 'use Vertex AI', ACCOUNT),
  command('simplify', 'clean up the changed code'),
  command('skills', 'list the skills'),
  command('status', 'version, model and account'),
  command('statusline', 'set up the status line'),
  command('stickers', 'stickers'),
  command('subtask', 'give a task to a subagent'),
  command('tasks', 'what runs in the background', aka('bashes')),
  command('team-onboarding', 'write a guide for your team'),
  command('teleport', 'continue a session from claude.ai', { ...aka('tp'), ...SESSION }),
  command('terminal-setup', 'change the key bindings of the terminal', INSTALLATION),
  command('theme', 'colours'),
  command('tui', 'how Claude Code draws its screen'),
  command('update', 'update Claude Code', INSTALLATION),
  command('update-config', 'change settings, hooks or permissions'),
  command('upgrade', 'change the subscription', ACCOUNT),
  command('usage', 'cost and limits', aka('cost', 'stats')),
  command('usage-credits', 'buy credits', ACCOUNT),
  command('verify', 'check that a change works'),
  command('web-setup', 'set up Claude Code on the web', ACCOUNT),
  command('workflows', 'workflows'),
];
