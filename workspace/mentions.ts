// Who a message pings: what its text names, cut down to what its sender allowed. Pure.

import type { AllowedMentions } from './request-schemas.ts';

interface Mentioned {
  readonly mentions: string[];
  readonly mention_roles: string[];
  readonly mention_everyone: boolean;
}

interface Mentionable {
  readonly users: readonly string[];
  readonly roles: readonly string[];
  /** The author of the message that is replied to. */
  readonly repliedUser?: string | undefined;
}

export function mentionsOf(
  content: string,
  allowed: AllowedMentions | null | undefined,
  known: Mentionable,
): Mentioned {
  const everything = allowed == null;
  const parse: readonly string[] = everything ? ['users', 'roles', 'everyone'] : (allowed.parse ?? []);
  const pick = (kind: 'users' | 'roles', pattern: RegExp) =>
    idsIn(content, pattern)
      .filter((id) => known[kind].includes(id))
      .filter((id) => parse.includes(kind) || allowed?.[kind]?.includes(id));
  const users = new Set(pick('users', /<@!?(\d+)>/g));
  const repliedAllowed = everything || allowed.replied_user === true;
  if (known.repliedUser !== undefined && repliedAllowed) users.add(known.repliedUser);
  return {
    mentions: [...users],
    mention_roles: [...new Set(pick('roles', /<@&(\d+)>/g))],
    mention_everyone: parse.includes('everyone') && /@(?:everyone|here)\b/.test(content),
  };
}

function idsIn(content: string, pattern: RegExp): string[] {
  return Array.from(content.matchAll(pattern), (match) => match[1] ?? '');
}
