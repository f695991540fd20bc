// The slash commands of Gemini CLI: what its menu offered in 0.61. One that it does not know is sent as a prompt.

import type { SlashCommand } from '../slash-command.ts';

const command = (name: string, about: string, risk?: SlashCommand['risk']): SlashCommand => ({
  ...{ name, about, owner: 'Gemini CLI' },
  ...(risk === undefined ? {} : { risk }),
});

export const GEMINI_COMMANDS: readonly SlashCommand[] = [
  command('about', 'version and settings'),
  command('agents', 'manage agents'),
  command('auth', 'choose how to log in', 'account'),
  command('bug', 'report a bug', 'sharing'),
  command('chat', 'saved conversations'),
  { ...command('clear', 'start a new conversation'), aliases: ['new'] },
  command('commands', 'your own commands'),
  { ...command('compress', 'summarise the conversation to free context'), aliases: ['compact', 'summarize'] },
  command('copy', 'copy the last reply on the host'),
  { ...command('directory', 'directories that Gemini CLI may use'), aliases: ['dir'] },
  command('docs', 'open the documentation on the host'),
  command('editor', 'choose the external editor', 'installation'),
  command('export-session', 'save the conversation to a file on the host'),
  command('extensions', 'manage extensions', 'installation'),
  command('footer', 'what the footer shows', 'installation'),
  { ...command('help', 'help of Gemini CLI'), aliases: ['?'] },
  command('hooks', 'manage the hooks', 'installation'),
  command('ide', 'connections to editors', 'installation'),
  command('init', 'write a GEMINI.md for the project'),
  command('mcp', 'MCP servers'),
  command('memory', 'memory of Gemini CLI'),
  command('model', 'choose the model'),
  command('permissions', 'trusted folders', 'installation'),
  command('plan', 'switch to plan mode'),
  command('policies', 'rules about permissions'),
  command('privacy', 'privacy notice'),
  { ...command('quit', 'end Gemini CLI', 'session'), aliases: ['exit'] },
  command('resume', 'go on with an earlier conversation'),
  command('restore', 'undo changes of files'),
  command('rewind', 'go back to an earlier message'),
  command('settings', 'settings', 'installation'),
  command('skills', 'skills of the agent'),
  command('stats', 'usage of this session'),
  command('tasks', 'tasks in the background'),
  command('theme', 'choose the colours', 'installation'),
  command('tools', 'list the tools'),
  command('vim', 'turn Vim keys on or off', 'installation'),
];
