import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { durationsFile } from '../by-duration.ts';

const folder = path.resolve(import.meta.dirname, '..');
const textOf = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
const files = globSync('**/*.ts', { cwd: folder }).toSorted();
const testFiles = files.filter((file) => file.endsWith('.test.ts'));

/** What a file calls that starts a daemon as a process of its own, a browser or a real agent. */
const slowCalls =
  /\b(startDaemon|startLive|startDoomed|startCodexDaemon|describeInChromium|describeWithCodex|describeWithClaude)\(/;
/** Folders whose tests all do, or that walk whole days and hundreds of seeds. */
const slowFolders = /^(browser|cadence|daemon\/live|fault|real|simulation)\//;

describe('the tests', () => {
  it('that start a daemon, a browser or a real agent are tagged `full`', () => {
    const quick = testFiles.filter((file) => !/^\/\/ @module-tag full$/m.test(textOf(file)));
    expect(quick.filter((file) => slowFolders.test(file) || slowCalls.test(textOf(file)))).toEqual([]);
  });

  it('of the full tier are in a file that `npm run test:rest` loads', () => {
    // Only this one gives the tag to single tests, and only for an engine of `store/engines.ts`.
    const tagging = files.filter((file) => /tags\b.*\['full'\]/.test(textOf(file)));
    expect(tagging).toEqual(['conformance/store.ts']);
    const making = files.filter((file) => /^export const \w+: .*\bStoreEngine\b/m.test(textOf(file)));
    expect(making).toEqual(['store/engines.ts']);
  });

  it('take the run counts of properties from one place', () => {
    expect(files.filter((file) => /\bnumRuns: [\d_]/.test(textOf(file)))).toEqual([]);
  });

  it('have no recorded duration for a deleted file', () => {
    const recorded = Object.keys(JSON.parse(readFileSync(durationsFile, 'utf8')));
    expect(recorded.filter((file) => !testFiles.includes(file))).toEqual([]);
  });
});
