import type { z } from 'zod';
import type { Clock } from '../../clock/clock.ts';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/harmless-line.ts';
import type { Logger } from '../../core/logger.ts';
import type { RequestCaller } from '../../core/request-caller.ts';
import type { HttpAnswer, HttpClient } from '../../http/http.ts';
import type { Ask } from '../tracker.ts';
import type { Operation } from './documents.ts';
import { errorsIn, type GraphqlError, isAboutMissingIssue, parsedOrNull } from './graphql-errors.ts';
import { linearProvider } from './linear-provider.ts';
import { authorization, type LinearSettings } from './linear-settings.ts';

/** What of an answer is told to people and to the log. */
const mostBytesTold = 1_000;

const usualCaller: RequestCaller = { job: 'tracker_poll', cause: 'poll' };

export interface LinearParts {
  readonly settings: LinearSettings;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Sends one operation, once, and gives its data in the form asked for. Everything else rejects: no answer, another
 * status, any GraphQL error (also beside data: half an answer is none), a form that Baton does not know. The key is in
 * no error and no log line, also where Linear repeats it.
 */
export type CallLinear = <Data>(
  operation: Operation,
  variables: Readonly<Record<string, unknown>>,
  data: z.ZodType<Data>,
  ask?: Ask,
) => Promise<Data>;

export function createCallLinear({ settings, http, clock, logger }: LinearParts): CallLinear {
  const { endpoint, key } = settings;
  return async (operation, variables, data, ask = {}) => {
    const { signal } = ask;
    signal?.throwIfAborted();
    const answer = await http
      .send({
        method: 'POST',
        url: endpoint,
        route: operation.name,
        headers: { authorization: authorization(key), 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ operationName: operation.name, query: operation.text, variables }),
        caller: ask.caller ?? usualCaller,
        ...(signal === undefined ? {} : { signal }),
      })
      .catch((thrown: unknown) => {
        throw signal?.aborted === true ? thrown : noAnswer(operation, thrown);
      });
    ask.onProgress?.();
    const told = toldOf(answer.body, key.reveal());
    const refused = whyRefused(operation, answer, told, clock.now(), http);
    if (refused !== null) {
      if (refused.code === 'tracker_status') {
        logger.warn('Linear refused a request.', { operation: operation.name, status: answer.status, body: told });
      }
      throw refused;
    }
    const body = parsedOrNull(answer.body);
    const parsed = data.safeParse(body !== null && typeof body === 'object' && 'data' in body ? body.data : null);
    if (parsed.success) return parsed.data;
    throw unknownPayload(operation, 'the answer has not the form that was asked for');
  };
}

export function unknownPayload({ name }: Operation, what: string): BatonError {
  return new BatonError('tracker_response', `Linear's answer to ${name} cannot be used: ${what}.`, {
    details: { operation: name, provider_code: 'linear_unknown_payload' },
  });
}

function noAnswer({ name }: Operation, thrown: unknown): BatonError {
  const cause = toBatonError(thrown, 'request_failed');
  if (cause.code === 'request_limited') {
    return new BatonError('tracker_rate_limited', `Linear is not asked for ${name} just now: ${cause.message}`, {
      cause,
      details: {
        operation: name,
        step: cause.details.step ?? null,
        until: cause.details.until ?? null,
        provider_code: 'linear_rate_limited',
      },
    });
  }
  return new BatonError('tracker_request', `Linear did not answer ${name}: ${cause.message}`, {
    cause,
    details: { ...cause.details, operation: name, provider_code: 'linear_api_request' },
    ...(cause.code === 'request_failed' ? {} : { nextStep: cause.nextStep }),
  });
}

function whyRefused(
  { name }: Operation,
  answer: HttpAnswer,
  told: string,
  now: number,
  http: HttpClient,
): BatonError | null {
  const { status } = answer;
  const errors = errorsIn(answer.body);
  const refusal = linearProvider.refusal(answer, now);
  if (refusal !== null) {
    return new BatonError('tracker_rate_limited', `Linear refuses ${name}: there were too many requests.`, {
      details: {
        operation: name,
        status,
        until: refusal.until ?? http.pressure().until,
        provider_code: 'linear_rate_limited',
      },
    });
  }
  if (status === 401 || status === 403 || errors.some(isAboutTheKey)) {
    return new BatonError('tracker_auth', `Linear does not accept the key for ${name}: ${told}`, {
      details: { operation: name, status, provider_code: 'linear_api_auth' },
    });
  }
  if (errors.some(isAboutMissingIssue)) {
    return new BatonError('tracker_issue_not_found', `Linear does not have the issue that ${name} is about.`, {
      details: { operation: name, status, provider_code: 'linear_graphql_errors' },
    });
  }
  if (status !== 200) {
    return new BatonError('tracker_status', `Linear answered ${name} with status ${status}: ${told}`, {
      details: { operation: name, status, body: told, provider_code: 'linear_api_status' },
    });
  }
  if (errors.length === 0) return null;
  return new BatonError('tracker_response', `Linear answered ${name} with errors: ${told}`, {
    details: { operation: name, errors: errors.length, provider_code: 'linear_graphql_errors' },
  });
}

function isAboutTheKey({ code }: GraphqlError): boolean {
  return code === 'AUTHENTICATION_ERROR' || code === 'FORBIDDEN';
}

/** An answer for people: on one line, not longer than it has to be, and without the key if it repeats that. */
function toldOf(body: string, key: string): string {
  const line = harmlessLine(key === '' ? body : body.replaceAll(key, '[secret]'));
  const bytes = Buffer.from(line);
  if (bytes.length <= mostBytesTold) return line;
  return `${new TextDecoder().decode(bytes.subarray(0, mostBytesTold), { stream: true })}...<truncated>`;
}
