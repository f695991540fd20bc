// Says at the link to the page if no browser can sign in there.

import { printNote } from './print.ts';

const NOWHERE =
  'No browser can sign in at this address, and its port was chosen for it alone. Start threadmux with a port of your own (`--port 7420`), or with `--listen 0.0.0.0`, and use an ssh tunnel to this machine.';

export function noteUnusable(link: string): void {
  if (!/^http:\/\/(?:127\.|\[::1\]|localhost:)/i.test(link)) printNote(NOWHERE);
}
