import path from 'node:path';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { AgentQuestion, QuestionField } from '../../src/core/command/question.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { batonHere } from './baton-here.ts';
import { boardWorkflow, stateFolderOf } from './live-daemon.ts';
import { Place } from './run-baton.ts';

/** A place whose store is there, and no daemon. */
export async function placeWithStore(workflow = boardWorkflow()): Promise<Place> {
  const place = new Place();
  place.write('WORKFLOW.md', workflow);
  await batonHere(place, 'ask', 'list');
  return place;
}

/** What a daemon would do with the store of a place. */
export async function inStore<T>(place: Place, work: (store: Store, project: string) => Promise<T>): Promise<T> {
  const url = `sqlite:${path.join(stateFolderOf(place), 'baton.db')}`;
  await using store = await openStore({ url, clock: systemClock, mode: 'visitor' });
  const { id } = await store.projects.ensure('live', 0);
  return await work(store, id);
}

export const field = (name: string, more: Partial<QuestionField> = {}): QuestionField => {
  return { name, label: name, options: [], allowsOther: false, isSecret: false, ...more };
};

export const mayRun: AgentQuestion = { kind: 'command', text: 'May I run it?', detail: 'rm -rf build', fields: [] };
export const whichColour: AgentQuestion = {
  kind: 'input',
  text: 'Which colour?',
  detail: '',
  fields: [field('colour', { label: 'The colour', options: ['Red', 'Green'] })],
};
export const twoThings: AgentQuestion = { ...whichColour, fields: [...whichColour.fields, field('why')] };

export interface Asked {
  readonly id: string;
  readonly identifier?: string;
  readonly question?: AgentQuestion;
  readonly askedAt?: number;
  readonly workspace?: string;
  readonly threadId?: string;
  readonly backend?: string;
  /** The agent of the workflow file. */
  readonly agent?: string;
  readonly account?: string;
  /** Whether the run that asked has ended. */
  readonly hasEnded?: boolean;
}

/** A run that asked a question, as a daemon leaves it in the store. */
export function ask(place: Place, asked: Asked): Promise<void> {
  return inStore(place, async (store, project) => {
    const { id, identifier = 'BAT-1', question = mayRun, askedAt = systemClock.now() - 90_000 } = asked;
    const key = { project, issueId: `id-${identifier}`, identifier };
    const runId = `run-${id}`;
    await store.runs.start({
      ...key,
      runId,
      generation: 1,
      role: 'worker',
      attempt: null,
      retryKind: null,
      host: 'here',
      startedAt: askedAt,
      backend: asked.backend ?? 'codex',
      account: asked.account ?? 'default',
      ...(asked.agent === undefined ? {} : { agent: asked.agent }),
    });
    await store.runs.record(runId, 1, {
      workspace: asked.workspace ?? '/ws/BAT-1',
      threadId: asked.threadId ?? 'thread-1',
    });
    await store.questions.ask({ ...key, id, runId, askedAt, question });
    if (asked.hasEnded) await endRun(store, runId);
  });
}

export async function endRun(store: Store, runId: string, errorCode = 'run_cancelled'): Promise<void> {
  const end = {
    endedAt: systemClock.now(),
    outcome: 'canceled_by_reconciliation',
    errorCode,
    errorMessage: null,
  } as const;
  await store.runs.finish(runId, 1, end);
}
