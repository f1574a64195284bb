import { marksIn, type ReviewWorld } from '../../review/review-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

interface MessageRow {
  readonly issue_id: string;
  readonly body: string;
  readonly settled_at: number | null;
}

const lookEveryMs = 5_000;

/**
 * Words about an issue are in the first prompt of every run that starts after them, until a run that had them ended well,
 * and then in none. The words of an accepted command are never lost.
 */
export function wordsArrive(world: World, review: ReviewWorld): Rule {
  const { memory } = world;
  /** The runs whose agent received a word, and the words that a run must deliver. */
  const heardBy = new Map<string, Set<string>>();
  const owed = new Map<string, ReadonlySet<string>>();
  const settled = new Set<string>();
  let nextLookAt = 0;
  const waiting = (issueId: string): ReadonlySet<string> =>
    new Set(
      memory
        .look<MessageRow>(messagesOfIssue, issueId)
        .flatMap(({ body }) => [...marksIn(body)])
        .filter((word) => !settled.has(word)),
    );
  review.onHeard = ({ runId, issueId, isFirst, words }) => {
    for (const word of words) {
      world.tally('words heard');
      const runs = heardBy.get(word) ?? new Set();
      heardBy.set(word, runs.add(runId));
      if (review.strangersWords.has(word)) world.broke('words_arrive', issueId, `run ${runId} hears a stranger`);
      if (settled.has(word)) world.broke('words_arrive', issueId, `run ${runId} hears ${word} again`);
    }
    if (!isFirst) return;
    for (const word of owed.get(runId) ?? [])
      if (!words.has(word)) world.broke('words_arrive', issueId, `run ${runId} begins without ${word}`);
  };
  return {
    // Words on an issue are for its worker.
    runStarted: ({ runId, issueId, role }) => void owed.set(runId, role === 'judge' ? new Set() : waiting(issueId)),
    runEnded: ({ runId, issueId, outcome }) => {
      const unsettled = new Set(
        memory.look<MessageRow>(unsettledMessages, issueId).flatMap(({ body }) => [...marksIn(body)]),
      );
      for (const [word, runs] of heardBy) {
        if (!runs.has(runId)) continue;
        // A run that moved its issue itself and was stopped for it may have ended well.
        const endedWell = outcome === 'succeeded' || (outcome === 'canceled_by_reconciliation' && !unsettled.has(word));
        if (endedWell) settled.add(word);
      }
    },
    afterStep: () => {
      if (world.now < nextLookAt) return;
      nextLookAt = world.now + lookEveryMs;
      const kept = new Set(
        memory.look<MessageRow>('select body from messages').flatMap(({ body }) => [...marksIn(body)]),
      );
      for (const { payload_json } of memory.look<{ payload_json: string }>(acceptedWords))
        for (const word of marksIn(payload_json))
          if (!kept.has(word)) world.broke('words_arrive', null, `${word} was accepted and is lost`);
    },
  };
}

const messagesOfIssue = 'select issue_id, body, settled_at from messages where issue_id = ?';
const unsettledMessages = `${messagesOfIssue} and settled_at is null`;
const acceptedWords = "select payload_json from commands where kind = 'pr_send_back' and result_status = 'done'";
