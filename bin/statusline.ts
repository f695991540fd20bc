#!/usr/bin/env node
// The status line as Claude Code starts it, apart from the command line program: that takes four times as long to load.

import { beStatusline } from './be-statusline.ts';

const words = process.argv.slice(2);
const at = words.indexOf('--');
process.exitCode = await beStatusline(at === -1 ? [] : words.slice(at + 1));
