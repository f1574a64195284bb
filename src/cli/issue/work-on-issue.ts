import { askCommand } from '../../core/command/retry-command.ts';
import { outcomeWords } from '../../core/run/outcome-words.ts';
import { publicationText } from '../../core/run/run-evidence.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Store } from '../../store/store.ts';
import type { StoredQuestion } from '../../store/tables/questions.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { timeWords } from './history-words.ts';

/** What agents did on an issue. */
export interface WorkOnIssue {
  readonly lastRun: RunRecord | null;
  /** The oldest first. */
  readonly openQuestions: readonly StoredQuestion[];
}

export async function readWork(store: Store, project: string, issueId: string): Promise<WorkOnIssue> {
  const open = await store.questions.open(project);
  return {
    lastRun: await store.runs.latestOfIssue({ project, issueId }),
    openQuestions: open.filter((question) => question.issueId === issueId),
  };
}

/** The work as facts of an issue: its open questions, its last run, and the branch with the work. */
export function workFacts({ lastRun, openQuestions }: WorkOnIssue): [name: string, value: string][] {
  const asks = openQuestions.map(({ id, identifier, question }): [string, string] => [
    'asks you',
    `${harmlessLine(question.text)} · ${askCommand(openQuestions.length === 1 ? identifier : id)}`,
  ]);
  if (lastRun === null) return asks;
  const { finish, runId, startedAt } = lastRun;
  const how = finish === null ? 'in progress' : harmlessLine(outcomeWords(finish));
  const branch = branchWords(lastRun);
  return [
    ...asks,
    ['last run', `${runId.slice(0, 8)}, ${timeWords(startedAt)}: ${how}`],
    ...(branch === null ? [] : ([['work', harmlessLine(branch)]] satisfies [string, string][])),
  ];
}

function branchWords({ evidence, removal }: RunRecord): string | null {
  if (evidence?.publication !== undefined)
    return publicationText(evidence.publication, removal !== null && removal.keptBecause === null);
  const branch = evidence?.git?.branch ?? null;
  return branch === null ? null : `on ${branch} in its workspace`;
}

/** The same for programs. */
export function workAsJson({ lastRun, openQuestions }: WorkOnIssue): Record<string, unknown> {
  return {
    open_questions: openQuestions.map(({ id, question: { kind, text }, askedAt }) => ({
      id,
      kind,
      text,
      asked_at: new Date(askedAt).toISOString(),
    })),
    last_run:
      lastRun === null
        ? null
        : {
            run_id: lastRun.runId,
            outcome: lastRun.finish?.outcome ?? null,
            error_message: lastRun.finish?.errorMessage ?? null,
            started_at: new Date(lastRun.startedAt).toISOString(),
            branch: lastRun.evidence?.publication?.branch ?? lastRun.evidence?.git?.branch ?? null,
          },
  };
}
