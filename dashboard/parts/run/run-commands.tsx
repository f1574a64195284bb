import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { RunDetail } from '../../../src/client/schema/run.ts';
import { projects } from '../../data/connection/live.ts';
import { offeredNow, runningActions } from '../../data/issue/issue-rows.ts';
import { issueSpot, useIssueActions } from '../issue/issue-actions.tsx';
import { useIssueKeys } from '../issue/issue-keys.ts';

interface RunCommandsProps {
  readonly project: string;
  readonly run: RunDetail;
  /** Null while it is not read, or when it is gone. */
  readonly issue: IssueDetail | null;
}

/** What a person does after the last run of an issue. */
const afterwards: ReadonlySet<string> = new Set(['issue_retry', 'issue_release', 'issue_handback']);

/** The actions of a person on a run in progress, and after the last run of an issue those that continue it. */
export function RunCommands({ project, run, issue }: RunCommandsProps): VNode {
  const isOver = run.outcome !== null;
  const isLast = issue?.runs[0]?.run_id === run.run_id;
  const row = projects.value?.get(project)?.running.get(run.run_id);
  const next = isLast ? issue.actions.filter((name) => afterwards.has(name)) : offeredNow(project, run.issue_id);
  useIssueKeys();
  const { buttons, below } = useIssueActions({
    spot: issueSpot(project, run.issue_id, `${run.run_id} ${run.outcome}`),
    place: `run/${project}/${run.run_id}`,
    issue: run,
    actions: isOver ? next : runningActions(row ?? {}),
    hasMain: !(row?.waits_for_person ?? false),
    run: run.run_id,
    isGone: isOver && !isLast,
  });
  return (
    <div class="run-commands" data-home>
      {buttons}
      {below}
    </div>
  );
}
