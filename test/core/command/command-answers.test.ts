import { expect, it } from 'vitest';
import { commandAnswers } from '../../../src/core/command/command-answers.ts';
import { errorCatalogue } from '../../../src/core/error-catalogue.ts';

it('no answer code equals an error code, because a refusal with an error code has the meaning of that error', () => {
  expect(Object.keys(commandAnswers).filter((code) => code in errorCatalogue)).toEqual([]);
});
