import type { Kysely } from 'kysely';
import { type Finding, severities, type Verdict } from '../../../core/pull/judge.ts';
import { recordsIn, textIn, valueFromText } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { changedOne } from '../statements.ts';
import type { PullKey } from './pull-requests.ts';

type VerdictKey = Pick<Verdict, 'commit' | 'place'>;

/** The verdicts of judges. Each belongs to one commit, is written once and never changes, except where its host has it. */
export function verdictsTable(db: Kysely<Database>) {
  const one = ({ project, number }: PullKey, { commit, place }: VerdictKey) =>
    db
      .updateTable('verdicts')
      .where('project', '=', project)
      .where('number', '=', number)
      .where('commit_id', '=', commit)
      .where('place', '=', place);
  return {
    /** The first one of a place counts. */
    add: async ({ project, number }: PullKey, verdict: Omit<Verdict, 'hostId'>): Promise<void> => {
      const { commit, place, runId, agent, promptVersion, at, summary, findings } = verdict;
      await db
        .insertInto('verdicts')
        .values({
          project,
          number,
          commit_id: commit,
          place,
          run_id: runId,
          agent,
          prompt_version: promptVersion,
          at,
          verdict: verdict.verdict,
          summary,
          findings_json: JSON.stringify(findings),
        })
        .onConflict((conflict) => conflict.columns(['project', 'number', 'commit_id', 'place']).doNothing())
        .execute();
    },

    /** Of all commits of a pull request, in the order in which they were given. */
    list: async ({ project, number }: PullKey): Promise<readonly Verdict[]> => {
      const rows = await db
        .selectFrom('verdicts')
        .selectAll()
        .where('project', '=', project)
        .where('number', '=', number)
        .orderBy('at')
        .orderBy('commit_id')
        .orderBy('place')
        .execute();
      return rows.map((row) => ({
        commit: row.commit_id,
        place: row.place,
        runId: row.run_id,
        agent: row.agent,
        promptVersion: row.prompt_version,
        verdict: row.verdict,
        summary: row.summary,
        findings: findingsFrom(row.findings_json),
        at: row.at,
        hostId: row.host_id,
      }));
    },

    /**
     * The caller brings it to its host now. False: it is there, or another daemon has tried within this time. A verdict whose
     * bringing was cut short may be there: the host is asked before it is brought again.
     */
    beginToSay: (
      key: PullKey,
      verdict: VerdictKey,
      { at, leaseMs }: { at: number; leaseMs: number },
    ): Promise<boolean> =>
      changedOne(
        one(key, verdict)
          .where('host_id', 'is', null)
          .where(({ or, eb }) => or([eb('host_tried_at', 'is', null), eb('host_tried_at', '<=', at - leaseMs)]))
          .set({ host_tried_at: at }),
      ),

    said: (key: PullKey, verdict: VerdictKey, hostId: string): Promise<boolean> =>
      changedOne(one(key, verdict).set({ host_id: hostId })),
  };
}

function findingsFrom(text: string): readonly Finding[] {
  return recordsIn(valueFromText(text)).map(({ file, line, severity, problem, wanted }) => ({
    file: textIn(file),
    line: typeof line === 'number' ? line : null,
    severity: severities.find((each) => each === severity) ?? 'must',
    problem: textIn(problem) ?? '',
    wanted: textIn(wanted) ?? '',
  }));
}
