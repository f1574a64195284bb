import { signal } from '@preact/signals';
import type { Command, CommandRequest } from '../../../src/client/schema/command.ts';
import { isFeedbackRow } from '../issue/issue-rows.ts';
import { now } from '../page/clock.ts';
import { type Answer, command, type Problem } from './api.ts';

/**
 * A person's actions and their results. What must hold:
 *
 * - A click is one command: it has a key of its own, a second click while it is under way does nothing, and a command
 *   whose answer was lost is sent again with the same key.
 * - The answer is shown next to its subject, in the daemon's words, until the subject changes. `stamp` says when it is
 *   another one: it contains the state of the subject, but not what changes all the time, such as the
 *   last event of a run.
 */
export interface Feedback {
  readonly kind: CommandRequest['kind'];
  readonly phase: 'sending' | 'done' | 'waiting' | 'refused' | 'lost';
  readonly text: string;
  readonly nextStep: string | null;
  /** More than words, by kind: for a takeover, where the work is and how to continue it. */
  readonly facts: Command['facts'];
  readonly at: number;
  readonly stamp: string;
  /** The row where the user asked for it; null where there are no rows. */
  readonly askedAt: string | null;
}

/** Where an answer is shown: a name that is unique on the page, and the stamp of its subject. */
export interface Spot {
  readonly project: string;
  readonly name: string;
  readonly stamp: string;
  /** Where an issue may have several rows: which one this is. Only one of them shows the result. */
  readonly row?: { readonly place: string; readonly issueId: string };
}

const all = signal<ReadonlyMap<string, Feedback>>(new Map());
/** Keys of commands whose answer was lost, by the request. */
const unanswered = new Map<string, string>();

function nameOf({ project, name }: Spot): string {
  return `${project}\n${name}`;
}

/** An answer stays at least this long, so that it can be read even if the action changed its subject at once. */
const readableMs = 8_000;

/** The result of the last action at a spot; null when there was none, or its subject has changed. */
export function feedbackAt(spot: Spot): Feedback | null {
  const feedback = all.value.get(nameOf(spot));
  if (feedback === undefined) return null;
  const { row } = spot;
  if (row !== undefined && feedback.askedAt !== null) {
    if (!isFeedbackRow(spot.project, row.issueId, row.place, feedback.askedAt)) return null;
  }
  const isOutdated = feedback.stamp !== spot.stamp && feedback.phase !== 'sending';
  const isStillUseful = Object.keys(feedback.facts).length > 0 || now.value - feedback.at < readableMs;
  return isOutdated && !isStillUseful ? null : feedback;
}

/** Whether a command is under way at a spot, from any row. */
export function isSendingAt(spot: Spot): boolean {
  return all.value.get(nameOf(spot))?.phase === 'sending';
}

export function dismissFeedback(spot: Spot): void {
  const left = new Map(all.peek());
  left.delete(nameOf(spot));
  all.value = left;
}

/** Sends a command and shows the result at the spot. Null when it was not carried out. */
export async function act(spot: Spot, asked: CommandRequest): Promise<Command | null> {
  const name = nameOf(spot);
  if (all.peek().get(name)?.phase === 'sending') return null;
  const show = (result: Result): void => {
    const asking = { kind: asked.kind, stamp: spot.stamp, askedAt: spot.row?.place ?? null, at: now.peek() };
    all.value = new Map(all.peek()).set(name, { ...result, ...asking, facts: result.facts ?? {} });
  };
  show({ phase: 'sending', text: 'Sending…', nextStep: null });
  const answer = await send(spot.project, asked);
  if ('problem' in answer) {
    show(ofProblem(answer.problem));
    return null;
  }
  const { status, text, facts } = answer.value;
  show({ phase: status, text, nextStep: null, facts });
  return status === 'refused' ? null : answer.value;
}

/** Sends a command once, for a caller that shows the result itself. */
export async function send(project: string, asked: CommandRequest): Promise<Answer<Command>> {
  const request = JSON.stringify([project, asked]);
  const key = unanswered.get(request) ?? freshKey();
  unanswered.set(request, key);
  const answer = await command(project, { ...asked, key });
  if ('value' in answer || answer.problem.status !== 0) unanswered.delete(request);
  return answer;
}

type Result = Pick<Feedback, 'phase' | 'text' | 'nextStep'> & { readonly facts?: Command['facts'] };

function ofProblem({ status, message, nextStep }: Problem): Result {
  if (status === 0)
    return { phase: 'lost', text: 'No answer. Press again; Baton carries the command out only once.', nextStep: null };
  return { phase: 'refused', text: message, nextStep };
}

/** `randomUUID` exists only on the loopback address and over TLS. */
function freshKey(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
