import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the longest first. One that begins when all others are done is waited for alone. The
 * runner remembers how long each took, but a fresh clone has nothing to remember.
 */
const longest = [
  'fault/workspaces.test.ts',
  'cli/demo-question.test.ts',
  'cli/demo.test.ts',
  'browser/demo.test.ts',
  'fault/kill-points.test.ts',
  'fault/linear.test.ts',
  'daemon/questions.test.ts',
  'toolchain/bootstrap.test.ts',
  'workspace/git/hostile-repository.test.ts',
  'simulation/simulation.test.ts',
  'real/e2e.test.ts',
  'daemon/canaries.test.ts',
  'cadence/outage.test.ts',
  'cadence/requests-a-day.test.ts',
  'daemon/endings.test.ts',
  'fault/workspaces-random.test.ts',
  'store/crash.test.ts',
  'workspace/salvage/every-byte.property.test.ts',
  'workspace/salvage/odd-objects.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/test/${name}`));
      return at === -1 ? longest.length : at;
    };
    // The sort is stable: the others stay as they were.
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
