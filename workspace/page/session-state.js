// What a thread shows about its session: its name, where it runs, and whether it works, waits for the user or has ended. Pure.

export const STATES = {
  needs: 'needs you',
  working: 'working',
  running: 'running',
  idle: 'idle',
  ended: 'ended',
  closed: 'closed',
};

const SILENT = 1 << 12;
const EPHEMERAL = 1 << 6;

/**
 * @param {{ recent: readonly any[], typingUntil: number, archived: boolean, me: string, kind?: string }} known
 * @param {number} now
 * @returns {keyof typeof STATES}
 */
export function stateOf({ recent, typingUntil, archived, me, kind }, now) {
  if (archived) return 'closed';
  if (kind === 'terminal') return recent.some(isExit) ? 'ended' : 'running';
  if (recent.some(isOpenPrompt)) return 'needs';
  const said = recent.filter((message) => !isEphemeral(message));
  const last = said.at(-1);
  const lastOfBot = said.findLast((message) => message.author.id !== me);
  if (last !== undefined && last === lastOfBot && asksForKeys(last)) return 'needs';
  if (lastOfBot?.content.startsWith('⏹️')) return 'ended';
  if (typingUntil > now || recent.some(isWorking)) return 'working';
  return 'idle';
}

/** The message about a terminal whose program has ended. */
function isExit({ content }) {
  return /^⏹️ (?:Exited|Ended|Over)\b/.test(content);
}

/** A dialog that only keys can answer; an answered one keeps the bell and loses its buttons. */
function asksForKeys({ content, components }) {
  return content.startsWith('🔔') && components.length > 0;
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
 // * "[agent] web@mini" is the session "web" on "mini". Escapes in unusual names stay, so that nothing is hidden. The other
 // * kinds are terminals and headless agents.
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
