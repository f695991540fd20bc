// Asks a person through the client of the server ("elicitation"): a coding agent shows the question in its terminal.

import type { AskHere } from '../acts/first-answer.ts';
import type { Server } from './sdk.ts';

type Validator = NonNullable<NonNullable<ConstructorParameters<typeof Server>[1]>['jsonSchemaValidator']>;

/** What the client answers is checked here, so the server needs no other validator. */
export const UNCHECKED: Validator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Undefined if the client cannot. */
export function askWith(server: Server): AskHere | undefined {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined;
  return async ({ question, options, seconds }, signal) => {
    const answer = { type: 'string' as const, title: 'Answer', ...(options.length > 0 ? { enum: [...options] } : {}) };
    const requestedSchema = { type: 'object' as const, properties: { answer }, required: ['answer'] };
    try {
      const asked = { mode: 'form' as const, message: question, requestedSchema };
      const { action, content } = await server.elicitInput(asked, { signal, timeout: seconds * 1_000 });
      const given = action === 'accept' ? content?.answer : undefined;
      if (typeof given !== 'string' || given === '') return undefined;
      return options.length === 0 ? given : options.find((one) => one === given);
    } catch {
      return undefined; // the thread is asked as well
    }
  };
}
