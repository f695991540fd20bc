// How long the delivery of a message waits for what. Tests make these times shorter.

export interface Waits {
  /** Between two looks for a receipt. */
  readonly confirmMs: number;
  /** Between two looks at the screen of an agent that reports nothing. */
  readonly screenMs: number;
  /** A message without an outcome after this time gets 📨. */
  readonly markMs: number;
  /** The user is told why, if a message waits longer. */
  readonly patienceMs: number;
  /** An agent that has just started reports within this time. */
  readonly heardWithinMs: number;
  /** How long a message waits for a tap. */
  readonly heldMs: number;
}

export const WAITS: Waits = {
  confirmMs: 4_000,
  screenMs: 400,
  markMs: 250,
  patienceMs: 2_500,
  heardWithinMs: 10_000,
  heldMs: 600_000,
};
