import type { Clock } from '../../../clock/clock.ts';
import { BatonError, toBatonError } from '../../../core/baton-error.ts';
import type { Logger } from '../../../core/logger.ts';
import type { RequestCaller } from '../../../core/requests/request-caller.ts';
import type { HttpAnswer, HttpClient } from '../../../http/http.ts';
import type { Ask } from '../../tracker.ts';
import { authorization, type LinearSettings } from '../linear-settings.ts';

export interface LinearParts {
  readonly settings: LinearSettings;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Sends one body once, counted under a name. Rejects only where there is no complete answer; the content is not
 * checked.
 */
export type SendLinear = (name: string, body: Readonly<Record<string, unknown>>, ask?: Ask) => Promise<HttpAnswer>;

const usualCaller: RequestCaller = { job: 'tracker_poll', cause: 'poll' };

export function createSendLinear({ settings, http }: Pick<LinearParts, 'settings' | 'http'>): SendLinear {
  const { endpoint, key } = settings;
  return async (name, body, ask = {}) => {
    const { signal } = ask;
    signal?.throwIfAborted();
    const answer = await http
      .send({
        method: 'POST',
        url: endpoint,
        route: name,
        headers: { authorization: authorization(key), 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        caller: ask.caller ?? usualCaller,
        ...(signal === undefined ? {} : { signal }),
      })
      .catch((thrown: unknown) => {
        throw signal?.aborted === true ? thrown : noAnswer(name, thrown);
      });
    ask.onProgress?.();
    return answer;
  };
}

function noAnswer(name: string, thrown: unknown): BatonError {
  const cause = toBatonError(thrown, 'request_failed');
  if (cause.code === 'request_limited') {
    return new BatonError('tracker_rate_limited', `Baton did not send ${name} to Linear: ${cause.message}`, {
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
