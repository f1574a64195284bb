import { expect, it } from 'vitest';
import { BatonError, toBatonError } from '../../src/core/baton-error.ts';
import { type ErrorCode, errorCatalogue } from '../../src/core/error-catalogue.ts';

it.each(Object.keys(errorCatalogue) as ErrorCode[])('%s tells the next step in a sentence', (code) => {
  expect(errorCatalogue[code].nextStep).toMatch(/^[A-Z].*\.$/s);
});

it('what is no BatonError becomes one and keeps its cause', () => {
  const thrown = new TypeError('x is not a function');
  const error = toBatonError(thrown);
  expect(error).toMatchObject({ code: 'internal_error', message: 'x is not a function', cause: thrown });
  expect(toBatonError(error)).toBe(error);
});

it('as JSON it has what a program needs and not its stack', () => {
  const error = new BatonError('tracker_request', 'Linear did not answer.', { details: { status: 502 } });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code: 'tracker_request',
    message: 'Linear did not answer.',
    next_step: errorCatalogue.tracker_request.nextStep,
    retryable: true,
    details: { status: 502 },
  });
});
