import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { durationsFile, readDurations } from './by-duration.ts';
import { type Tier, tierOf } from './tiers.ts';

const slowestShown = 10;
const failuresShown = 20;

/**
 * Prints the slowest files, then what failed: the end of a long log is what people see first. Hands the counts to `scripts/check.mjs` in the file that BATON_TEST_COUNTS names. With
 * BATON_TEST_RECORD the durations are recorded.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'skipped' && isOfAnotherTier(test.tags, tierOf(process.env.BATON_TEST_TIER))) continue;
        if (state !== 'pending') counts[state] += 1;
        if (state === 'failed') failures.push(`${nameOf(module)} > ${test.fullName}${reasonOf(test)}`);
      }
    }
    const durations = modules
      .map((module) => ({ file: nameOf(module), seconds: secondsOf(module) }))
      .toSorted((one, other) => other.seconds - one.seconds);
    console.log(`\nThe slowest of ${durations.length} files:`);
    for (const { file, seconds } of durations.slice(0, slowestShown))
      console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`);
    if (failures.length > 0) console.log(`\nFailed:\n${failures.slice(0, failuresShown).join('\n')}`);
    const { BATON_TEST_COUNTS, BATON_TEST_RECORD } = process.env;
    if (BATON_TEST_COUNTS !== undefined) writeFileSync(BATON_TEST_COUNTS, JSON.stringify(counts));
    if (BATON_TEST_RECORD !== undefined) record(durations);
  }
}

function isOfAnotherTier(tags: readonly string[], tier: Tier): boolean {
  const isQuick = !tags.includes('full') || tags.includes('smoke');
  return tier !== 'all' && isQuick !== (tier === 'quick');
}

function reasonOf(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return error === undefined ? '' : `\n    ${error.message.split('\n', 3).join('\n    ')}`;
}

function nameOf({ moduleId }: TestModule): string {
  return path.relative(import.meta.dirname, moduleId);
}

function secondsOf(module: TestModule): number {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return (duration + collectDuration + setupDuration) / 1_000;
}

/** By name and in whole seconds, so that a new recording changes few lines. What did not run keeps its duration. */
function record(durations: readonly { readonly file: string; readonly seconds: number }[]): void {
  const isThere = (file: string): boolean => existsSync(path.join(import.meta.dirname, file));
  const before = Object.entries(readDurations()).filter(([file]) => isThere(file));
  const now = durations.map(({ file, seconds }) => [file, Math.round(seconds)] as const);
  const rows = [...new Map([...before, ...now])].toSorted(([one], [other]) => one.localeCompare(other));
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
}
