import { stateFor } from '../../core/issue/state-role.ts';
import type { Settings } from '../../core/settings.ts';
import { errorAt, type Report } from '../workflow-problems.ts';

/** `agent.after_success: review` needs a repository whose branches Baton makes, and a state to move the issue to. */
export function checkReview(
  { agent, workspace, tracker, review }: Pick<Settings, 'agent' | 'workspace' | 'tracker' | 'review'>,
  report: Report,
): void {
  if (review.host === 'github') {
    const message = 'review.host is github, which this version does not have; allowed: local';
    report(errorAt('review.host', message, { code: 'unsupported_setting', allowed: ['local'] }));
  }
  if (agent.afterSuccess !== 'review') return;
  const needs = 'agent.after_success is review, which needs';
  if (workspace.repo === null || workspace.strategy === 'none') {
    const message = `${needs} workspace.repo: a change is reviewed on a branch of a repository`;
    report(errorAt('agent.after_success', message, { problem: 'missing', needs: 'workspace.repo' }));
  } else if (!workspace.repo.isLocal) {
    const message = `${needs} a repository on this machine in workspace.repo while review.host is local`;
    report(errorAt('agent.after_success', message, { code: 'unsupported_setting', needs: 'workspace.repo' }));
  }
  const state = stateFor('review', tracker);
  if (state.state === null)
    report(
      errorAt('agent.after_success', `${needs} a state for review: ${state.why}`, {
        problem: 'missing',
        needs: 'tracker.states.review',
      }),
    );
}
