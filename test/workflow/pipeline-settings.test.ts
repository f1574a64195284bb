import { describe, expect, it } from 'vitest';
import { estimateRuns } from '../../src/core/pipeline/most-runs.ts';
import { given, givenMemory, keysIn, refusal } from './given.ts';

const phases = (...written: string[]): string =>
  `agent: {backend: rehearsal}\npipeline:\n  phases:\n${written.map((phase) => `    - ${phase}`).join('\n')}`;

describe('pipeline.phases', () => {
  it('is empty in a file that does not say', () => {
    expect(givenMemory('').settings.pipeline).toMatchObject({ phases: [], entry: null, maxRevisions: 2 });
  });

  // @conforms 4.99
  it('has a contract for each phase, with defaults', () => {
    const { pipeline } = givenMemory(
      phases(
        '{name: research, required_sections: [Findings, "Open questions"]}',
        '{name: design, artifact: docs/design.md, validation: trust, max_bytes: 100, may_skip: false, max_turns: 2}',
      ),
    ).settings;
    expect(pipeline.phases).toMatchObject([
      {
        name: 'research',
        role: 'research',
        artifact: '.baton/research.md',
        requiredSections: ['Findings', 'Open questions'],
        maxBytes: 262_144,
        validation: 'structural',
        maySkip: true,
        maxTurns: 5,
      },
      { artifact: 'docs/design.md', validation: 'trust', maxBytes: 100, maySkip: false, maxTurns: 2 },
    ]);
  });

  it.each([
    ['without a name', '{artifact: a.md}', 'name'],
    ['with the name of the last phase', '{name: ready}', 'name'],
    ['with another way to be validated', '{name: a, validation: hope}', 'validation'],
    ['with an artifact outside the workspace', '{name: a, artifact: ../a.md}', 'artifact'],
    ['with a larger artifact than the store takes', '{name: a, max_bytes: 262145}', 'max_bytes'],
    ['with a key that it does not have', '{name: a, sections: [b]}', 'sections'],
  ])('refuses a phase %s', (_what, phase, key) => {
    expect(keysIn(refusal(() => givenMemory(phases(phase))))).toEqual([`pipeline.phases[0].${key}`]);
  });

  it('refuses two phases of one name', () => {
    expect(keysIn(refusal(() => givenMemory(phases('{name: a}', '{name: a}'))))).toEqual(['pipeline.phases']);
  });
});

describe('pipeline.entry', () => {
  it.each(['research', 'ready'])('may be %s', (entry) => {
    expect(givenMemory(`${phases('{name: research}')}\n  entry: ${entry}`).settings.pipeline.entry).toBe(entry);
  });

  it('is refused where it is no phase of the file', () => {
    const refused = refusal(() => givenMemory(`${phases('{name: research}')}\n  entry: design`));
    expect(keysIn(refused)).toEqual(['pipeline.entry']);
  });
});

// @conforms pipeline.1
describe('the worst case of an issue in the pipeline', () => {
  const seed = ['{name: research}', '{name: architecture, validation: judge}', '{name: grooming}'];
  const reviewed = (more: string): string =>
    phases(...seed).replace('backend: rehearsal', 'backend: rehearsal, after_success: review') + more;
  const repository = '\nworkspace: {repo: /r}';

  it.each([
    ['three phases, each once and twice again, and the work', phases(...seed), { usual: 5, most: 10 }],
    ['from the entry on', `${phases(...seed)}\n  entry: grooming`, { usual: 2, most: 4 }],
    ['without phases', `${phases(...seed)}\n  entry: ready`, { usual: 1, most: 1 }],
    ['with other revisions', `${phases(...seed)}\n  max_revisions: 0`, { usual: 5, most: 4 }],
    ['with rounds of checks and reviewers', reviewed(repository), { usual: 5, most: 15 }],
    ['with rounds of a judge too', reviewed(`${repository}\njudge: {agents: [default]}`), { usual: 6, most: 18 }],
    [
      'with several judges, whose runs do not count',
      reviewed(`${repository}\njudge: {agents: [default], count: 3, max_rounds: 1}`),
      { usual: 8, most: 16 },
    ],
  ])('is computed from the bounds: %s', (_what, file, expected) => {
    const { settings } = given(`tracker: {kind: board}\n${file}`);
    expect(estimateRuns(settings)).toEqual(expected);
    // The limit of a file that does not say is never below.
    expect(expected.most).toBeLessThanOrEqual(settings.limits.runsPerIssue);
  });

  it.each([
    [10, []],
    [9, [{ problem: 'below_worst_case', most: 10 }]],
    [0, []],
  ])('is a warning if limits.runs_per_issue is %i', (limit, problems) => {
    const { warnings } = givenMemory(`${phases(...seed)}\nlimits: {runs_per_issue: ${limit}}`);
    expect(warnings.map(({ details }) => details)).toEqual(problems.map((each) => expect.objectContaining(each)));
  });
});
