import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QuestionAnswer } from '../../src/core/command/question.ts';
import { errorCatalogue } from '../../src/core/error-catalogue.ts';
import { errorIn, openTools } from './open-tools.ts';

describe('ask_person', () => {
  it('returns the words of the person, however long they take', async () => {
    const { toolSet, asked, clock } = openTools();
    const answer = toolSet.call('ask_person', {
      question: ' Which one? ',
      options: ['left', 'right', 'left'],
      detail: 'a\nb',
    });
    await clock.advance(24 * 3_600_000);
    expect(asked[0]?.question).toEqual({
      kind: 'input',
      text: 'Which one?',
      detail: 'a\nb',
      fields: [{ name: 'answer', label: 'Answer', options: ['left', 'right'], allowsOther: true, isSecret: false }],
    });
    asked[0]?.answer({ decision: 'accept', values: { answer: 'the left one' } });
    expect(await answer).toEqual({ success: true, output: 'the left one' });
    expect(clock.pending).toBe(0);
  });

  it('distinguishes a yes without words from a no, and a no with words from the same words', async () => {
    const told = async (given: QuestionAnswer): Promise<string> => {
      const { toolSet, asked } = openTools();
      const answer = toolSet.call('ask_person', { question: 'May I?' });
      asked[0]?.answer(given);
      const { success, output } = await answer;
      expect(success).toBe(true);
      return output;
    };
    const yes = await told({ decision: 'accept', values: {} });
    const no = await told({ decision: 'decline', values: {} });
    const noWithWords = await told({ decision: 'decline', values: { answer: 'not today' } });
    expect(await told({ decision: 'accept_for_session', values: { answer: ' ' } })).toBe(yes);
    expect(noWithWords).toContain('not today');
    expect(new Set(['', 'not today', yes, no, noWithWords]).size).toBe(5);
  });

  it('fails when no one answers, with a next step for the agent', async () => {
    const { toolSet, asked } = openTools();
    const answer = toolSet.call('ask_person', { question: 'Is anybody there?' });
    asked[0]?.answer(null);
    const { success, output } = await answer;
    expect(success).toBe(false);
    expect(errorIn(output)).toMatchObject({ code: 'agent_input_required', next_step: expect.any(String) });
    expect(errorIn(output).next_step).not.toBe(errorCatalogue.agent_input_required.nextStep);
  });

  it('withdraws the question when the agent does not wait any more', async () => {
    const { toolSet, asked } = openTools();
    const leaving = new AbortController();
    const answer = toolSet.call('ask_person', { question: 'Still there?' }, leaving.signal);
    expect(asked[0]?.signal?.aborted).toBe(false);
    leaving.abort();
    expect(asked[0]?.signal?.aborted).toBe(true);
    expect((await answer).success).toBe(false);
  });

  it('asks several questions at once, each with its own answer', async () => {
    const { toolSet, asked } = openTools();
    const answers = ['one?', 'two?'].map((question) => toolSet.call('ask_person', { question }));
    asked[1]?.answer({ decision: 'accept', values: { answer: 'second' } });
    asked[0]?.answer({ decision: 'accept', values: { answer: 'first' } });
    expect((await Promise.all(answers)).map(({ output }) => output)).toEqual(['first', 'second']);
  });

  it.each([
    [{}],
    [{ question: '' }],
    [{ question: ' \n\u001b\u202e ' }],
    [{ question: 'x'.repeat(2_001) }],
    [{ question: 'x?', options: 'left' }],
    [{ question: 'x?', options: [''] }],
    [{ question: 'x?', options: Array.from({ length: 21 }, String) }],
    [{ question: 'x?', secret: true }],
  ])('refuses %j without asking a person', async (input) => {
    const { toolSet, asked } = openTools();
    expect(errorIn((await toolSet.call('ask_person', input)).output)).toMatchObject({ code: 'invalid_tool_arguments' });
    expect(asked).toEqual([]);
  });

  it('shows a person no terminal escapes', () => {
    const { toolSet, asked } = openTools();
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\r', '\u001b', '[2J', '\u202e', '\u0007', 'é') });
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), (question, detail, options) => {
        asked.length = 0;
        void toolSet.call('ask_person', { question, detail, options });
        for (const { question: shown } of asked) {
          const lines = [shown.text, ...shown.fields.flatMap((field) => field.options)];
          for (const line of lines) expect(line).toMatch(/^[^\p{Cc}\p{Cf}]+$/u);
          expect(shown.detail.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\p{Cf}]*$/u);
        }
      }),
    );
  });
});
