import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import { allowsAgain } from '../../../src/core/run/late-approval.ts';

const yes: QuestionAnswer = { decision: 'accept', values: {} };
const asked: AgentQuestion = {
  kind: 'command',
  text: 'May I run make?',
  detail: 'make all',
  fields: [],
  requestHash: 'of make all',
};
const question = fc.record({
  kind: fc.constantFrom('command', 'file_change', 'permission', 'tool', 'input'),
  text: fc.constantFrom('a', 'b'),
  detail: fc.constantFrom('x', 'y', '', ' '),
  requestHash: fc.constantFrom('1', '2'),
  fields: fc.constantFrom([], [{ name: 'f', label: '', options: [], allowsOther: true, isSecret: false }]),
}) satisfies fc.Arbitrary<AgentQuestion>;

describe('a late approval', () => {
  it.each(['accept', 'accept_for_session'] as const)('answers the same request: %s', (decision) => {
    expect(allowsAgain({ question: asked, answer: { decision, values: {} } }, { ...asked })).toBe(true);
  });

  // @conforms runs.75
  it('never answers a different request, a declined one, one that needs values, or one that was not shown', () => {
    fc.assert(
      fc.property(question, question, fc.constantFrom('accept', 'decline'), (before, now, decision) => {
        const isAllowed = allowsAgain({ question: before, answer: { decision, values: {} } }, now);
        const isSame = before.kind === now.kind && before.requestHash === now.requestHash;
        const isShown = ['x', 'y'].includes(before.detail);
        const isYesOrNo = now.kind !== 'input' && before.fields.length + now.fields.length === 0;
        expect(isAllowed).toBe(decision === 'accept' && isSame && isShown && isYesOrNo);
      }),
    );
  });

  it('does not answer a request without details, because it may be about something else', () => {
    const bare = { ...asked, detail: '' };
    expect(allowsAgain({ question: bare, answer: yes }, bare)).toBe(false);
  });
});
