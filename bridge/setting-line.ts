// One setting of a thread as a line: its value, and where it comes from. Pure.

import { driverOf } from '../agents/list.ts';
import { SETTING_KEYS, type SettingName } from '../core/session-settings.ts';
import { bold, untrustedCode } from '../core/untrusted-text.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { Threads } from '../threads/session-threads.ts';
import { type SettingOrigin, settingOrigins, settingsInForce } from '../threads/thread-settings.ts';

const FROM: Readonly<Record<SettingOrigin, string>> = {
  thread: 'this thread',
  declared: 'its declaration',
  project: 'its project',
  global: 'the configuration',
};

/** `said`: what stands before the value. */
export function settingLine(
  name: SettingName | 'worktree',
  record: ThreadRecord,
  threads: Pick<Threads, 'destinationOf'>,
  said = '',
): string {
  const key = name === 'worktree' ? name : SETTING_KEYS[name];
  const value = settingsInForce(record, threads)[key];
  const from = settingOrigins(record, threads)[key];
  const head = `${bold(name)}${said}:`;
  if (value === undefined || from === undefined) return `${head} as ${driverOf(record.agent).title} itself is set.`;
  const word = name === 'mode' && value === 'default' ? 'manual' : String(value);
  return `${head} ${untrustedCode(word)}, from ${FROM[from]}.`;
}
