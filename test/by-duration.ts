import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds that each file took when they were last recorded: `npm run test:all -- --record`. */
export const durationsFile = path.join(import.meta.dirname, 'durations.json');

/** The longest files first: one that begins when all others are done is waited for alone. A new file may be a long one. */
export class ByDuration extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = readDurations();
    const of = ({ moduleId }: TestSpecification): number =>
      seconds[path.relative(import.meta.dirname, moduleId)] ?? Number.POSITIVE_INFINITY;
    return files.toSorted((one, other) => of(other) - of(one) || one.moduleId.localeCompare(other.moduleId));
  }
}

export function readDurations(): Record<string, number> {
  return JSON.parse(readFileSync(durationsFile, 'utf8'));
}
