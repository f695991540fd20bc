// The words Discord sends along with a close code, for whoever reads a log.

export const CLOSE_REASONS: Record<number, string> = {
  4001: 'Unknown opcode.',
  4002: 'Error while decoding payload.',
  4003: 'Not authenticated.',
  4004: 'Authentication failed.',
  4005: 'Already authenticated.',
  4007: 'Invalid seq.',
  4008: 'You are being rate limited.',
  4009: 'Session timed out.',
  4010: 'Invalid shard.',
  4012: 'Invalid API version.',
  4013: 'Invalid intents.',
  4014: 'Disallowed intent(s).',
};
