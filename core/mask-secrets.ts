// Replaces secrets in what is logged, said or printed. A text is masked before it is cut: a part of a secret is not recognised.

/** Patterns of known secrets, whichever program printed them. */
const SHAPES: readonly RegExp[] = [
  /\b[A-Za-z\d_-]{23,28}\.[A-Za-z\d_-]{6,7}\.[A-Za-z\d_-]{27,}/g, // Discord bot token
  /\bsk-ant-[A-Za-z\d_-]{8,}/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat)_[A-Za-z\d_]{20,}/g,
  /(?<=\bBot )[A-Za-z\d_.-]{20,}/g,
  /(?<=\/(?:interactions|webhooks)\/\d{15,20}\/)[A-Za-z\d_.-]{16,}/g, // interaction tokens in paths
];

export function maskSecrets(text: string, secrets: readonly string[] = []): string {
  let masked = text;
  for (const secret of secrets) if (secret.length >= 6) masked = masked.replaceAll(secret, '[secret]');
  for (const shape of SHAPES) masked = masked.replace(shape, '[secret]');
  return masked;
}
