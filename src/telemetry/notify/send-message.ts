import { createHmac } from 'node:crypto';
import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { NotifyTarget } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Secret } from '../../core/text/secret.ts';
import type { HttpAnswer, HttpClient, HttpProvider } from '../../http/http.ts';
import { commentText } from './comment-text.ts';
import { type NotifyMessage, type NotifyPayload, payloadOf } from './notify-payload.ts';
import { commandOf, targetLabel } from './notify-target.ts';
import { slackMessage } from './slack-message.ts';

/** How long a command may take. */
const commandTimeoutMs = 30_000;
/** How much a command may write to each output; only the end of an error is read. */
export const longestOutputBytes = 64 * 1024;

/** Each receiver counts as its own service, so that a refusal of one does not delay the others. */
export const notifyProvider: HttpProvider = { name: 'notify', announced: () => [], refusal: () => null };

/**
 * Runs shell text with this environment and the usual variables, and none of Baton's secrets. A command that writes more
 * than `longestOutputBytes` to an output is ended.
 */
export type RunCommand = (request: {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}) => Promise<CommandEnd>;

interface CommandEnd {
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly stderr: string;
  /** It wrote too much, whatever its exit code. */
  readonly isTooLong: boolean;
}

/** Comments on an issue of the tracker. Rejects with a BatonError. A comment that is already there is not an error. */
export type CommentOnIssue = (comment: {
  readonly issueId: string;
  readonly body: string;
  readonly isRepeated: boolean;
  readonly signal: AbortSignal;
}) => Promise<void>;

export interface Channels {
  readonly comment: CommentOnIssue;
  /** The client of one address, so that the limits of a receiver apply only to it. */
  readonly http: (url: Secret, allowInsecure: boolean) => HttpClient;
  readonly runCommand: RunCommand;
  readonly clock: Clock;
}

/**
 * Tries once to send a message. Rejects with the signal's reason, or with a BatonError whose `retryable` says whether another
 * try makes sense: yes without an answer and for 429 and 5xx, no for any other answer except 2xx.
 */
export async function sendMessage(
  target: NotifyTarget,
  message: NotifyMessage,
  { http, runCommand, comment, clock }: Channels,
  signal: AbortSignal,
): Promise<void> {
  if (target.kind === 'tracker') {
    const { causes, isRepeated = false } = message;
    // Each comment is about one issue.
    const issueId = causes[0].issue?.id ?? '';
    return await comment({ issueId, body: commentText(causes[0]), isRepeated, signal });
  }
  const payload = payloadOf(message);
  if (target.kind === 'command') return await runWith(target, payload, runCommand, signal);
  const isSlack = target.kind === 'slack';
  const body = JSON.stringify(isSlack ? slackMessage(message) : payload);
  const headers = isSlack ? {} : webhookHeaders(target.secret, payload, body, clock);
  const answer = await http(target.url, target.allowInsecure).send({
    method: 'POST',
    url: target.url.reveal(),
    route: target.kind,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body,
    dropsBody: true,
    caller: { job: 'notify', cause: 'person' },
    signal,
  });
  refuseUnless2xx(target, answer);
}

function webhookHeaders(
  secret: Secret,
  { id, event }: NotifyPayload,
  body: string,
  clock: Clock,
): Record<string, string> {
  const timestamp = String(Math.floor(clock.now() / 1000));
  return {
    'baton-event': event,
    'baton-delivery': id,
    'baton-timestamp': timestamp,
    'baton-signature': signatureOf(secret, timestamp, body),
  };
}

/**
 * Proves to a receiver that a message comes from Baton, is complete and is not a replay: an HMAC over the time and the sent
 * bytes of the body.
 */
function signatureOf(secret: Secret, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret.reveal()).update(`${timestamp}.${body}`, 'utf8').digest('hex')}`;
}

function refuseUnless2xx(target: NotifyTarget, { status }: HttpAnswer): void {
  if (status >= 200 && status < 300) return;
  const code = status === 429 || status >= 500 ? 'notification_failed' : 'notification_refused';
  throw new BatonError(code, `The ${targetLabel(target)} answered with status ${status}.`, { details: { status } });
}

async function runWith(
  target: Extract<NotifyTarget, { readonly kind: 'command' }>,
  payload: NotifyPayload,
  runCommand: RunCommand,
  signal: AbortSignal,
): Promise<void> {
  const { code, timedOut, stderr, isTooLong } = await runCommand({
    command: commandOf(target),
    env: environmentOf(payload),
    stdin: `${JSON.stringify(payload)}\n`,
    timeoutMs: commandTimeoutMs,
    signal,
  });
  signal.throwIfAborted();
  // A retry would do the same, and it is unknown how far the command got.
  if (isTooLong) {
    throw new BatonError(
      'notification_refused',
      `The command wrote more than ${longestOutputBytes / 1024} KB, so Baton ended it.`,
      { details: { exit: code, most_bytes: longestOutputBytes } },
    );
  }
  if (code === 0 && !timedOut) return;
  const how = timedOut ? `took longer than ${commandTimeoutMs / 1000} s` : `ended with ${code ?? 'a signal'}`;
  const said = harmlessLine(stderr.slice(-300));
  throw new BatonError('notification_failed', `The command ${how}${said === '' ? '' : `: ${said}`}`, {
    details: { exit: code, timed_out: timedOut },
  });
}

/** The same facts as variables, for scripts that read no JSON. A missing fact is empty. */
function environmentOf(payload: NotifyPayload): Record<string, string> {
  const one = payload.event === 'several' ? null : payload;
  const facts = {
    ID: payload.id,
    EVENT: payload.event,
    PROJECT: payload.project,
    COUNT: payload.event === 'several' ? String(payload.count) : '1',
    ISSUE: one?.issue?.identifier,
    ISSUE_ID: one?.issue?.id,
    TITLE: one?.issue?.title,
    URL: one?.issue?.url,
    RUN_ID: one?.run_id,
    CODE: one?.code,
    REASON: one?.reason,
    SINCE: one?.since,
    DASHBOARD_URL: payload.dashboard_url,
  };
  // A variable cannot hold NUL, and one line is easier to handle than several.
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [`BATON_NOTIFY_${name}`, harmlessLine(value ?? '')]),
  );
}
