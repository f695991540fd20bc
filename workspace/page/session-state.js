// What a thread shows about its session: its name, where it runs, and its state in words. Pure.

/** The states that the bridge tells, and two of our own: archived threads, and threads of which nothing is told. */
export const STATES = {
  starting: 'starting',
  idle: 'idle',
  working: 'working',
  needs_person: 'needs you',
  delivering: 'message waits',
  shell: 'shell',
  ended: 'ended',
  unreachable: 'unreachable',
  closed: 'closed',
  unknown: '',
};

/** The states whose duration matters. */
const TIMED = ['starting', 'working', 'needs_person', 'delivering', 'unreachable'];

const SILENT = 1 << 12;
const EPHEMERAL = 1 << 6;

/**
 * The state in words, and since when if that matters.
 * @param {{ state: string, for?: string, since?: number, kind?: string }} place
 */
export function stateParts({ state, for: about, since, kind }) {
  if (kind === 'terminal' && state === 'shell') return { words: 'running' };
  const words = [STATES[state], about?.replace(/^dialog: /, '')].filter(Boolean).join(' · ');
  return TIMED.includes(state) ? { words, since } : { words };
}

/** A prompt that is not answered yet. */
export function isOpenPrompt(message) {
  return (message.components ?? []).some((row) =>
    row.components.some((each) => each.custom_id?.startsWith('p:') && each.disabled !== true),
  );
}

/** The line that is edited while a turn runs. */
export function isWorking(message) {
  return /^-# working\b/m.test(message.content);
}

export function isSilent(message) {
  return (message.flags & SILENT) !== 0;
}

/** Messages worth a notification: not the user's own, nor those that only open a thread or show progress. */
export function isNews(message, me) {
  const opensThread = message.type === 21 || message.thread !== undefined;
  return message.author.id !== me && !opensThread && !isSilent(message);
}

export function isEphemeral(message) {
  return (message.flags & EPHEMERAL) !== 0;
}

/**
 * "[agent] web@mini" is the session "web" on "mini". Escapes in unusual names stay, so that nothing is hidden. The other
 * kinds are terminals and headless agents.
 */
export function partsOfTitle(title) {
  const pattern = /^\[(agent|terminal|headless)\] ([^@]+)(?:@([^@]+))?$/s;
  const [, kind, name, host] = title.match(pattern) ?? [];
  return { name: name ?? title, host, kind: kind === 'agent' ? undefined : kind };
}

/** Host and folder from the welcome message. */
export function hostAndDirectory(welcome) {
  const [, host, cwd] = welcome.match(/ on `([^`]+)`, in `([^`]+)`/) ?? [];
  return { host, cwd };
}

/** @param {number} ms */
export function shortAge(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h`;
  return `${Math.floor(hours / 24)} d`;
}

/** "12 s", "3 min 5 s", "12 min", "2 h". @param {number} ms */
export function clockText(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return shortAge(ms);
}

/** A message as one line of plain text. @param {any} message */
export function oneLine(message) {
  const text = message.content
    .split('\n')
    .filter((line) => !/^(?:-# |```|~~~)/.test(line) && line.trim() !== '')
    .join(' ')
    .replace(/[*_`>#\\]+/g, '')
    .replace(/<[#@][^<>]*>/g, '')
    .trim();
  if (text !== '') return text.slice(0, 160);
  return message.attachments?.[0]?.filename ?? '';
}

// Ids are snowflakes: they contain the time, and sort by it.

const EPOCH = 1420070400000n;

/** @param {string} a @param {string} b */
export function compareIds(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** Sorts messages. @param {{ id: string }} a @param {{ id: string }} b */
export function byAge(a, b) {
  return compareIds(a.id, b.id);
}

/** @param {string | null | undefined} id */
export function timeOfId(id) {
  return id ? Number((BigInt(id) >> 22n) + EPOCH) : 0;
}

/** The id just before this one, to ask for "this one and what follows". @param {string} id */
export function justBefore(id) {
  return String(BigInt(id) - 1n);
}

export function newNonce() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
