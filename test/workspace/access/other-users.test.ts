import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasOtherUsers } from '../../../workspace/access/other-users.ts';
import { tempFolder } from '../../support/temp-home.ts';

const PROGRAMS =
  'root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33::/var/www:/usr/sbin/nologin\nnobody:x:65534:65534::/:/bin/sh\n';

it.each([
  ['only programs', PROGRAMS, [], 1_000, false],
  ['only me', `${PROGRAMS}me:x:1000:1000::/home/me:/bin/bash\n`, ['1000'], 1_000, false],
  ['me as root, and a person', `${PROGRAMS}you:x:1000:1000::/home/you:/bin/bash\n`, [], 0, true],
  ['another person', `${PROGRAMS}you:x:1001:1001::/home/you:/bin/zsh\n`, [], 1_000, true],
  ['an account that nobody can use', `${PROGRAMS}old:x:1001:1001::/home/old:/usr/sbin/nologin\n`, [], 1_000, false],
  ['a person whose account is on a server', PROGRAMS, ['1000', '20177'], 1_000, true],
])('%s', (_, passwd, loggedIn, user, expected) => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'passwd'), passwd);
  for (const id of loggedIn) mkdirSync(join(folder, 'user', id), { recursive: true });
  expect(hasOtherUsers(user, { accounts: join(folder, 'passwd'), loggedIn: join(folder, 'user') })).toBe(expected);
});

it('none is known where the system has no such files', () => {
  expect(hasOtherUsers(1_000, { accounts: '/no/passwd', loggedIn: '/no/user' })).toBe(false);
});
