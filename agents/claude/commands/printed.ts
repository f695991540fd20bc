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
  timestamp: z.string(),
  isSidechain: z.boolean().default(false),
  content: z.string().optional().catch(undefined),
  message: z.object({ content: z.string() }).optional().catch(undefined),
});

/** In the order in which they were printed. */
export function parsePrinted(output: string): readonly PrintedText[] {
  const [clock = '', ...lines] = output.split('\n');
  return lines.flatMap((line) => {
    const text = mayPrint(line) ? textOf(line) : undefined;
    return text === undefined ? [] : [{ ...text, age: Number(clock) - text.at }];
  });
}

/** Most lines are long and of no interest, so they are not parsed. */
function mayPrint(line: string): boolean {
  return line.includes('<local-command-std') || line.includes('"Unknown command: /');
}

function textOf(line: string): { readonly uuid: string; readonly at: number; readonly text: string } | undefined {
  const { data } = lineSchema.safeParse(parsedForeignJson(line));
  const at = Date.parse(data?.timestamp ?? '') / 1_000;
  const raw = data?.type === 'system' ? data.content : data?.type === 'user' ? data.message?.content : undefined;
  if (data === undefined || raw === undefined || data.isSidechain || Number.isNaN(at)) return undefined;
  const isWarning = data.subtype === 'informational' && raw.startsWith('Unknown command: /');
  const [, inner] = /^<local-command-std(?:out|err)>([\s\S]*?)<\/local-command-std(?:out|err)>/.exec(raw) ?? [];
  if (inner === undefined && !isWarning) return undefined;
  return { uuid: data.uuid, at, text: plain(inner ?? raw) };
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
