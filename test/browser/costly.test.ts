// Short messages that would cost the page seconds. Each is as long as a message may be, and a thread shows forty of them at once.

import { expect, it } from 'vitest';
import { see } from './browser.ts';
import { shareWorkspace } from './page.ts';

const start = shareWorkspace();
const LONGEST = 2_000;

it('a table in a quote does not become tens of thousands of cells', async () => {
  const { page, you, name, say } = await start();
  await you.openSession(name);
  const columns = 240;
  const rows = [`|${'a|'.repeat(columns)}`, `|${'-|'.repeat(columns)}`, ...Array(400).fill('a')];
  await say(
    rows
      .map((row) => `>${row}`)
      .join('\n')
      .slice(0, LONGEST),
  );
  await see(you.last.locator('blockquote'));
  expect(await page.locator('#messages *').count()).toBeLessThan(2_000);
});

it('a long line is not highlighted: some languages take cubic time for it', async () => {
  const { page, you, name, say } = await start();
  await you.openSession(name);
  const block = (line: string) => `\`\`\`md\n# Head\n${line}\n\`\`\``;
  await say(block('[a]('.repeat(LONGEST / 4 - 10)));
  await say(block('[a](b)'));
  await see(you.last.locator('.hl-section'));
  expect(await page.locator('pre', { hasText: '[a]([a](' }).locator('span').count()).toBe(0);
});

it('hundreds of times share what formats them, also while they go on', async () => {
  const { page, you, name, say } = await start();
  await page.evaluate(() => {
    const counted = globalThis as unknown as { made: number };
    counted.made = 0;
    const kinds = ['RelativeTimeFormat', 'DateTimeFormat'] as const;
    for (const kind of kinds) {
      const Original = Intl[kind] as unknown as new (...given: unknown[]) => object;
      const Counting = class extends Original {
        constructor(...given: unknown[]) {
          super(...given);
          counted.made++;
        }
      };
      Object.assign(Intl, { [kind]: Counting });
    }
    const original = Date.prototype.toLocaleString;
    Date.prototype.toLocaleString = function (...given: Parameters<typeof original>) {
      counted.made++;
      return original.apply(this, given);
    };
  });
  await you.openSession(name);
  await say('<t:1:R>'.repeat(LONGEST / 7 - 1));
  const first = await you.last.locator('.body time').first().elementHandle();
  await page.evaluate((time) => {
    if (time) time.textContent = 'old';
  }, first);
  await page.waitForFunction((time) => time?.textContent?.endsWith('ago'), first);
  expect(await page.evaluate(() => (globalThis as unknown as { made: number }).made)).toBeLessThan(20);
});
