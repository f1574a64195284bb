import { describe, expect, it } from 'vitest';
import { givenMemory, keysIn, refusal } from './given.ts';

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
