import { expect, it } from 'vitest';
import { elicitedQuestion } from '../../../src/agent/questions/elicitation.ts';

it('takes a field for a secret that is a password, or that an agent marks so in its own words', () => {
  const properties = {
    plain: { type: 'string', _meta: { other: { isSecret: false } } },
    password: { type: 'string', format: 'password' },
    marked: { type: 'string', _meta: { someAgent: { isSecret: true } } },
    odd: { type: 'string', _meta: ['x', null] },
  };
  const { fields } = elicitedQuestion('server', { message: 'Which?', requestedSchema: { type: 'object', properties } });
  expect(fields.map(({ name, isSecret }) => [name, isSecret])).toEqual([
    ['plain', false],
    ['password', true],
    ['marked', true],
    ['odd', false],
  ]);
});
