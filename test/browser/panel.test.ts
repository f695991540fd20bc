// The view of all sessions in the page, at both sizes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { tempFolder } from '../support/temp-home.ts';
import { closeBrowserAtTheEnd, DESKTOP, openPage, PHONE, see } from './browser.ts';
import { startProgram } from './program.ts';

closeBrowserAtTheEnd();

describe.each([
  ['on a desktop', DESKTOP],
  ['on a phone', PHONE],
])('%s', (_, viewport) => {
  it('the view of all sessions starts and stops a declared session', async () => {
    const sessions = [{ name: 'web' }, { name: 'shop', start: 'manual' }, { name: 'docs', start: 'manual' }];
    const agent = join(tempFolder(), 'agent');
    writeFileSync(agent, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
    const program = await startProgram({ file: { agent: { command: [agent] }, sessions } });
    const { page } = await openPage({ viewport });
    await page.goto(program.link);
    await page.getByRole('button', { name: 'All sessions' }).click();
    const view = page.getByRole('dialog', { name: 'Sessions' });
    await see(view.getByText('not started'));
    await view.getByRole('button', { name: 'Start shop' }).click();
    await see(view.getByRole('button', { name: 'Stop shop' }));
    const wide = await view.evaluate((one) => {
      const element = one as unknown as { scrollWidth: number; clientWidth: number };
      return element.scrollWidth - element.clientWidth;
    });
    expect(wide).toBeLessThanOrEqual(0);
    await view.getByRole('button', { name: 'Stop shop' }).click();
    await see(view.getByText('stopped'));
    await vi.waitFor(() => expect(() => program.machine.tmux.call('has-session', '-t', '=shop')).toThrow(), 10_000);
  });
});
