import { describe, expect, it } from 'vitest';
import { missingSections } from '../../../src/core/pipeline/artifact-sections.ts';
import {
  decideTransition,
  type Shortcoming,
  shortcomings,
  shortcomingText,
} from '../../../src/core/pipeline/completion.ts';
import type { Validation } from '../../../src/core/pipeline/phase.ts';
import { phase, pipeline } from './phase.ts';

const good = { text: '# Findings\n\nSome.\n' };
const claim = { phase: 'research', path: '.baton/research.md', skipTo: null };
const contract = { pipeline: pipeline(), current: 'research', schemaProblem: null };
const codes = (found: readonly Shortcoming[]): string[] => found.map(({ code }) => code);

/** Seed 4, Precondition Checks, in its order; size, schema and `skip_to` are Baton's. */
describe('the preconditions of a completion claim, in the order of the seed', () => {
  // @conforms 4.89, 4.90, 4.91, 4.92
  it.each([
    ['that keeps its contract', claim, good, contract, []],
    ['of another phase', { ...claim, phase: 'grooming' }, { why: 'it does not exist' }, contract, ['wrong_phase']],
    ['without an artifact', claim, { why: 'it does not exist' }, contract, ['no_artifact']],
    ['with a large artifact', claim, { bytes: 1_001 }, contract, ['artifact_too_large']],
    ['without a section', claim, { text: '# Other\n\nSome.' }, contract, ['missing_sections']],
    ['that does not match its schema', claim, good, { ...contract, schemaProblem: 'no' }, ['wrong_schema']],
    ['that skips to an earlier phase', { ...claim, skipTo: 'research' }, good, contract, ['skip_refused']],
    ['that skips to an unknown phase', { ...claim, skipTo: 'gone' }, good, contract, ['skip_refused']],
    ['that skips to a later phase', { ...claim, skipTo: 'ready' }, good, contract, []],
    [
      'that may not skip',
      { ...claim, skipTo: 'ready' },
      good,
      { ...contract, pipeline: pipeline({ phases: [phase('research', { maySkip: false })] }) },
      ['skip_refused'],
    ],
  ] as const)('a claim %s', (_title, said, artifact, by, expected) => {
    const found = shortcomings(said, artifact, by);
    expect(codes(found)).toEqual(expected);
    for (const each of found) expect(shortcomingText(each)).not.toBe('');
  });
});

describe('a section of an artifact', () => {
  it.each([
    ['# Findings\n\ntext', true],
    ['### findings ###\ntext', true],
    ['## 2. **Findings**:\n\n- item', true],
    ['# Findings', false],
    ['# Findings\n\n# Other\n\ntext', false],
    ['# Findings\n\n## Below\n\ntext', true],
    ['Findings\n\ntext', false],
    ['```\n# Findings\ntext\n```', false],
    ['# Findings\n\n```\n# not a heading\n```', true],
    ['~~~\n```\n# Findings\ntext\n~~~\n', false],
    ['#Findings\ntext', false],
    ['', false],
    ['\r\n# Findings\r\n\r\ntext\r\n', true],
  ])('in %j is there: %s', (markdown, isThere) => {
    expect(missingSections(markdown, ['Findings'])).toEqual(isThere ? [] : ['Findings']);
  });
});

/** Seed 4, Validation Modes, each with every answer that it can get. */
describe('what follows from a completion claim', () => {
  const missing: Shortcoming = { code: 'missing_sections', sections: ['Findings'] };
  const refused: Shortcoming = { code: 'skip_refused', skipTo: 'gone', allowed: [] };
  const opinion = (verdict: 'approved' | 'rejected') => ({
    verdict,
    summary: 'so',
    findings: [{ file: null, line: null, severity: 'must' as const, problem: 'p', wanted: 'w' }],
  });
  const after = (
    validation: Validation,
    found: readonly Shortcoming[],
    {
      revisions = 0,
      said = null as 'approved' | 'rejected' | null,
      skipTo = null as string | null,
      current = 'research',
    } = {},
  ) =>
    decideTransition(
      {
        claim: { phase: 'research', skipTo },
        found,
        record: { phase: current, revisions },
        marked: [],
        opinion: said === null ? null : opinion(said),
      },
      pipeline({ phases: [phase('research', { validation }), phase('architecture')] }),
    );

  // @conforms 4.93, 4.94, 4.95, 4.96
  it.each([
    ['structural', [], {}, { to: 'advance', phase: 'architecture' }],
    ['structural', [], { skipTo: 'ready' }, { to: 'advance', phase: 'ready', skipped: ['architecture'] }],
    ['structural', [missing], {}, { to: 'revise' }],
    ['structural', [missing], { revisions: 1 }, { to: 'revise' }],
    ['structural', [missing], { revisions: 2 }, { to: 'person' }],
    ['structural', [], { current: 'architecture' }, { to: 'nothing' }],
    ['judge', [], {}, { to: 'judge' }],
    ['judge', [missing], {}, { to: 'revise' }],
    ['judge', [], { said: 'approved' }, { to: 'advance', phase: 'architecture' }],
    ['judge', [], { said: 'approved', skipTo: 'ready' }, { to: 'advance', phase: 'ready' }],
    ['judge', [], { said: 'rejected' }, { to: 'revise', reasons: ['so', expect.stringContaining('w')] }],
    ['judge', [], { said: 'rejected', revisions: 2 }, { to: 'person' }],
    ['trust', [], {}, { to: 'advance', phase: 'architecture', warnings: [] }],
    ['trust', [missing], { revisions: 9 }, { to: 'advance', phase: 'architecture', warnings: [expect.any(String)] }],
    ['trust', [refused], { skipTo: 'gone' }, { to: 'advance', phase: 'architecture', skipped: [] }],
  ] as const)('%s, wrong: %j, %j', (validation, found, facts, expected) => {
    expect(after(validation, found, facts)).toMatchObject(expected);
  });
});
