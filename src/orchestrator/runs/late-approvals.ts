import type { AgentQuestion, QuestionAnswer } from '../../core/command/question.ts';
import { allowsAgain } from '../../core/run/late-approval.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { GivenAnswer, StoredQuestion } from '../../store/tables/words/questions.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Journal } from './journal.ts';

export interface LateApprovalsParts extends Pick<BaseParts, 'clock' | 'logger' | 'store'> {
  readonly claims: Claims;
  readonly journal: Journal;
}

type Given = StoredQuestion & { readonly given: GivenAnswer };

/**
 * Approvals that people gave after the run that asked had ended. The next run of the issue learns of them, and its
 * agent asks again: the first equal request gets the earlier answer, so that a person need not answer twice. What must
 * hold: each answer is used once, by one run, and that is stored before the agent gets it; if it could not be stored,
 * the agent's request goes to a person like any other.
 */
export class LateApprovals {
  readonly #parts: LateApprovalsParts;
  readonly #kept = new Map<string, Given[]>();

  constructor(parts: LateApprovalsParts) {
    this.#parts = parts;
  }

  keep(runId: string, answers: readonly StoredQuestion[]): void {
    const given = answers.flatMap((each) => (each.given === null ? [] : [{ ...each, given: each.given }]));
    if (given.length > 0) this.#kept.set(runId, given);
  }

  forget(runId: string): void {
    this.#kept.delete(runId);
  }

  /** The answer that a person gave earlier to this request; null when a person has to be asked. */
  async use(
    { issue, runId }: { readonly issue: IssueName; readonly runId: string },
    asked: AgentQuestion,
  ): Promise<QuestionAnswer | null> {
    const { claims, store, clock, journal, logger } = this.#parts;
    const kept = this.#kept.get(runId) ?? [];
    const found = kept.find(({ question, given }) => allowsAgain({ question, answer: given.answer }, asked));
    const running = claims.running.get(issue.id);
    if (found === undefined || running?.runId !== runId || running.stopRequested !== null) return null;
    // Removed before the first await: a second request with the same words is a new one.
    this.#kept.set(
      runId,
      kept.filter((each) => each !== found),
    );
    const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, question_id: found.id };
    try {
      await store.questions.deliver([found.id], runId);
    } catch (error) {
      logger.warn('late_approval_write_failed', {
        ...named,
        error,
      });
      return null;
    }
    const by = found.given.author.kind === 'person' ? harmlessLine(found.given.author.name) : 'a person';
    const summary = `${harmlessLine(asked.text)} (${by} allowed it earlier, once)`;
    const pid = running.process?.pid ?? null;
    journal.note(runId, {}, { name: 'approval_auto_approved', at: clock.now(), pid, summary });
    logger.info('late_approval_used', { ...named, author: by });
    // The approval may have been for a whole session; that session has ended, so it counts once.
    return { decision: 'accept', values: {} };
  }
}
