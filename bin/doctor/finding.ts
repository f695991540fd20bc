// One result of the doctor: a level, a sentence, and how to fix the problem.

export interface Finding {
  /** What was checked, for programs: "tmux", "config", "hooks". */
  readonly part: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly says: string;
  readonly remedy?: string;
}

export function fine(part: string, says: string): Finding {
  return { part, level: 'ok', says };
}

export function warning(part: string, says: string, remedy: string): Finding {
  return { part, level: 'warn', says, remedy };
}

export function fault(part: string, says: string, remedy: string): Finding {
  return { part, level: 'fail', says, remedy };
}

const SIGNS = { ok: '✓', warn: '!', fail: '✗' } as const;

export function findingLines({ level, says, remedy }: Finding): readonly string[] {
  const lines = [`${SIGNS[level]} ${says}`];
  return remedy === undefined ? lines : [...lines, `    ${remedy}`];
}

export function findingsSummary(findings: readonly Finding[]): string {
  const count = (level: Finding['level'], one: string) => {
    const n = findings.filter((finding) => finding.level === level).length;
    return n === 0 ? [] : [`${n} ${one}${n === 1 ? '' : 's'}`];
  };
  const found = [...count('fail', 'problem'), ...count('warn', 'warning')];
  return found.length === 0 ? 'No problems found.' : `Found ${found.join(' and ')}.`;
}
