import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AgentQuestion,
  type AnswerProblem,
  checkAnswer,
  type QuestionField,
  type WantedAnswer,
} from '../../../src/core/command/question.ts';
import { telling } from '../../telling.ts';

const field = (name: string, more: Partial<QuestionField> = {}): QuestionField => {
  return { name, label: name, options: [], allowsOther: false, isSecret: false, ...more };
};
const asked = (...fields: QuestionField[]): AgentQuestion => ({ kind: 'input', text: 'What?', detail: '', fields });
const colour = field('colour', { options: ['Red', 'Green', '2'] });

function answered(question: AgentQuestion, wanted: WantedAnswer): object {
  const checked = checkAnswer(question, wanted);
  if ('problem' in checked) throw new Error(checked.problem);
  return checked.answer;
}

function refused(question: AgentQuestion, wanted: WantedAnswer): AnswerProblem {
  const checked = checkAnswer(question, wanted);
  if ('answer' in checked) throw new Error('It was taken.');
  return checked;
}

describe('a yes-or-no question', () => {
  it.each(['accept', 'accept_for_session', 'decline'] as const)('accepts the decision %s', (decision) => {
    expect(answered(asked(), { decision })).toEqual({ decision, values: {} });
  });

  it.each([
    ['yes', 'accept'],
    [' YES ', 'accept'],
    ['always', 'accept_for_session'],
    ['No', 'decline'],
  ])('accepts the word %j', (text, decision) => {
    expect(answered(asked(), { text })).toEqual({ decision, values: {} });
  });

  it.each([
    [{}, 'no_decision', null, ['yes', 'always', 'no']],
    [{ text: 'perhaps' }, 'unknown_decision', null, ['"perhaps"', 'yes', 'always', 'no']],
    [{ text: 'constructor' }, 'unknown_decision', null, ['"constructor"', 'yes', 'always', 'no']],
    [{ text: '' }, 'unknown_decision', null, ['""', 'yes', 'always', 'no']],
    [{ text: 'no', decision: 'accept' }, 'contradicts_decision', null, ['"no"']],
    [{ decision: 'accept', values: { x: '1' } }, 'unknown_field', 'x', ['"x"', 'yes', 'always', 'no']],
  ] as const)('rejects %j: %s', (wanted, code, name, data) => {
    expect(refused(asked(), wanted)).toEqual({ code, field: name, problem: telling(...data) });
  });
});

describe('a question with one field', () => {
  it('accepts a text as its value, unchanged', () => {
    expect(answered(asked(field('name')), { text: ' Ada\nLovelace ' })).toEqual({
      decision: 'accept',
      values: { name: ' Ada\nLovelace ' },
    });
  });

  it.each([
    ['red', 'Red'],
    [' GREEN ', 'Green'],
    ['1', 'Red'],
    // The text of an option counts for more than its number.
    ['2', '2'],
    ['3', '2'],
  ])('with options maps %j to %j', (text, value) => {
    expect(answered(asked(colour), { text })).toMatchObject({ values: { colour: value } });
  });

  it.each(['0', '4', '-1', '1.0', '01', '1e0', 'Re', '__proto__', '99999999999999999999'])(
    'with options rejects %j and lists the options',
    (text) => {
      expect(refused(asked(colour), { text })).toEqual({
        code: 'not_an_option',
        field: 'colour',
        problem: telling(`"${text}"`, '"colour"', '1 "Red"', '2 "Green"', '3 "2"'),
      });
    },
  );

  it('with options that allow other text accepts both', () => {
    const open = asked({ ...colour, allowsOther: true });
    expect(answered(open, { text: 'GREEN' })).toMatchObject({ values: { colour: 'Green' } });
    expect(answered(open, { text: 'Blue' })).toMatchObject({ values: { colour: 'Blue' } });
    expect(refused(open, { text: ' ' })).toMatchObject({ code: 'no_value', field: 'colour' });
  });

  it('does not guess between options that differ only in case', () => {
    const alike = asked(field('x', { options: ['go', 'GO'] }));
    expect(answered(alike, { text: 'GO' })).toMatchObject({ values: { x: 'GO' } });
    expect(refused(alike, { text: 'Go' })).toMatchObject({ code: 'not_an_option', field: 'x' });
  });

  it('rejects two values and no value', () => {
    expect(refused(asked(colour), { text: 'red', values: { colour: 'red' } })).toMatchObject({
      code: 'answered_twice',
      field: 'colour',
    });
    const name = asked(field('name'));
    expect(refused(name, {})).toEqual({ code: 'no_value', field: 'name', problem: telling('"name"') });
    expect(refused(name, { values: { name: ' \n' } })).toMatchObject({ code: 'no_value', field: 'name' });
    expect(refused(name, { text: 'x'.repeat(100_001) })).toEqual({
      code: 'too_long',
      field: 'name',
      problem: telling('"name"', 100_000),
    });
  });
});

describe('a question with several fields', () => {
  const both = asked(colour, field('why'));

  it('accepts a value for each field', () => {
    expect(answered(both, { values: { why: 'because', colour: '2' } })).toEqual({
      decision: 'accept',
      values: { colour: '2', why: 'because' },
    });
  });

  it.each([
    [{ text: 'red' }, 'field_not_named', null, ['"colour"', '"why"']],
    [{ values: { colour: 'red' } }, 'no_value', 'why', ['"why"']],
    [{ values: { colour: 'red', why: 'x', size: '1' } }, 'unknown_field', 'size', ['"size"', '"colour"', '"why"']],
    [{ decision: 'accept_for_session' }, 'not_for_session', null, []],
    [{ decision: 'decline', values: { why: 'x' } }, 'values_with_decline', null, []],
  ] as const)('rejects %j: %s', (wanted, code, name, data) => {
    expect(refused(both, wanted)).toEqual({ code, field: name, problem: telling(...data) });
  });
});

// @conforms runs.20
it('a secret is rejected in every form, and the message says how to enter it', () => {
  const secret = asked(field('token', { isSecret: true }));
  for (const wanted of [{ text: 's3cret' }, { values: { token: 's3cret' } }, {}, { decision: 'accept' }] as const) {
    expect(refused(secret, wanted)).toEqual({
      code: 'secret',
      field: 'token',
      problem: telling('"token"', '`baton takeover ISSUE`'),
    });
    expect(refused(secret, wanted).problem).not.toContain('s3cret');
  }
  const withPin = asked(colour, field('pin', { isSecret: true }));
  expect(refused(withPin, { values: { colour: '1', pin: '1' } })).toMatchObject({ code: 'secret', field: 'pin' });
});

it('every question may be declined, even one for a secret', () => {
  for (const question of [asked(), asked(colour), asked(field('token', { isSecret: true }))])
    expect(answered(question, { decision: 'decline' })).toEqual({ decision: 'decline', values: {} });
});

it('an accepted answer has exactly the fields, and only options where nothing else is allowed', () => {
  const word = fc.constantFrom('a', 'A', 'b', '1', '2', '__proto__', 'constructor', '', ' ', ' a', '\u001b[2J');
  const fields = fc.uniqueArray(
    fc.record({
      name: word,
      label: word,
      options: fc.array(word, { maxLength: 3 }),
      allowsOther: fc.boolean(),
      isSecret: fc.constantFrom(false, false, false, true),
    }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
  );
  const values = fc.array(fc.tuple(word, word), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs));
  fc.assert(
    fc.property(fields, fc.option(word, { nil: undefined }), values, (drawn, text, given) => {
      const checked = checkAnswer(asked(...drawn), text === undefined ? { values: given } : { text, values: given });
      if ('problem' in checked) {
        expect(checked.problem).not.toMatch(/\p{Cc}/u);
        return;
      }
      expect(Object.keys(checked.answer.values).sort()).toEqual(drawn.map(({ name }) => name).sort());
      for (const { name, options, allowsOther, isSecret } of drawn) {
        expect(isSecret).toBe(false);
        const value = new Map(Object.entries(checked.answer.values)).get(name) ?? '';
        if (options.length > 0 && !allowsOther) expect(options).toContain(value);
      }
      // It is checked where it is given and once more where it is carried out.
      expect(checkAnswer(asked(...drawn), checked.answer)).toEqual(checked);
    }),
  );
});
