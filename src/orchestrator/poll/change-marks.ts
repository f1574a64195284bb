import type { Issue } from '../../core/issue/issue.ts';
import type { Publication } from '../../core/run/run-evidence.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';

export interface ChangeMarksParts extends Pick<BaseParts, 'logger' | 'project' | 'store'> {
  readonly claims: Claims;
}

/** Files of a change that control agents or CI; null: unreadable. */
type Mark = NonNullable<Publication['governing']> | null;

/**
 * Which issues have a published change that touches files that control agents or CI. A run reports it when it ends; after
 * a restart the store has it. Only for people: no decision depends on it.
 */
export class ChangeMarks {
  readonly #parts: ChangeMarksParts;
  readonly #marks = new Map<string, Mark>();

  constructor(parts: ChangeMarksParts) {
    this.#parts = parts;
  }

  /** By issue; those without such files are left out. */
  all(): ReadonlyMap<string, Mark> {
    return new Map([...this.#marks].filter(([, files]) => files?.length !== 0));
  }

  note(issueId: string, { outcome, governing = [] }: Publication): void {
    // A branch that was not published is where it was.
    if (outcome !== 'refused') this.#marks.set(issueId, governing);
  }

  /** Before these issues in review are shown: asks the store for those that are not known, once for each. */
  async takeIn(inReview: readonly Issue[]): Promise<void> {
    const { store, project, claims, logger } = this.#parts;
    const wanted = new Set(inReview.map(({ id }) => id));
    for (const id of this.#marks.keys()) if (!wanted.has(id) && !claims.has(id)) this.#marks.delete(id);
    const unknown = [...wanted].filter((id) => !this.#marks.has(id) && !claims.has(id));
    if (unknown.length === 0) return;
    try {
      const published = await store.runs.latestPublications(project, unknown);
      for (const id of unknown) {
        const publication = published.get(id);
        this.#marks.set(id, publication?.governing === undefined ? [] : publication.governing);
      }
    } catch (error) {
      logger.warn('review_runs_unreadable', { error });
    }
  }
}
