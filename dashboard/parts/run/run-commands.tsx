import type { VNode } from 'preact';
import type { RunDetail } from '../../../src/client/schema/run.ts';
import { projects } from '../../data/connection/live.ts';
import { offeredNow, runningActions } from '../../data/issue/issue-rows.ts';
import { issueSpot, useIssueActions } from '../issue/issue-actions.tsx';

/** The actions of a person on a run in progress; the same as in its row on Now. */
export function RunCommands({ project, run }: { readonly project: string; readonly run: RunDetail }): VNode {
  const isGone = run.outcome !== null;
  const row = projects.value?.get(project)?.running.get(run.run_id);
  const { buttons, below } = useIssueActions({
    spot: issueSpot(project, run.issue_id, `${run.run_id} ${run.outcome}`),
    place: `run/${project}/${run.run_id}`,
    issue: run,
    actions: isGone ? offeredNow(project, run.issue_id) : runningActions(row ?? {}),
    run: run.run_id,
    isGone,
  });
  return (
    <div class="run-commands" data-home>
      {buttons}
      {below}
    </div>
  );
}
