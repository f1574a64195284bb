import { expect, it } from 'vitest';
import { allErrors } from '../../scripts/docs.ts';
import { agentBackends } from '../../src/agent/backends.ts';
import { BatonError, toBatonError } from '../../src/core/baton-error.ts';
import { adapterErrors, errorCatalogue } from '../../src/core/error-catalogue.ts';
import { pullHosts } from '../../src/pulls/hosts.ts';
import { trackerAdapters } from '../../src/tracker/adapters.ts';

it.each(Object.entries(allErrors()))('%s has a next step that is a sentence', (_code, { nextStep }) => {
  expect(nextStep).toMatch(/^[A-Z].*\.$/s);
});

it('an adapter error has its own code and entry, and keeps them when it is raised again', () => {
  const { mine } = adapterErrors({ mine: { retryable: true, nextStep: 'Wait.' } });
  const error = new BatonError(mine, 'It is not there yet.');
  expect(error).toMatchObject({ code: 'mine', retryable: true, nextStep: 'Wait.' });
  const again = new BatonError(error, 'Other words.', { cause: error });
  expect(again).toMatchObject({ code: 'mine', retryable: true, nextStep: 'Wait.', cause: error });
});

it('no adapter declares a code of the catalogue or of another adapter', () => {
  const declared = [...trackerAdapters, ...agentBackends, ...pullHosts].flatMap(({ errors = {} }) =>
    Object.keys(errors),
  );
  expect(Object.keys(allErrors())).toHaveLength(Object.keys(errorCatalogue).length + declared.length);
});

it('any other thrown value becomes a BatonError and keeps its cause', () => {
  const thrown = new TypeError('x is not a function');
  const error = toBatonError(thrown);
  expect(error).toMatchObject({ code: 'internal_error', message: 'x is not a function', cause: thrown });
  expect(toBatonError(error)).toBe(error);
});

it('its JSON has the facts for a program and no stack', () => {
  const error = new BatonError('tracker_request', 'Linear did not answer.', { details: { status: 502 } });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code: 'tracker_request',
    message: 'Linear did not answer.',
    next_step: errorCatalogue.tracker_request.nextStep,
    retryable: true,
    details: { status: 502 },
  });
});
