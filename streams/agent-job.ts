// A prompt that waits for its turn, and whoever waits for what becomes of it.

export interface Prompt {
  /** Of the message: the same id is the same prompt, and runs once. */
  readonly id: string;
  readonly text: string;
}

export interface Turn {
  readonly kind: 'done' | 'failed' | 'stopped' | 'dropped';
  readonly because?: string;
}

export interface Asked {
  /** How many prompts run or wait before it. */
  readonly before: number;
  /** Its turn has begun, or never will. */
  readonly begun: Promise<void>;
  /** Stays open when we close: the prompt is to be asked again after a restart. */
  readonly done: Promise<Turn>;
}

export interface Job extends Prompt {
  readonly begun: Promise<void>;
  readonly begin: () => void;
  readonly done: Promise<Turn>;
  readonly settle: (turn: Turn) => void;
}

export function createJob(prompt: Prompt): Job {
  let begin = () => {};
  let settle = (_: Turn) => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const done = new Promise<Turn>((resolve) => {
    settle = (turn) => {
      begin();
      resolve(turn);
    };
  });
  return { ...prompt, begun, begin, done, settle };
}

/** Of a prompt that has had its turn. */
export function over(turn: Turn): Asked {
  return { before: 0, begun: Promise.resolve(), done: Promise.resolve(turn) };
}
