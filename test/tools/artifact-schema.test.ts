import { expect, it } from 'vitest';
import { schemaProblem } from '../../src/tools/phase-tools.ts';

const schema = {
  type: 'object',
  properties: { steps: { type: 'array', items: { type: 'string' }, minItems: 1 } },
  required: ['steps'],
};

it.each([
  ['{"steps": ["one"]}', true],
  ['{"steps": []}', false],
  ['{"steps": [1]}', false],
  ['{}', false],
  ['steps', false],
  ['['.repeat(100_000), false],
])('an artifact %.20s matches its schema: %s', (text, isGood) => {
  expect(schemaProblem(schema, text) === null).toBe(isGood);
});

it('that cannot be used is a problem of every artifact, not an error', () => {
  expect(schemaProblem({ type: 'nonsense' }, '{}')).toEqual(expect.any(String));
});
