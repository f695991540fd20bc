// Describes what a pane shows, for people.

import { untrustedCode } from '../core/untrusted-text.ts';
import type { AgentScreen } from './screen.ts';

/** One sentence. `title`: the name of the agent. */
export function describeScreen(screen: AgentScreen, title: string): string {
  switch (screen.kind) {
    case 'empty':
      return screen.busy ? `${title} is working.` : `${title} is waiting for a message.`;
    case 'draft':
      return screen.busy
        ? `${title} is working, and there is a half-written message in its box.`
        : `There is a half-written message in ${title}'s box.`;
    case 'menu':
      return `A list of commands or files is open over a half-written message in ${title}'s box.`;
    case 'shellMode':
      return `${title}'s box is in shell mode: submitted text runs as a command.`;
    case 'aside':
      return `${title}'s box does not have the focus: a search or a line below the box is selected.`;
    case 'dialog':
      return `${(DIALOGS[screen.which] ?? UNKNOWN).replace('{agent}', title)}.`;
    case 'agents':
      return `${title} shows the list of all agents, where a message would start a new session.`;
    case 'subagent':
      return `${title} shows the conversation of a subagent, which would get the message.`;
    case 'transcript':
      return `${title} shows its detailed transcript (Ctrl-O closes it).`;
    case 'copyMode':
      return 'The pane is in copy mode.';
    case 'shell':
      return screen.suspended
        ? `${title} is suspended, and the pane shows a shell (\`fg\` continues it).`
        : `${title} has exited, and the pane shows a shell.`;
    case 'dead':
      return 'The program in the pane has ended.';
    case 'otherProgram':
      return `Another program (${untrustedCode(screen.command)}) runs in the pane.`;
    case 'unknown':
      return 'The pane shows something that threadmux does not recognise.';
  }
}

const DIALOGS: Readonly<Record<string, string>> = {
  permission: '{agent} is asking for permission to use a tool',
  question: '{agent} is asking a question',
  plan: '{agent} is asking whether its plan is approved',
  trust: '{agent} is asking whether this folder is trusted',
  onboarding: '{agent} is being set up for the first time',
  'auto-mode': '{agent} is asking about auto mode',
  rewind: 'The Rewind dialog is open',
  model: 'The list of models is open',
  config: "{agent}'s settings are open",
  settings: "{agent}'s settings are open",
  cost: 'The usage panel is open',
  status: 'The status panel is open',
  help: 'The help panel is open',
  resume: 'The list of earlier conversations is open',
  permissions: 'The list of permission rules is open',
  search: 'The search through earlier prompts is open',
  theme: 'The list of themes is open',
  memory: 'The memory panel is open',
  hooks: 'The list of hooks is open',
  effort: 'The list of effort levels is open',
  export: 'The export dialog is open',
  agents: 'The panel of subagents is open',
  btw: 'The answer to a side question is open',
  tasks: 'The list of background tasks is open',
  stats: 'The statistics panel is open',
  skills: 'The list of skills is open',
  plugin: 'The list of plugins is open',
  doctor: "{agent}'s self-check is open",
  limit: 'A usage limit is reached, and {agent} is asking what to do',
  login: '{agent} is asking how to log in',
  key: '{agent} is asking whether to use an API key',
  bypass: '{agent} is asking whether it may run without asking for permission',
  server: '{agent} is asking whether to use an MCP server of this project',
  add: '{agent} is asking for a directory to add',
};
const UNKNOWN = '{agent} shows a dialog that threadmux does not know';
