import type * as z from 'zod';
import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import type { HttpAnswer, HttpClient } from '../../../http/http.ts';
import type { Ask } from '../../tracker.ts';
import { linearProvider } from '../linear-provider.ts';
import type { Operation } from './documents.ts';
import { errorsIn, type GraphqlError, isAboutMissingIssue, parsedOrNull } from './graphql-errors.ts';
import { createSendLinear, type LinearParts } from './send-linear.ts';

/** How much of an answer is shown to people and logged. */
const mostBytesShown = 1_000;

/**
 * Sends one operation once and returns its data in the requested form. Every other outcome rejects: no answer, another
 * status, any GraphQL error (also one with data: half an answer counts as none), or a form that Baton does not know. No
 * error and no log line contains the key, even where Linear repeats it.
 */
export type CallLinear = <Data>(
  operation: Operation,
  variables: Readonly<Record<string, unknown>>,
  data: z.ZodType<Data>,
  ask?: Ask,
) => Promise<Data>;

export function createCallLinear({ settings, http, clock, logger }: LinearParts): CallLinear {
  const send = createSendLinear({ settings, http });
  return async (operation, variables, data, ask = {}) => {
    const body = { operationName: operation.name, query: operation.text, variables };
    const answer = await send(operation.name, body, ask);
    const shown = shownBody(answer.body, settings.key.reveal());
    const refused = whyRefused(operation, answer, shown, clock.now(), http);
    if (refused !== null) {
      if (refused.code === 'tracker_status') {
        logger.warn('tracker_request_refused', { operation: operation.name, status: answer.status, body: shown });
      }
      throw refused;
    }
    const said = parsedOrNull(answer.body);
    const parsed = data.safeParse(said !== null && typeof said === 'object' && 'data' in said ? said.data : null);
    if (parsed.success) return parsed.data;
    throw unknownPayload(operation, 'the data has an unexpected form');
  };
}

export function unknownPayload({ name }: Operation, what: string): BatonError {
  return new BatonError('tracker_response', `Linear sent an unusable answer to ${name}: ${what}.`, {
    details: { operation: name, provider_code: 'linear_unknown_payload' },
  });
}

function whyRefused(
  { name }: Operation,
  answer: HttpAnswer,
  shown: string,
  now: number,
  http: HttpClient,
): BatonError | null {
  const { status } = answer;
  const errors = errorsIn(answer.body);
  const refusal = linearProvider.refusal(answer, now);
  if (refusal !== null) {
    return new BatonError('tracker_rate_limited', `Linear refused ${name}: too many requests.`, {
      details: {
        operation: name,
        status,
        until: refusal.until ?? http.pressure().until,
        provider_code: 'linear_rate_limited',
      },
    });
  }
  if (status === 401 || status === 403 || errors.some(isAboutTheKey)) {
    return new BatonError('tracker_auth', `Linear rejected the API key for ${name}: ${shown}`, {
      details: { operation: name, status, provider_code: 'linear_api_auth' },
    });
  }
  if (errors.some(isAboutMissingIssue)) {
    return new BatonError('tracker_issue_not_found', `Linear does not have the issue that ${name} is about.`, {
      details: { operation: name, status, provider_code: 'linear_graphql_errors' },
    });
  }
  if (status !== 200) {
    return new BatonError('tracker_status', `Linear answered ${name} with status ${status}: ${shown}`, {
      details: { operation: name, status, body: shown, provider_code: 'linear_api_status' },
    });
  }
  if (errors.length === 0) return null;
  return new BatonError('tracker_response', `Linear answered ${name} with errors: ${shown}`, {
    details: { operation: name, errors: errors.length, provider_code: 'linear_graphql_errors' },
  });
}

function isAboutTheKey({ code }: GraphqlError): boolean {
  return code === 'AUTHENTICATION_ERROR' || code === 'FORBIDDEN';
}

/** The body of an answer for people: one line of limited length, with the key masked. */
function shownBody(body: string, key: string): string {
  const line = harmlessLine(key === '' ? body : body.replaceAll(key, '[secret]'));
  const bytes = Buffer.from(line);
  if (bytes.length <= mostBytesShown) return line;
  return `${new TextDecoder().decode(bytes.subarray(0, mostBytesShown), { stream: true })}...<truncated>`;
}
