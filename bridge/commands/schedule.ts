// !at and !every send a message later, !schedule lists and cancels such messages.

import { driverOf } from '../../agents/list.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { type ParsedSchedule, parseAt, parseEvery, ruleText } from '../../core/schedule.ts';
import { bold, cleanInbound, untrustedLine } from '../../core/untrusted-text.ts';
import { fullTime, localZone } from '../../core/zoned-time.ts';
import { button, type ComponentRow, type MessageDraft, row } from '../../discord/messages.ts';
import type { ScheduledMessage } from '../schedule-store.ts';
import { decideSlash } from '../slash-decision.ts';
import { type Command, type CommandCall, type CommandContext, type CommandReply, replyWith } from './command.ts';

const LONGEST = 1_500;
const LISTED = 20;
const ROOM = 1_700;
const IN_A_ROW = 5;

/** The kind of button that cancels. */
export const SCHEDULE_BUTTON = 'schedule';

export const atCommand: Command = {
  name: 'at',
  usage: '!at <time> <message>',
  about: 'send a message later: `18:30`, `tomorrow 9:00`, `2026-12-24 09:00`, `+20m`',
  run: (order, context) => add(parseAt, order, context),
};

export const everyCommand: Command = {
  name: 'every',
  usage: '!every <when> <message>',
  about: 'send a message again and again: `weekday 9:00`, `day 18:00`, `monday 8:30`, `2h`',
  run: (order, context) => add(parseEvery, order, context),
};

export const scheduleCommand: Command = {
  name: 'schedule',
  usage: '!schedule [cancel <number>]',
  about: 'list the scheduled messages, or cancel one',
  async run(order, context) {
    const words = order.rest.trim();
    if (words === '') return scheduleList(order, context);
    const [, number] = /^cancel +#?(\d{1,9})$/i.exec(words) ?? [];
    if (number === undefined) throw new ThreadmuxError('bad_usage', 'Use `!schedule`, or `!schedule cancel <number>`.');
    return replyWith(cancel(Number(number), order, context));
  },
};

/** What replaces the message with the button. `isList`: the button of a list. */
export function tapSchedule(id: number, isList: boolean, order: CommandCall, context: CommandContext): MessageDraft {
  const said = cancel(id, order, context);
  if (!isList) return { content: said, components: [] };
  const list = scheduleList(order, context);
  return { ...list, content: `${said}\n${list.content}`, components: list.components ?? [] };
}

async function add(
  parse: (words: string, clock: { readonly now: number; readonly zone: string }) => ParsedSchedule,
  order: CommandCall,
  context: CommandContext,
): Promise<CommandReply> {
  const { thread } = order;
  const record = thread && context.threads.registry.get(thread.id);
  if (thread === undefined || record === undefined || record.shell === 'terminal')
    throw new ThreadmuxError('bad_usage', 'Use this in the thread of an agent’s session.');
  if (record.closed) throw new ThreadmuxError('bad_usage', 'The session of this thread has ended. Start it first.');
  const zone = localZone();
  const parsed = parse(cleanInbound(order.rest).trim(), { now: Date.now(), zone });
  if (parsed.kind === 'problem') throw new ThreadmuxError('bad_usage', parsed.problem);
  const { rule, due, text } = parsed;
  await check(text, thread.id, context);
  const { id: origin, by: author, byId: authorId } = order;
  const added = context.scheduled.add({ origin, thread: thread.id, authorId, author, text, rule, due });
  const again = rule.kind === 'once' ? '' : `, then ${ruleText(rule)}`;
  return {
    content: `⏰ Scheduled as ${added.id}: ${fullTime(due, zone)}${again}.`,
    components: [row(button('Cancel', `${SCHEDULE_BUTTON}:${added.id}`))],
  };
}

/** Nobody may be there to answer a question when it is sent. */
async function check(text: string, thread: string, context: CommandContext): Promise<void> {
  if (text.length > LONGEST)
    throw new ThreadmuxError('bad_usage', `A scheduled message has at most ${LONGEST} characters.`);
  if (text.startsWith('!'))
    throw new ThreadmuxError(
      'bad_usage',
      'Commands that begin with `!` cannot be scheduled, only messages for the agent.',
    );
  const { commands } = driverOf(context.threads.registry.get(thread)?.agent ?? '');
  const decision = await decideSlash(text, commands, () => context.slash.own(thread), context.config.slashCommands);
  if (decision.kind === 'ask')
    throw new ThreadmuxError('bad_usage', `\`/${decision.name}\` needs a confirmation, so it cannot be scheduled.`);
}

/** In a thread, only its own messages can be cancelled: a number is easily mistyped. */
function cancel(id: number, order: CommandCall, context: CommandContext): string {
  const isHere = context.scheduled.list(order.thread?.id).some((one) => one.id === id);
  const one = isHere ? context.scheduled.cancel(id) : undefined;
  if (one === undefined) return `⚠️ There is no scheduled message ${id} here. It was sent or cancelled already.`;
  return `⏰ Cancelled: “${untrustedLine(one.text, 100)}”.`;
}

function scheduleList(order: CommandCall, context: CommandContext): CommandReply {
  const all = context.scheduled.list(order.thread?.id);
  if (all.length === 0)
    return replyWith('Nothing is scheduled. `!at 18:30 run the tests` in a session’s thread schedules a message.');
  const lines = all.slice(0, LISTED).map((one) => line(one, order.thread === undefined));
  const shown = all.slice(0, lines.filter((_, at) => lines.slice(0, at + 1).join('\n').length < ROOM).length);
  const more = all.length > shown.length ? `\n-# … and ${all.length - shown.length} more` : '';
  return { content: lines.slice(0, shown.length).join('\n') + more, components: cancelButtons(shown) };
}

function line({ id, text, due, rule, thread }: ScheduledMessage, isElsewhere: boolean): string {
  const again = rule.kind === 'once' ? '' : `, ${ruleText(rule)}`;
  const where = isElsewhere ? ` in <#${thread}>` : '';
  return `${bold(String(id))}: ${fullTime(due, localZone())}${again}${where}: ${untrustedLine(text, 20)}`;
}

function cancelButtons(shown: readonly ScheduledMessage[]): readonly ComponentRow[] {
  const buttons = shown.map(({ id }) => button(`Cancel ${id}`, `${SCHEDULE_BUTTON}:${id}:list`));
  return Array.from({ length: Math.ceil(buttons.length / IN_A_ROW) }, (_, at) =>
    row(...buttons.slice(at * IN_A_ROW, (at + 1) * IN_A_ROW)),
  );
}
