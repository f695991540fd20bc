// Replaces secrets in what is logged, said or printed. A text is masked before it is cut: a part of a secret is not recognised.

/** Patterns of known secrets, whichever program printed them. */
const SHAPES: readonly RegExp[] = [
  /\b[A-Za-z\d_-]{23,28}\.[A-Za-z\d_-]{6,7}\.[A-Za-z\d_-]{27,}/g, // Discord bot token
  /\bsk-ant-[A-Za-z\d_-]{8,}/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat)_[A-Za-z\d_]{20,}/g,
  /(?<=\bBot )[A-Za-z\d_.-]{20,}/g,
  /(?<=\/(?:interactions|webhooks)\/\d{15,20}\/)[A-Za-z\d_.-]{16,}/g, // interaction tokens in paths
];

/** The secrets of the configuration, which may have any form. */
const known = new Set<string>();
const SHORTEST = 6;

export function alwaysMask(secret: string): void {
  if (secret.length >= SHORTEST) known.add(secret);
}

/** For what is data: only our own secrets. */
export function maskKnown(text: string): string {
  let masked = text;
  for (const secret of known) masked = masked.replaceAll(secret, '[secret]');
  return masked;
}

export function maskSecrets(text: string, secrets: readonly string[] = []): string {
  let masked = maskKnown(text);
  for (const secret of secrets) if (secret.length >= SHORTEST) masked = masked.replaceAll(secret, '[secret]');
  for (const shape of SHAPES) masked = masked.replace(shape, '[secret]');
  return masked;
}
