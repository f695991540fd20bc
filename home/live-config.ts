// Keeps the configuration of a running process up to date with config.json. Everybody holds the same object, whose values
// are replaced. A file with a mistake changes nothing.

import type { Config, ConfigEnvironment, ServerConfig } from '../core/config.ts';
import { type ConfigChange, configChange, valuesUntilRestart } from '../core/config-change.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { loadConfig, versionOf } from './config-file.ts';
import type { Home } from './home.ts';
import { watchFolder } from './watch-folder.ts';

/** `problem`: the file has a mistake, and the old values stay in force. */
export type ConfigReport = ConfigChange | { readonly problem: string };

export interface LiveConfig {
  /** Reads the file if it has changed. */
  check(): void;
  /** From now on, changes are noticed at once. */
  watch(): void;
  onReport(listener: (report: ConfigReport) => void): void;
  close(): void;
}

const UNWATCHED_MS = 2_000;
/** An editor may write a file in several steps. */
const SETTLE_MS = 100;

export function openLiveConfig(home: Home, env: ConfigEnvironment, config: Config): LiveConfig {
  const path = home.path('config.json');
  const listeners: ((report: ConfigReport) => void)[] = [];
  let seen = versionOf(path);
  let due: NodeJS.Timeout | undefined;
  let stop = () => {};

  function report(about: ConfigReport): void {
    for (const listener of listeners) listener(about);
  }

  function check(): void {
    const version = versionOf(path);
    if (version === seen) return;
    seen = version;
    try {
      const fresh = loadConfig(home, env);
      const change = configChange(config, fresh);
      replaceValues(config, valuesUntilRestart(config, fresh));
      if (change.applied.length + change.needRestart.length > 0) report(change);
    } catch (error) {
      if (!isThreadmuxError(error)) throw error;
      report({ problem: error.message });
    }
  }

  return {
    check,
    watch() {
      const soon = () => {
        due ??= setTimeout(() => {
          due = undefined;
          check();
        }, SETTLE_MS);
      };
      stop = watchFolder(home.root, soon, UNWATCHED_MS);
    },
    onReport: (listener) => void listeners.push(listener),
    close() {
      stop();
      clearTimeout(due);
    },
  };
}

/** Servers keep their objects, too: the parts of a server hold its own. */
function replaceValues(config: Config, fresh: Config): void {
  const servers = fresh.servers.map((now) => {
    const old: ServerConfig | undefined = config.servers.find(({ name }) => name === now.name);
    return old === undefined ? now : Object.assign(old, now);
  });
  for (const key of Object.keys(config)) if (!(key in fresh)) Reflect.deleteProperty(config, key);
  Object.assign(config, fresh, { servers });
}
