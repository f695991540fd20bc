// The end of .ci/run: how many tests passed, and why a suite failed. Reads what .ci/run left in a folder: per suite its exit
// status, its log and, from vitest, its report.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const MOST_TESTS = 20;
const MOST_LINES = 30;
const UNHANDLED = /^\W*Unhandled Errors\W*$/;
/** The summary of vitest, which follows the errors. */
const SUMMARY = /^ *Test Files /;

const folder = process.argv[2] ?? '.';
const suites = readdirSync(folder)
  .filter((name) => name.endsWith('.status'))
  .map((name) => readSuite(name.slice(0, -'.status'.length)));
const sum = (of) => suites.reduce((total, suite) => total + of(suite), 0);
const passed = sum((suite) => suite.passed);
const failed = sum((suite) => suite.failed);
const notRun = sum((suite) => suite.notRun);
console.log(`\nci: ${passed} passed, ${failed} failed${notRun > 0 ? ` (${notRun} not run)` : ''}`);
const bad = suites.filter((suite) => suite.status !== 0 || suite.failed > 0);
for (const suite of bad)
  console.log([`\nci: ${suite.name} failed with exit code ${suite.status}`, ...reasons(suite)].join('\n'));
process.exit(passed > 0 && bad.length === 0 ? 0 : 1);

function readSuite(name) {
  const status = Number(readFileSync(join(folder, `${name}.status`), 'utf8'));
  const log = stripVTControlCharacters(readFileSync(join(folder, `${name}.log`), 'utf8'))
    .trimEnd()
    .split('\n');
  return { name, status, log, ...readReport(name, status) };
}

/** A suite without a report is one test. A report that stayed empty is a failure, not a zero. */
function readReport(name, status) {
  const path = join(folder, `${name}.json`);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  if (!text) {
    const works = status === 0 && text === undefined;
    return { passed: works ? 1 : 0, failed: works ? 0 : 1, notRun: 0, tests: [] };
  }
  const { numPassedTests, numFailedTests, numTotalTests, testResults } = JSON.parse(text);
  const tests = testResults.flatMap(failuresOf);
  return {
    passed: numPassedTests,
    failed: tests.length,
    notRun: numTotalTests - numPassedTests - numFailedTests,
    tests,
  };
}

function failuresOf({ name, status, message, assertionResults }) {
  const file = relative('.', name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  // A file that could not even be loaded has no tests to fail.
  if (failed.length === 0) return status === 'failed' ? [`${file}: ${firstLine(message)}`] : [];
  return failed.map((test) => `${file}: ${test.fullName}\n  ${firstLine(test.failureMessages[0])}`);
}

function firstLine(text = '') {
  return stripVTControlCharacters(text).split('\n')[0];
}

/** The failed tests and the errors outside of tests; if there are none, the end of the log. */
function reasons({ tests, log }) {
  const shown = tests.slice(0, MOST_TESTS);
  if (tests.length > shown.length) shown.push(`… and ${tests.length - shown.length} more`);
  const from = log.findIndex((line) => UNHANDLED.test(line));
  const to = log.findIndex((line, at) => at > from && SUMMARY.test(line));
  if (from !== -1) shown.push(...log.slice(from, to === -1 ? undefined : to).slice(0, MOST_LINES));
  return shown.length > 0 ? shown : log.slice(-MOST_LINES);
}
