import { toBatonError } from '../../core/baton-error.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { noEvidence } from '../../core/run/run-evidence.ts';
import type { Settings } from '../../core/settings.ts';
import type { PullRequests } from '../../pulls/pull-requests.ts';
import type { Held, Retrying } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import { type PublishLastParts, publishLast } from '../runs/publish-last.ts';

export interface HandDeliveriesParts extends PublishLastParts, Pick<BaseParts, 'own' | 'project'> {
  readonly claims: Claims;
  readonly pullsFor: (settings: Settings) => PullRequests | null;
}

/**
 * A person moved an issue to review on which no agent works now: they took it over, it is held, or it waits for a retry. Its
 * commits, also those that the person made in its workspace, are published, and its claim becomes a delivery, as after a
 * run. The claim changes last: after a crash, or an error, the next poll finds the same and begins again.
 */
export class HandDeliveries {
  readonly #parts: HandDeliveriesParts;
  readonly #begun = new Set<string>();

  constructor(parts: HandDeliveriesParts) {
    this.#parts = parts;
  }

  /** Begins it for a held issue. `orElse` is called when there is nothing to bring into review. */
  begin(held: Held, issue: Issue, orElse: () => Promise<void>): void {
    if (this.#begun.has(issue.id)) return;
    this.#begun.add(issue.id);
    const delivery = this.try(held, issue).then((how) => (how === 'nothing' ? orElse() : undefined));
    this.#parts.own(
      'delivery',
      delivery.finally(() => this.#begun.delete(issue.id)),
    );
  }

  /** `nothing`: the issue is not in review, or has no change to propose. `failed`: to be tried again. Never rejects. */
  async try(claim: Held | Retrying, issue: Issue): Promise<'delivers' | 'nothing' | 'failed'> {
    const { claims, logger, pullsFor, source } = this.#parts;
    const { settings } = source.read().workflow;
    const isReviewed = settings.agent.afterSuccess === 'review' && pullsFor(settings) !== null;
    if (!isReviewed || !isInOneOf(settings.tracker.reviewStates)(issue)) return 'nothing';
    const { id, identifier } = claim.issue;
    try {
      if (!(await this.#publish(id))) return 'nothing';
      const as = { kind: 'review', recovery: null, attempt: 1, agent: null } as const;
      // A person may have decided otherwise meanwhile.
      if (claims.get(id) === claim) await claims.retryHeld(id, as, { byPerson: false });
      return 'delivers';
    } catch (thrown) {
      const error = toBatonError(thrown);
      logger.warn('change_not_delivered', { issue_id: id, issue_identifier: identifier, error });
      return 'failed';
    }
  }

  /** Whether the branch of the issue has a change to propose. */
  async #publish(issueId: string): Promise<boolean> {
    const { host, project, source, store, workspacesFor } = this.#parts;
    const last = await store.runs.latestOfIssue({ project, issueId });
    if (last === null) return false;
    const isHere = last.workspace !== null && last.host === host;
    // The person may have committed since the run was examined.
    const facts = isHere ? await workspacesFor(source.read().workflow.settings).examine(last.workspace) : null;
    const evidence = { ...(last.evidence ?? noEvidence), ...(facts === null ? {} : { git: facts.git }) };
    const publication = (await publishLast(this.#parts, { ...last, evidence })) ?? evidence.publication;
    if (publication === undefined || publication.outcome === 'refused') return false;
    return publication.outcome === 'published' || (evidence.git?.ahead ?? 0) > 0;
  }
}
