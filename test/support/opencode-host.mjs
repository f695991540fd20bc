// Stands in for OpenCode in tests of the plugin: loads it, calls the hooks that stdin names (a line is [hook, ...arguments]), and
// prints the requests that the plugin makes. Arguments: the path of the plugin, and its options.

import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [path, options = '{}'] = process.argv.slice(2);
const { ThreadmuxPlugin } = await import(pathToFileURL(path).href);
const post = async ({ url, path: { id }, body }) => process.stdout.write(`${JSON.stringify({ url, id, body })}\n`);
const input = { directory: '/work', client: { _client: { post } } };
const hooks = await ThreadmuxPlugin(input, JSON.parse(options));
const again = await ThreadmuxPlugin(input, JSON.parse(options));
if (Object.keys(again).length > 0) throw new Error('the plugin was loaded twice');

for await (const line of createInterface({ input: process.stdin })) {
  const [hook, ...args] = JSON.parse(line);
  await hooks[hook](...args);
}
await hooks.dispose();
