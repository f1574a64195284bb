import { expect, it } from 'vitest';
import { commandAnswers } from '../../../src/core/command/command-answers.ts';
import { errorCatalogue } from '../../../src/core/error-catalogue.ts';

it('no code of an answer is the code of an error: such a refusal has the meaning of the error', () => {
  expect(Object.keys(commandAnswers).filter((code) => code in errorCatalogue)).toEqual([]);
});
