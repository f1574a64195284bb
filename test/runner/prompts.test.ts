import { describe, expect, it } from 'vitest';
import { answersText } from '../../src/core/command/answer-text.ts';
import type { EarlierWork } from '../../src/core/run/earlier-work.ts';
import { type FirstPrompt, firstPrompt } from '../../src/runner/prompts.ts';

const whole = 'Mend the door.';
const earlier: EarlierWork = { endedBecause: 'It was cut.', turns: 2, lastMessage: 'Half done.', evidence: null };
const answers = [
  {
    question: { kind: 'command', text: 'May I?', detail: '', fields: [] },
    answer: { decision: 'accept', values: {} },
  },
] as const;

function prompt(request: Partial<FirstPrompt['request']>, more: Partial<FirstPrompt> = {}): string {
  const ordinary = {
    threadId: null,
    retryKind: null,
    recovery: null,
    answers: [],
    answersBefore: [],
    note: null,
    earlier: null,
  };
  return firstPrompt({ request: { ...ordinary, ...request }, whole, isResumed: false, said: [], ...more });
}

describe('the first prompt of a run', () => {
  it('is that of the workflow file for an ordinary run, also after others', () => {
    expect(prompt({})).toBe(whole);
    for (const retryKind of ['continuation', 'failure'] as const) expect(prompt({ retryKind, earlier })).toBe(whole);
    expect(prompt({ recovery: 'reduced_budget', retryKind: 'failure', earlier })).toBe(whole);
  });

  it('of a resumed thread gives a different reason for each cause, and not the issue again', () => {
    const goesOn = (request: Partial<FirstPrompt['request']>): string =>
      prompt({ threadId: 't', earlier, ...request }, { isResumed: true });
    const told = [
      ...(['interrupted', 'quota', 'answered', 'handed_back', 'continuation', 'failure'] as const).map((retryKind) =>
        goesOn({ retryKind }),
      ),
      // It was made shorter: that says more than that the run before failed.
      goesOn({ retryKind: 'failure', recovery: 'compact' }),
    ];
    expect(new Set(told).size).toBe(told.length);
    for (const each of told) {
      expect(each).not.toContain(whole);
      expect(each).not.toContain('Half done.');
    }
  });

  // @conforms runs.9
  it.each([
    ['a thread that is not there any more', { threadId: 't', retryKind: 'interrupted' }],
    ['a fresh start', { retryKind: 'failure', recovery: 'fresh_start' }],
    ['a larger model', { retryKind: 'failure', recovery: 'larger_model' }],
    ['a thread that could not be made shorter', { threadId: 't', retryKind: 'failure', recovery: 'compact' }],
    ['an answer without a thread', { retryKind: 'answered', answers }],
    ['what a person gave back without a thread', { retryKind: 'handed_back' }],
  ] as const)('for %s is the whole prompt with the facts of the previous run', (_what, request) => {
    const told = prompt({ ...request, earlier });
    expect(told.startsWith(`${whole}\n\n`)).toBe(true);
    expect(told).toContain('> Half done.');
    const answered = 'answers' in request ? [answersText(request.answers)] : [];
    expect(prompt({ ...request, earlier: null })).toBe([whole, ...answered].join('\n\n'));
  });

  it('of a resumed thread without a turn is the whole prompt', () => {
    const told = prompt(
      { threadId: 't', retryKind: 'interrupted', earlier: { ...earlier, turns: 0 } },
      { isResumed: true },
    );
    expect(told.startsWith(whole)).toBe(true);
  });

  it.each([true, false])('has the answers, then the note, then messages of people (resumed: %s)', (isResumed) => {
    const told = prompt(
      { threadId: 't', retryKind: 'answered', answers, note: 'Mind the step.', earlier },
      { isResumed, said: ['Hurry.', 'No, do not.'] },
    );
    const parts = [answersText(answers), 'Mind the step.', 'Hurry.', 'No, do not.'];
    const places = parts.map((part) => told.indexOf(part));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((left, right) => left - right));
  });

  it('has earlier answers of people for an agent that cannot remember them, and not for one that can', () => {
    const question = { kind: 'input', text: 'Which door?', detail: '', fields: [] } as const;
    const answersBefore = [{ question, answer: { decision: 'accept', values: {} } as const }];
    expect(prompt({ answersBefore, retryKind: 'failure' })).toContain('Which door?');
    expect(prompt({ answersBefore, retryKind: 'interrupted', threadId: 't' }, { isResumed: true })).not.toContain(
      'Which door?',
    );
  });
});
