// A prompt that waits for its turn, and whoever waits for what becomes of it.

export interface AgentPrompt {
  /** Of the message: the same id is the same prompt, and runs once. */
  readonly id: string;
  readonly text: string;
}

export interface AgentTurn {
  readonly kind: 'done' | 'failed' | 'stopped' | 'dropped';
  readonly because?: string;
}

export interface AskedTurn {
  /** How many prompts run or wait before it. */
  readonly before: number;
  /** Its turn has begun, or never will. */
  readonly begun: Promise<void>;
  /** Stays open when we close: the prompt is to be asked again after a restart. */
  readonly done: Promise<AgentTurn>;
}

export interface AgentJob extends AgentPrompt {
  readonly begun: Promise<void>;
  readonly begin: () => void;
  readonly done: Promise<AgentTurn>;
  readonly settle: (turn: AgentTurn) => void;
}

export function createAgentJob(prompt: AgentPrompt): AgentJob {
  let begin = () => {};
  let settle = (_: AgentTurn) => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const done = new Promise<AgentTurn>((resolve) => {
    settle = (turn) => {
      begin();
      resolve(turn);
    };
  });
  return { ...prompt, begun, begin, done, settle };
}

/** Of a prompt that has had its turn. */
export function isTurnOver(turn: AgentTurn): AskedTurn {
  return { before: 0, begun: Promise.resolve(), done: Promise.resolve(turn) };
}
