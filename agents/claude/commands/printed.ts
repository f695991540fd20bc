// What a slash command printed. No hook reports it; Claude Code only writes it into the transcript.

import * as z from 'zod';
import { parsedForeignJson } from '../../../core/json.ts';
import type { PrintedText } from '../../slash-command.ts';

/** Arguments: the transcript. Prints the clock of the host, so that clocks need not agree, and the end of the file, if it is there. */
export const READ_TRANSCRIPT_END = 'date +%s; tail -c 200000 "$1" 2>/dev/null || :';

const lineSchema = z.object({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: z.string(),
  parentUuid: z.string().nullish().catch(undefined),
  timestamp: z.string(),
  isSidechain: z.boolean().default(false),
  content: z.string().optional().catch(undefined),
  message: z.object({ content: z.string() }).optional().catch(undefined),
});

/** In the order in which they were printed. */
export function parsePrinted(output: string): readonly PrintedText[] {
  const [clock = '', ...lines] = output.split('\n');
  const commands = new Map<string, string>();
  return lines.flatMap((line) => {
    const one = mayPrint(line) ? partsOf(line) : undefined;
    if (one === undefined) return [];
    const command = commandIn(one.raw);
    if (command !== undefined) commands.set(one.uuid, command);
    const text = textOf(one);
    if (text === undefined) return [];
    return [{ uuid: one.uuid, text, command: commands.get(one.parent) ?? '', age: Number(clock) - one.at }];
  });
}

/** Most lines are long and of no interest, so they are not parsed. */
function mayPrint(line: string): boolean {
  return line.includes('<local-command-std') || line.includes('<command-name>') || line.includes('"Unknown command: /');
}

interface PrintedLine {
  readonly uuid: string;
  readonly parent: string;
  readonly at: number;
  readonly raw: string;
  readonly isNotice: boolean;
}

function partsOf(line: string): PrintedLine | undefined {
  const { data } = lineSchema.safeParse(parsedForeignJson(line));
  const at = Date.parse(data?.timestamp ?? '') / 1_000;
  const raw = data?.type === 'system' ? data.content : data?.type === 'user' ? data.message?.content : undefined;
  if (data === undefined || raw === undefined || data.isSidechain || Number.isNaN(at)) return undefined;
  const { uuid, parentUuid, subtype } = data;
  return { uuid, parent: parentUuid ?? '', at, raw, isNotice: subtype === 'informational' };
}

/** Claude Code writes it before the output, when the command has ended. */
function commandIn(raw: string): string | undefined {
  const [, name] =
    /^\s*(?:<command-message>[^<]*<\/command-message>\s*)?<command-name>([^<]*)<\/command-name>/.exec(raw) ?? [];
  const [, after = ''] = raw.split('<command-args>', 2);
  const [args = ''] = after.split('</command-args>', 1);
  return name === undefined ? undefined : `${name} ${args}`.trim();
}

function textOf({ raw, isNotice }: PrintedLine): string | undefined {
  const isWarning = isNotice && raw.startsWith('Unknown command: /');
  const [, inner] = /^<local-command-std(?:out|err)>([\s\S]*?)<\/local-command-std(?:out|err)>/.exec(raw) ?? [];
  return inner === undefined && !isWarning ? undefined : plain(inner ?? raw);
}

/** A panel that was closed, and nothing else. */
const CLOSED = /^(?:[\w ]+ (?:dialog|picker) dismissed|\(no content\))$/i;
/** The coloured squares beside the text of /context. */
const SQUARES = /^(?:[⛀⛁⛂⛃⛶⛝] ){4,} */u;

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with this character
  const bare = text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '');
  const lines = bare.split('\n').map((line) => line.replace(SQUARES, '').trimEnd());
  const tidy = lines
    .filter((line, at) => line !== '' || lines[at - 1] !== '')
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
  return CLOSED.test(tidy.trim()) ? '' : tidy;
}
