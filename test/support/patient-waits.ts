// A busy machine may stall another process for many seconds. A wait ends as soon as its condition holds, so a long limit costs
// nothing: `vi.waitFor` never gives up earlier than this, whatever limit the test names.

import { vi } from 'vitest';

const AT_LEAST_MS = 100_000;
const PATIENT = Symbol.for('threadmux.patient-waits');

const plain = vi.waitFor;
// A process runs this once per test file.
if (!(PATIENT in plain)) {
  const patient: typeof vi.waitFor = (act, options = {}) => {
    const { timeout = 0, ...more } = typeof options === 'number' ? { timeout: options } : options;
    return plain(act, { ...more, timeout: Math.max(timeout, AT_LEAST_MS) });
  };
  vi.waitFor = Object.assign(patient, { [PATIENT]: true });
}
