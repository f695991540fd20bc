// A prompt of Claude Code (permission, question or plan): how each answer changes it, and when it is decided. Pure.

import * as z from 'zod';
import { stableNonce } from './snowflake.ts';

export const promptOptionSchema = z.object({
  label: z.string(),
  description: z.string().default(''),
  /** What the agent shows beside the option, such as code. */
  preview: z.string().optional().catch(undefined),
});

export const promptQuestionSchema = z.object({
  question: z.string(),
  header: z.string().default(''),
  multiSelect: z.boolean().default(false),
  options: z.array(promptOptionSchema).readonly().default([]),
  /** An answer in the user's own words is not an answer. */
  onlyOptions: z.boolean().optional(),
});
export type PromptQuestion = Readonly<z.output<typeof promptQuestionSchema>>;

export type Prompt =
  | { readonly kind: 'permission'; readonly canAlways: boolean }
  | { readonly kind: 'question'; readonly questions: readonly PromptQuestion[] }
  | { readonly kind: 'plan' }
  /** Any of them whose file no server takes: what is not shown whole cannot be allowed, only denied. */
  | { readonly kind: 'too large' };

/** What a user did: used a button, a menu or a text field, or wrote a message. */
export interface PromptAnswer {
  readonly action: string;
  /** The chosen options, or for a text the question shown, as `optionValue` writes them: an answer to one question never answers the next. */
  readonly values: readonly string[];
  readonly text: string;
}

/** The answers so far, one per question; the question shown is the first without an answer. */
export interface PromptProgress {
  readonly chosen: readonly string[];
}

export const decisionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('allow'), always: z.boolean() }),
  z.object({ kind: z.literal('deny'), reason: z.string() }),
  z.object({ kind: z.literal('answers'), answers: z.array(z.string()).readonly() }),
]);
export type PromptDecision = Readonly<z.output<typeof decisionSchema>>;

type PromptStep =
  | { readonly kind: 'decided'; readonly decision: PromptDecision }
  | { readonly kind: 'goes on'; readonly progress: PromptProgress }
  /** Not an answer to this prompt; nothing changes. */
  | { readonly kind: 'no answer'; readonly because: string };

export const NO_ANSWER_YET: PromptProgress = { chosen: [] };

/** Both count from 1; option 0 means an answer in the user's own words. */
export function optionValue(question: number, option: number): string {
  return `${question}.${option}`;
}

/** The value of Submit: a message that Discord has not updated yet shows other answers, and its Submit must not submit these. */
export function answersValue(chosen: readonly string[]): string {
  return stableNonce(...chosen);
}

export function nextPromptStep(prompt: Prompt, progress: PromptProgress, answer: PromptAnswer): PromptStep {
  switch (prompt.kind) {
    case 'permission':
      return stepPermission(prompt.canAlways, answer);
    case 'plan':
      return stepPlan(answer);
    case 'too large':
      return stepTooLarge(answer);
    case 'question':
      return stepQuestion(prompt.questions, progress, answer);
  }
}

/** Only the button or the exact word allows; any other text denies, with that text as the reason. */
function stepPermission(canAlways: boolean, { action, text }: PromptAnswer): PromptStep {
  const words = text.trim();
  if (action === 'allow' || (action === 'text' && /^(allow|yes)$/i.test(words))) return allow(false);
  if (action === 'always' && canAlways) return allow(true);
  if (action === 'deny') return deny('');
  if ((action === 'text' || action === 'reason') && words !== '') return deny(words);
  return noAnswer('that is not an answer to a permission request');
}

function stepPlan({ action, text }: PromptAnswer): PromptStep {
  const words = text.trim();
  if (action === 'approve' || (action === 'text' && /^approve$/i.test(words))) return allow(false);
  if ((action === 'text' || action === 'reason') && words !== '') return deny(words);
  return noAnswer('that is not an answer to a plan');
}

/** By its buttons alone: a "yes" must not become the reason of a denial. */
function stepTooLarge({ action, text }: PromptAnswer): PromptStep {
  const words = text.trim();
  if (action === 'deny' || (action === 'reason' && words !== '')) return deny(words);
  return noAnswer('it is too large to be allowed here');
}

function stepQuestion(
  questions: readonly PromptQuestion[],
  progress: PromptProgress,
  answer: PromptAnswer,
): PromptStep {
  const { chosen } = progress;
  const shown = chosen.length < questions.length ? chosen.length + 1 : 0;
  if (answer.action === 'text' && (answer.values[0] ?? optionValue(shown, 0)) !== optionValue(shown, 0))
    return noAnswer('it was written while another question was shown');
  if (answer.action === 'again') return { kind: 'goes on', progress: NO_ANSWER_YET };
  const asked = questions[chosen.length];
  if (asked === undefined) {
    // A form that was opened for a question may arrive when all are answered.
    const isText = answer.action === 'text' && /^(submit|yes)$/i.test(answer.text.trim());
    if (answer.action === 'submit' && answer.values[0] !== answersValue(chosen))
      return noAnswer('the message showed other answers');
    return answer.action === 'submit' || isText
      ? decided({ kind: 'answers', answers: chosen })
      : noAnswer('all questions are answered: submit or start again');
  }
  const said = answerTo(asked, chosen.length + 1, answer);
  if (said === undefined) return noAnswer('that is not one of the options');
  const now = [...chosen, said];
  if (questions.length === 1) return decided({ kind: 'answers', answers: now });
  return { kind: 'goes on', progress: { chosen: now } };
}

/** An answer by button, menu, number, label or free text; several labels are joined as Claude Code joins them. */
function answerTo(asked: PromptQuestion, at: number, { action, values, text }: PromptAnswer): string | undefined {
  const labels = asked.options.map(({ label }) => label);
  if (action === 'pick' || action === 'choose') {
    const picked = [...new Set(values)].map((value) => labels.find((_, index) => value === optionValue(at, index + 1)));
    const isValid = picked.length > 0 && picked.every((label) => label !== undefined);
    return isValid && (asked.multiSelect || picked.length === 1) ? picked.join(', ') : undefined;
  }
  const words = text.trim();
  if (words === '') return undefined;
  if (action === 'other' && asked.onlyOptions) return undefined;
  if (action === 'other') return values[0] === optionValue(at, 0) ? words : undefined;
  return action === 'text' ? optionsNamed(asked, labels, words) : undefined;
}

/** Text that does not name options is an answer in the user's own words. A number that is also the label of another option is no answer. */
function optionsNamed(asked: PromptQuestion, labels: readonly string[], words: string): string | undefined {
  const labelOf = (word: string) => labels.find((label) => label.toLowerCase() === word.toLowerCase());
  const numbered = (word: string) => (/^\d{1,2}$/.test(word) ? labels[Number(word) - 1] : undefined);
  const isDouble = (word: string) =>
    new Set([labelOf(word) ?? numbered(word), numbered(word) ?? labelOf(word)]).size > 1;
  const find = (word: string) => labelOf(word) ?? numbered(word);
  if ([words, ...(asked.multiSelect ? words.split(',') : [])].some((word) => isDouble(word.trim()))) return undefined;
  const whole = find(words);
  if (whole !== undefined) return whole;
  const several = asked.multiSelect ? words.split(',').map((word) => find(word.trim())) : [undefined];
  if (several.every((label) => label !== undefined)) return [...new Set(several)].join(', ');
  return asked.onlyOptions ? undefined : words;
}

function allow(always: boolean): PromptStep {
  return decided({ kind: 'allow', always });
}

function deny(reason: string): PromptStep {
  return decided({ kind: 'deny', reason });
}

function decided(decision: PromptDecision): PromptStep {
  return { kind: 'decided', decision };
}

function noAnswer(because: string): PromptStep {
  return { kind: 'no answer', because };
}
