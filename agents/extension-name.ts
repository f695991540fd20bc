// The name of our extension in the settings of an agent. Several machines may have installed threadmux on one host: each has its own.

/** `home`: threadmux's home on that host. */
export function extensionName(home: string): string {
  const [, machine] = /\/for\/([\w.-]+)$/.exec(home) ?? [];
  return machine === undefined ? 'threadmux' : `threadmux-${machine.toLowerCase().replace(/[^a-z0-9-]/g, '-')}`;
}
