import { stateFor } from '../../core/issue/state-role.ts';
import { isSecureEnough } from '../../core/requests/endpoint.ts';
import type { ReviewSettings, Settings } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';
import type { PlainSettings } from '../table/setting-table.ts';
import type { Surroundings } from '../workflow-context.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';
import { dereference, literalSecret, lookUp, notSet } from './references.ts';

/** Where people keep a token for the host, as the tools of GitHub read it. */
const fallbacks = ['GITHUB_TOKEN', 'GH_TOKEN'];

interface ResolvedReview {
  readonly settings: ReviewSettings;
  readonly tokenOrigin: string;
  /** Variables that hold the token. */
  readonly secretVariables: readonly string[];
}

/** Resolves the token of the `review` section; it counts only where the host is not on this machine. */
export function resolveReview(
  plain: PlainSettings['review'],
  surroundings: Surroundings,
  report: Report,
): ResolvedReview {
  const none = { settings: { ...plain, token: null }, tokenOrigin: 'default', secretVariables: [] };
  if (plain.host === 'local') return none;
  const { text, variable, origin } = dereference(plain.token ?? '', surroundings);
  const secretVariables = [...fallbacks, ...(variable === null ? [] : [variable])];
  if (variable !== null && text === '') report(notSet('review.token', variable));
  if (variable === null && text !== '') report(literalSecret('review.token'));
  if (text !== '') return { settings: { ...plain, token: new Secret(text) }, tokenOrigin: origin, secretVariables };
  for (const name of fallbacks) {
    const found = lookUp(surroundings.env, name)?.trim() ?? '';
    if (found !== '')
      return {
        settings: { ...plain, token: new Secret(found) },
        tokenOrigin: `environment $${name}`,
        secretVariables,
      };
  }
  return { ...none, secretVariables };
}

/** `agent.after_success: review` needs a repository whose branches Baton makes, and a state to move the issue to. */
export function checkReview(
  { agent, workspace, tracker, review, judge }: Pick<Settings, 'agent' | 'workspace' | 'tracker' | 'review' | 'judge'>,
  report: Report,
): void {
  if (review.host !== 'local') checkHost(review, report);
  if (judge.agents.length > 0 && agent.afterSuccess !== 'review') {
    const message = 'judge.agents needs agent.after_success: review: only a change in review is judged';
    report(errorAt('judge.agents', message, { problem: 'missing', needs: 'agent.after_success' }));
  }
  if (review.autoMerge.length > 0) checkAutoMerge(agent.afterSuccess, review, report);
  if (agent.afterSuccess !== 'review') {
    const message = 'review.host has no effect: without agent.after_success: review, Baton opens no pull request';
    if (review.host !== 'local') report(warningAt('review.host', message, { problem: 'no_effect' }));
    return;
  }
  const needs = 'agent.after_success is review, which needs';
  if (workspace.repo === null || workspace.strategy === 'none') {
    const message = `${needs} workspace.repo: a change is reviewed on a branch of a repository`;
    report(errorAt('agent.after_success', message, { problem: 'missing', needs: 'workspace.repo' }));
  } else if (!workspace.repo.isLocal && review.host === 'local') {
    const message = `${needs} a repository on this machine in workspace.repo, or review.host: github`;
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

/** A local change without checks is never merged by Baton; those of another host are its own. */
function checkAutoMerge(
  afterSuccess: Settings['agent']['afterSuccess'],
  { host, checks }: ReviewSettings,
  report: Report,
): void {
  const needs = afterSuccess === 'review' ? 'review.checks' : 'agent.after_success';
  if (needs === 'review.checks' && (host !== 'local' || checks.length > 0)) return;
  const message = `review.auto_merge needs ${needs === 'review.checks' ? 'review.checks: Baton merges only what its checks passed' : 'agent.after_success: review'}`;
  report(errorAt('review.auto_merge', message, { problem: 'missing', needs }));
}

function checkHost({ repository, apiUrl }: ReviewSettings, report: Report): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]+$/.test(repository?.trim() ?? ''))
    report(
      errorAt('review.repository', 'review.repository must name the repository at the host, as owner/name', {
        problem: repository === null ? 'missing' : 'wrong_value',
      }),
    );
  if (!isSecureEnough(apiUrl.trim(), false))
    report(
      errorAt('review.api_url', 'review.api_url must be an https address: it gets the token', {
        code: 'insecure_endpoint',
      }),
    );
}
