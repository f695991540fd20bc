import { describe, expect, it } from 'vitest';
import { toolLabel } from '../../../agents/tool-label.ts';

describe('toolLabel', () => {
  it.each([
    ['Bash', { command: 'npm test', description: 'Run the tests' }, 'Bash: Run the tests'],
    ['Bash', { command: 'npm\n  test' }, 'Bash: npm test'],
    ['Read', { file_path: '/a/b.ts', limit: 3 }, 'Read: /a/b.ts'],
    ['Grep', { pattern: 'x', path: '/src' }, 'Grep: /src'],
    ['mcp__db__run', { sql: 'select 1' }, 'mcp__db__run: select 1'],
    ['TodoWrite', { todos: [] }, 'TodoWrite'],
    ['Odd', null, 'Odd'],
  ])('shows %s %j as "%s"', (name, input, label) => {
    expect(toolLabel(name, input)).toBe(label);
  });

  it('is short', () => {
    expect(toolLabel('Bash', { command: '😀'.repeat(500) })).toBe(`Bash: ${'😀'.repeat(79)}…`);
  });
});
