// A question that a program asks (`threadmux ask`, the tool ask_person), in the shape of a prompt of the agent. It has no dialog in the terminal.

import * as z from 'zod';
import type { AskedEvent } from '../../agents/event.ts';
import { parsedJson } from '../../core/json.ts';
import type { PromptDecision } from '../../core/prompt.ts';

/** In place of the agent's tool. No agent has a tool with a space in its name. */
const TOOL = 'threadmux ask';

export function askedInput(asked: {
  readonly question: string;
  readonly options: readonly string[];
  readonly seconds: number;
  readonly agentSession: string;
  readonly transcript: string;
  readonly cwd: string;
}): AskedEvent {
  const { question, seconds, agentSession: session, transcript, cwd } = asked;
  const options = asked.options.map((label) => ({ label, description: '' }));
  const one = { question, header: 'Question', multiSelect: false, options, onlyOptions: options.length > 0 };
  return {
    event: 'asked',
    kind: 'question',
    session,
    transcript,
    cwd,
    tool: TOOL,
    input: { seconds },
    questions: [one],
  };
}

export function isOfProgram({ tool }: Pick<AskedEvent, 'tool'>): boolean {
  return tool === TOOL;
}

const answerSchema = z.object({ answer: z.string() });

/** What the program reads, in the session of any agent. Undefined for a decision that is no answer. */
export function programAnswer(decision: PromptDecision): string | undefined {
  const [answer] = decision.kind === 'answers' ? decision.answers : [];
  return answer === undefined ? undefined : JSON.stringify({ answer } satisfies z.infer<typeof answerSchema>);
}

export function readProgramAnswer(text: string): string | undefined {
  return answerSchema.safeParse(parsedJson(text)).data?.answer;
}

/** Whether this conversation of the agent asks. */
export function isAskedBy(agentSession: string, asked: AskedEvent): boolean {
  return asked.session === agentSession && !isOfProgram(asked);
}

/** How long it waits for an answer; undefined for a prompt of the agent. */
export function programPatienceMs(asked: AskedEvent): number | undefined {
  const seconds = asked.input.seconds;
  return isOfProgram(asked) && typeof seconds === 'number' ? seconds * 1_000 : undefined;
}
