// Taps on a panel, and on the Start button of a declared session. They were checked like every tap: a listed person, and a message of ours.

import { ThreadmuxError } from '../../core/errors.ts';
import { parseSessionName } from '../../core/session-name.ts';
import { isModelName } from '../../core/session-settings.ts';
import { untrustedCode, untrustedHint } from '../../core/untrusted-text.ts';
import { followUpPrivately, type Interaction, openModal, takeTap } from '../../discord/interactions.ts';
import { rememberedSession } from '../../threads/remembered-session.ts';
import type { CommandCall, CommandContext } from '../commands/command.ts';
import { startDeclared, stopDeclared } from '../commands/declared.ts';
import { killCommand } from '../commands/kill.ts';
import { beginSession } from '../commands/new.ts';
import { projectHere } from '../commands/project-here.ts';
import { findDeclared, requireDeclared } from '../declared/declared-list.ts';
import { sendFirstMessage } from '../own-messages.ts';

const KINDS = ['start', 'end', 'start-all', 'new-session'] as const;

/** False if the tap belongs to something else. */
export async function tapPanel(
  interaction: Interaction,
  order: CommandCall,
  context: CommandContext,
): Promise<boolean> {
  const { rest } = context;
  const [kind, ...more] = (interaction.data?.custom_id ?? '').split(':');
  const what = KINDS.find((one) => one === kind);
  if (what === undefined) return false;
  if (what === 'new-session' && interaction.data?.components.length === 0) {
    await openModal(rest, interaction, newSessionForm());
    return true;
  }
  // A tap cannot be answered in an archived thread.
  if (order.thread?.archived) await context.threads.reopen(order.thread.id).catch(() => {}); // the answer fails with a reason
  if (!(await takeTap(rest, interaction))) return true;
  const value = more.join(':') || (interaction.data?.values[0] ?? '');
  const text = await act(what, value, { interaction, order, context }).catch((error: unknown) => {
    context.log.info('a tap on the panel', { kind: what, because: (error as Error).message });
    return `⚠️ ${untrustedHint(error)}`;
  });
  if (text !== '') await followUpPrivately(rest, interaction, text);
  return true;
}

interface Tapped {
  readonly interaction: Interaction;
  readonly order: CommandCall;
  readonly context: CommandContext;
}

async function act(what: (typeof KINDS)[number], value: string, tap: Tapped): Promise<string> {
  const { order, context, interaction } = tap;
  const all = context.declared.all();
  const channel = order.thread?.parentId ?? interaction.channel_id ?? '';
  switch (what) {
    case 'start':
      return (await startDeclared(requireDeclared(value, all, channel), context)).content;
    case 'end': {
      const label = value.slice(value.indexOf(':') + 1);
      const stop = { ...order, session: value.slice(0, -label.length - 1) };
      const place = findDeclared(label, all, channel);
      const name = label.includes('@') ? label : `${label}@${context.config.defaultHost}`;
      const reply = await (place
        ? stopDeclared(place, stop, context)
        : killCommand.run({ ...stop, rest: name }, context));
      await reply.after?.(channel, undefined);
      return reply.content;
    }
    case 'start-all':
      return startAll(channel, context);
    case 'new-session':
      return newFromForm(channel, tap);
  }
}

async function startAll(channel: string, context: CommandContext): Promise<string> {
  const stopped = context.declared
    .statuses()
    .filter(
      ({ place, because }) => place.project.channel === channel && because !== undefined && because !== 'starting',
    );
  const replies = await Promise.all(
    stopped.map(({ place }) =>
      startDeclared(place, context)
        .then(({ content }) => content)
        .catch((error: unknown) => `⚠️ ${untrustedHint(error)}`),
    ),
  );
  return replies.join('\n') || 'All declared sessions run.';
}

async function newFromForm(channel: string, { interaction, order, context }: Tapped): Promise<string> {
  const field = (id: string) => interaction.data?.components.find((one) => one.custom_id === id)?.value.trim() ?? '';
  const [directory, prompt, model] = [field('directory'), field('prompt'), field('model')];
  const name = parseSessionName(field('name'));
  if (model !== '' && !isModelName(model))
    throw new ThreadmuxError('bad_usage', `${untrustedCode(model)} is not the name of a model, such as \`opus\`.`);
  const project = projectHere(order, context);
  const isShared = context.threads.projects().some((one) => one.channel === channel && one.path !== '');
  if (directory === '' && project === undefined && isShared)
    throw new ThreadmuxError('bad_usage', 'This channel is for several projects.', { hint: 'Give a directory.' });
  const host = project?.host ?? context.config.defaultHost;
  const ours = context.threads.registry.all().filter(({ server }) => server === context.server.name);
  const { begun } = await beginSession(
    {
      name,
      host,
      directory: directory || project?.path || '~',
      command: undefined,
      before: rememberedSession(ours, { name, host, defaultHost: host }),
      settings: model === '' ? undefined : { model },
    },
    context,
  );
  if (begun.is === 'there') return `${untrustedCode(name)} already runs${begun.link}`;
  if (prompt !== '') await sendFirstMessage(prompt, begun.thread, order, context);
  return `▶️ ${untrustedCode(name)} is up: <#${begun.thread}>`;
}

function newSessionForm() {
  const input = (id: string, label: string, more: object) => ({
    type: 1 as const,
    components: [
      { type: 4 as const, custom_id: id, label, style: 1 as const, max_length: 200, required: false, ...more },
    ],
  });
  return {
    custom_id: 'new-session:',
    title: 'New session',
    components: [
      input('name', 'Name', { required: true, max_length: 64, placeholder: 'shop' }),
      input('directory', 'Directory', { placeholder: 'the directory of the project' }),
      input('prompt', 'First message', { style: 2, max_length: 2_000 }),
      input('model', 'Model', { max_length: 128, placeholder: 'as configured' }),
    ],
  };
}
