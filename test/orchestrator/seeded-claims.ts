import type { Clock } from '../../src/clock/clock.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { Workflow } from '../../src/core/workflow.ts';
import type { Retry, Running } from '../../src/orchestrator/claims/claim.ts';
import { Claims, type ClaimsParts } from '../../src/orchestrator/claims/claims.ts';
import { newRunState } from '../../src/orchestrator/runs/run-state.ts';
import type { Store } from '../../src/store/store.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';

export interface SeededClaims {
  readonly claims: Claims;
  /** As if the store had said so to a visitor: nothing is written. */
  hold(id: string, hold?: { readonly reason?: string; readonly since?: number }): void;
  retry(id: string, retry?: Partial<Omit<Retry, 'issue'>>): void;
  elsewhere(...claims: readonly { readonly issueId: string; readonly host: string | null }[]): void;
  inherit(id: string): void;
  /** A run whose start the store takes. */
  run(id: string, workflow: Workflow, runId?: string): Promise<Running>;
}

/** Real claims on a store, brought into a state with few words. */
export function seededClaims(
  { store, clock, project }: { readonly store: Store; readonly clock: Clock; readonly project: string },
  parts: Partial<ClaimsParts> = {},
): SeededClaims {
  const claims = new Claims({
    store,
    clock,
    project,
    logger: memoryLogger(),
    owner: 'me',
    host: 'here',
    isShared: false,
    leaseMs: () => 60_000,
    own: () => {},
    ...parts,
  });
  const nothing = { claims: [], retries: [], held: [], unfinishedRuns: [] };
  const key = (issueId: string) => ({ project, issueId, identifier: `T-${issueId}` });
  return {
    claims,
    hold: (id, { reason = 'a question', since = 0 } = {}) =>
      claims.show({ ...nothing, held: [{ ...key(id), code: 'person', reason, since, runId: null }] }),
    retry: (id, retry = {}) =>
      claims.show({
        ...nothing,
        retries: [
          {
            ...key(id),
            url: null,
            kind: 'failure',
            attempt: 1,
            failures: 1,
            staleRuns: 0,
            recovery: null,
            error: null,
            dueAt: clock.now() + 60_000,
            ...retry,
          },
        ],
      }),
    elsewhere: (...others) =>
      claims.noteOthers(
        others.map((each) => ({ ...each, slot: null })),
        [],
      ),
    inherit: (id) => void claims.inherit(id, () => new Promise(() => {})),
    run: async (id, workflow, runId = `run-${id}`) => {
      const running = startingRun(issue({ id }), workflow, clock, runId);
      await claims.begin(running, {
        record: {
          runId: running.runId,
          issueId: id,
          identifier: running.issue.identifier,
          role: 'worker',
          attempt: null,
          retryKind: null,
          backend: 'rehearsal',
          startedAt: clock.now(),
        },
        whyNoAccount: async () => null,
        takeAccount: async () => null,
        slot: { state: running.issue.state, role: 'worker' },
        settings: workflow.settings,
      });
      return running;
    },
  };
}

/** A run that is to begin. */
function startingRun(of: Issue, workflow: Workflow, clock: Clock, runId: string): Running {
  return {
    ...newRunState(
      {
        runId,
        role: 'worker',
        judged: null,
        phase: null,
        judgedClaim: null,
        plannedAs: null,
        attempt: null,
        retryKind: null,
        recovery: null,
        workflow,
        agent: 'default',
        agentReason: 'default',
        chosenAgent: null,
      },
      clock,
    ),
    status: 'running',
    generation: null,
    issue: of,
    movesTo: null,
    before: null,
    holdAfterwards: null,
  };
}
