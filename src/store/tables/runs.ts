import { type Kysely, sql } from 'kysely';
import type { PromptName } from '../../core/prompt/choose-prompt.ts';
import { type AgentReason, defaultAgent } from '../../core/run/choose-agent.ts';
import type { RecoveryStep } from '../../core/run/context-recovery.ts';
import type { Role } from '../../core/run/role.ts';
import type { RunEnd } from '../../core/run/run.ts';
import type { Publication, RunEvidence } from '../../core/run/run-evidence.ts';
import type { RetryKind } from '../../core/workflow.ts';
import type { IssueKey } from '../issue-key.ts';
import { fromJsonText, toJsonText } from '../json.ts';
import type { Database } from '../schema.ts';
import { runRetention } from './run-retention.ts';
import { factColumns, runFrom } from './run-rows.ts';
import { changedOne, inParts, ofIssue } from './statements.ts';

export interface RunStart extends IssueKey {
  readonly runId: string;
  readonly identifier: string;
  readonly generation: number;
  readonly role: string;
  /** Of the pipeline; absent or null: none. */
  readonly phase?: string | null;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  /** How it recovers because the run before it died of its context; absent or null for an ordinary one. */
  readonly recovery?: RecoveryStep | null;
  readonly backend: string;
  /** The name of its agent in the workflow file, and why it was chosen; absent: the default one. */
  readonly agent?: string;
  readonly agentReason?: AgentReason;
  /** The agent that a person chose for the issue, also while a stand-in works; absent or null: none. */
  readonly chosenAgent?: string | null;
  /** The prompt that it begins with; absent or null: not known. */
  readonly prompt?: PromptName | null;
  /** The account whose quota it uses. */
  readonly account: string | null;
  readonly host: string;
  readonly startedAt: number;
}

/** Facts that become known while a run goes on. Token figures are totals of the run and never fall. */
export interface RunFacts {
  readonly pid?: number;
  readonly pidStartTime?: number | null;
  readonly workspace?: string;
  readonly evidence?: RunEvidence;
  readonly threadId?: string | null;
  /** The messages that its agent received; `messages` has them, not the row of the run. */
  readonly given?: readonly string[];
  readonly turns?: number;
  /** The last message of the agent, cut to 4 KB by the store; for a summary. */
  readonly lastMessage?: string;
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  readonly totalTokens?: number;
  /** In millionths of a US dollar, so that sums are exact. */
  readonly costMicroUsd?: number;
}

export interface RunFinish {
  readonly endedAt: number;
  readonly outcome: RunEnd;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** The result of removing a workspace. */
export interface WorkspaceRemoval {
  readonly at: number;
  /** Why it is still there; null when it is gone. */
  readonly keptBecause: string | null;
  /** What was saved before. */
  readonly saved: readonly SavedBefore[];
}

export interface SavedBefore {
  readonly name: string;
  readonly files: number;
  readonly commits: number;
  /** The command that brings it back. */
  readonly restore: string;
}

export interface RunRecord extends RunStart {
  readonly agent: string;
  readonly agentReason: AgentReason;
  /** Grows with each run that starts in the project. */
  readonly seq: number;
  readonly pid: number | null;
  readonly pidStartTime: number | null;
  readonly workspace: string | null;
  readonly threadId: string | null;
  readonly turns: number;
  readonly lastMessage: string | null;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly costMicroUsd: number;
  /** Null while it is in progress. */
  readonly finish: RunFinish | null;
  readonly evidence: RunEvidence | null;
  readonly removal: WorkspaceRemoval | null;
}

/** The place of a run in the order of starts: a few may have the same number. */
export type RunPlace = Pick<RunRecord, 'seq' | 'runId'>;

export interface RunQuery {
  readonly issueId?: string;
  readonly role?: Role;
  /** Null: only runs without a phase; absent: of any. */
  readonly phase?: string | null;
  readonly limit: number;
  readonly before?: RunPlace;
}

export type Runs = ReturnType<typeof runsTable>;

/**
 * The runs: their start, the facts that become known, and their end. A run without an end is, or was, in progress. First
 * and last go by the order of the starts in the store, never by a clock: that can be set back.
 */
export function runsTable(db: Kysely<Database>) {
  const runs = () => db.selectFrom('runs').selectAll();
  const change = (runId: string) => db.updateTable('runs').where('run_id', '=', runId);
  /** In progress and started with this generation: a writer with an old one changes nothing. */
  const inProgress = (runId: string, generation: number) =>
    change(runId).where('generation', '=', generation).where('ended_at', 'is', null);
  const newest = async (project: string, by: 'issue_id' | 'name_key', value: string): Promise<RunRecord | null> => {
    const row = await runs()
      .where('project', '=', project)
      .where(by, '=', value)
      .orderBy('seq', 'desc')
      .orderBy('run_id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? null : runFrom(row);
  };
  /** Of each of these values the run that started last. */
  const newestOfEach = async (project: string, by: 'issue_id' | 'workspace', values: readonly string[]) => {
    const found: RunRecord[] = [];
    for (const some of inParts(values)) {
      const rows = await runs()
        .where('project', '=', project)
        .where(by, 'in', some)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('runs as later')
                .select('later.run_id')
                .whereRef('later.project', '=', 'runs.project')
                .whereRef(`later.${by}`, '=', `runs.${by}`)
                .where(sql<boolean>`(later.seq, later.run_id) > (runs.seq, runs.run_id)`),
            ),
          ),
        )
        .orderBy(by)
        .execute();
      found.push(...rows.map(runFrom));
    }
    return found;
  };
  return {
    ...runRetention(db),

    start: async (run: RunStart): Promise<void> => {
      // After every run of the project that is there. A few that start in the same moment, with a lock on nothing, may
      // get the same number; the runs of one issue never do, for each starts after the end of the one before.
      const seq = sql<number>`(select coalesce(max(seq), 0) + 1 from runs where project = ${run.project})`;
      await db
        .insertInto('runs')
        .values({
          seq,
          run_id: run.runId,
          project: run.project,
          issue_id: run.issueId,
          identifier: run.identifier,
          name_key: run.identifier.toLowerCase(),
          generation: run.generation,
          role: run.role,
          phase: run.phase ?? null,
          attempt: run.attempt,
          retry_kind: run.retryKind,
          recovery: run.recovery ?? null,
          backend: run.backend,
          agent: run.agent ?? defaultAgent,
          agent_reason: run.agentReason ?? 'default',
          chosen_agent: run.chosenAgent ?? null,
          prompt_version: run.prompt?.version ?? null,
          prompt_source: run.prompt?.source ?? null,
          account: run.account,
          host: run.host,
          started_at: run.startedAt,
          turns: 0,
          input_tokens: 0,
          cached_input_tokens: 0,
          output_tokens: 0,
          reasoning_tokens: 0,
          total_tokens: 0,
          cost_micro_usd: 0,
        })
        .execute();
    },

    /** Adds facts to a run in progress; false when it has ended, is unknown, or was started with another generation. */
    record: (runId: string, generation: number, facts: RunFacts): Promise<boolean> =>
      changedOne(inProgress(runId, generation).set((eb) => ({ generation, ...factColumns(eb, facts) }))),

    /** Ends a run once; false when it has ended already, is unknown, or was started with another generation. */
    finish: (runId: string, generation: number, end: RunFinish): Promise<boolean> =>
      changedOne(
        inProgress(runId, generation).set({
          ended_at: end.endedAt,
          outcome: end.outcome,
          error_code: end.errorCode,
          error_message: end.errorMessage,
        }),
      ),

    read: async (runId: string): Promise<RunRecord | null> => {
      const row = await runs().where('run_id', '=', runId).executeTakeFirst();
      return row === undefined ? null : runFrom(row);
    },

    /** Newest first; with `before` those that come after that one in this order. */
    list: async (project: string, { issueId, role, phase, limit, before }: RunQuery): Promise<readonly RunRecord[]> => {
      let wanted = runs().where('project', '=', project).orderBy('seq', 'desc').orderBy('run_id', 'desc').limit(limit);
      if (issueId !== undefined) wanted = wanted.where('issue_id', '=', issueId);
      if (role !== undefined) wanted = wanted.where('role', '=', role);
      if (phase !== undefined) wanted = wanted.where('phase', phase === null ? 'is' : '=', phase);
      if (before !== undefined) {
        wanted = wanted.where((eb) => eb(eb.refTuple('seq', 'run_id'), '<', eb.tuple(before.seq, before.runId)));
      }
      return (await wanted.execute()).map(runFrom);
    },

    /** The one that started last; null when there was none. */
    latestOfIssue: ({ project, issueId }: IssueKey): Promise<RunRecord | null> => newest(project, 'issue_id', issueId),

    /** The newest run of the issue with this id or, whatever its case, this identifier; null when there is none. */
    latestNamed: async (project: string, name: string): Promise<RunRecord | null> => {
      const wanted = name.trim();
      return (await newest(project, 'issue_id', wanted)) ?? (await newest(project, 'name_key', wanted.toLowerCase()));
    },

    /** When a run of each of these issues last started, by the clock of then; nothing for those without a known run. */
    latestStarts: async (project: string, issueIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const found = new Map<string, number>();
      for (const some of inParts(issueIds)) {
        const rows = await db
          .selectFrom('runs')
          .select((eb) => ['issue_id', eb.fn.max('started_at').as('startedAt')])
          .where('project', '=', project)
          .where('issue_id', 'in', some)
          .groupBy('issue_id')
          .execute();
        for (const row of rows) found.set(row.issue_id, row.startedAt);
      }
      return found;
    },

    /** What was last published of each of these issues; nothing for those without. */
    latestPublications: async (
      project: string,
      issueIds: readonly string[],
    ): Promise<ReadonlyMap<string, Publication>> => {
      const found = new Map<string, Publication>();
      for (const some of inParts(issueIds)) {
        const rows = await db
          .selectFrom('runs')
          .select(['issue_id', 'evidence_json'])
          .where('project', '=', project)
          .where('issue_id', 'in', some)
          .where('evidence_json', 'like', '%"publication"%')
          .orderBy('issue_id')
          .orderBy('seq')
          .execute();
        for (const row of rows) {
          const { publication } = fromJsonText(row.evidence_json) as RunEvidence;
          if (publication !== undefined && publication.outcome !== 'refused') found.set(row.issue_id, publication);
        }
      }
      return found;
    },

    /** The run of each of these issues that started last; nothing for those without a known run. */
    latestOfIssues: (project: string, issueIds: readonly string[]): Promise<readonly RunRecord[]> =>
      newestOfEach(project, 'issue_id', issueIds),

    /** The run in each of these workspaces that started last; nothing for those without a known run. */
    latestInWorkspaces: (project: string, workspaces: readonly string[]): Promise<readonly RunRecord[]> =>
      newestOfEach(project, 'workspace', workspaces),

    /** Replaces the evidence of a run, also after its end; false when the run is unknown. */
    noteEvidence: (runId: string, evidence: RunEvidence): Promise<boolean> =>
      changedOne(change(runId).set({ evidence_json: toJsonText(evidence) })),

    /** Records the removal of the workspace of a run, also after its end; false when the run is unknown. */
    noteRemoval: (runId: string, removal: WorkspaceRemoval): Promise<boolean> =>
      changedOne(change(runId).set({ removal_json: toJsonText(removal) })),

    /** The oldest first. */
    unfinished: async (project: string): Promise<readonly RunRecord[]> => {
      const rows = await runs()
        .where('project', '=', project)
        .where('ended_at', 'is', null)
        .orderBy('seq')
        .orderBy('run_id')
        .execute();
      return rows.map(runFrom);
    },

    /** The runs of these roles that ended at that time or later, and those in progress. */
    ofRoles: async (project: string, wanted: readonly Role[], since: number): Promise<readonly RunRecord[]> => {
      const rows = await runs()
        .where('project', '=', project)
        .where('role', 'in', wanted)
        .where((eb) => eb.or([eb('ended_at', '>=', since), eb('ended_at', 'is', null)]))
        .execute();
      return rows.map(runFrom);
    },

    countByIssue: async (key: IssueKey): Promise<number> => {
      const row = await db
        .selectFrom('runs')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where(ofIssue(key))
        .executeTakeFirstOrThrow();
      return row.count;
    },
  };
}
