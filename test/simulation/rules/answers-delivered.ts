import { wordsOf } from '../question-book.ts';
import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';

interface QuestionRow {
  readonly id: string;
  readonly issue_id: string;
  readonly run_id: string;
  readonly question_json: string;
  readonly answer_json: string;
  readonly delivered_to: string | null;
}

interface CommandRow {
  readonly id: string;
  readonly payload_json: string;
}

/**
 * An answer of a person is delivered to exactly one run, word for word: to the one that asked, or to the next one. It is not
 * delivered twice, unless an incarnation ended or lost its store between the delivery and its record, or a later agent must be
 * reminded because it cannot remember; no accepted answer is lost; and no issue is held for an answer
 * that was given.
 */
export function answersDelivered(world: World): Rule {
  const { questions, memory, incarnations, failedCalls, ledger } = world;
  /** The step in which each answer was first seen in the store, and in which each run started. */
  const answeredAt = new Map<string, number>();
  const startedAt = new Map<string, number>();
  const checkedCommands = new Set<string>();
  const stuckSince = new Map<string, number>();
  const isExcused = (runId: string): boolean => {
    const incarnation = incarnations.get(runId.split('.')[0] ?? '')?.incarnation;
    if (incarnation === undefined || incarnation.isDead) return true;
    // The record of the delivery failed, or still hangs.
    return failedCalls.has(`${incarnation.name} questions.deliver`) || world.weather.storeLost.has(incarnation.daemon);
  };
  questions.onTold = ({ text, issueId, told }, { runId, words, isReminder }) => {
    world.trace.tell('told', issueId, runId, text, words);
    world.tally('answer told');
    const row = answered(world).find((each) => textOf(each) === text);
    if (row === undefined) return world.broke('answers_delivered', issueId, `"${text}" is told and not in the store`);
    if (wordsOf(JSON.parse(row.answer_json)) !== words)
      world.broke('answers_delivered', issueId, `"${text}" is told as "${words}", not as ${row.answer_json}`);
    // An agent that cannot remember an answer is reminded of it; a permission was only for the run that asked.
    if (isReminder && isInput(row)) return;
    if (row.delivered_to !== null && row.delivered_to !== runId)
      world.broke('answers_delivered', issueId, `"${text}" is told to ${runId}, and was to ${row.delivered_to}`);
    const before = told.find((each) => each.runId !== runId);
    if (before !== undefined && !isExcused(before.runId))
      world.broke('answers_delivered', issueId, `"${text}" is told to ${runId} after ${before.runId}`);
  };
  questions.onPrompt = ({ runId, issueId, isWhole }, texts) => {
    for (const row of answered(world)) {
      const isKnown = row.delivered_to !== null && !(isWhole && isInput(row));
      // A judge and a worker do not hear each other's answers.
      if (ledger.roles.get(row.run_id) !== ledger.roles.get(runId)) continue;
      if (row.issue_id !== issueId || isKnown || texts.has(textOf(row))) continue;
      if ((answeredAt.get(row.id) ?? Number.POSITIVE_INFINITY) <= (startedAt.get(runId) ?? 0))
        world.broke('answers_delivered', issueId, `run ${runId} begins without the answer to "${textOf(row)}"`);
    }
  };
  return {
    runStarted: ({ runId }) => void startedAt.set(runId, world.steps),
    afterStep: () => {
      if (world.storeHasChanged) lookIntoStore();
      for (const [id, since] of stuckSince)
        if (world.now - Math.max(since, world.disturbedAt) > knowledgeLagMs(world))
          world.broke('answers_delivered', id, `it is held for an answer that was given, since ${since} ms`);
    },
  };

  function lookIntoStore(): void {
    const rows = answered(world);
    for (const row of rows) {
      if (!answeredAt.has(row.id)) answeredAt.set(row.id, world.steps);
      checkDelivery(row);
    }
    for (const command of memory.look<CommandRow>(takenAnswers)) checkCommand(rows, command);
    const stuck = new Set(memory.look<{ issue_id: string }>(stuckIssues).map(({ issue_id }) => issue_id));
    for (const id of stuckSince.keys()) if (!stuck.has(id)) stuckSince.delete(id);
    for (const id of stuck) if (!stuckSince.has(id)) stuckSince.set(id, world.now);
  }

  /** Every answer recorded as delivered to an ended run was delivered to it. */
  function checkDelivery(row: QuestionRow): void {
    const { delivered_to: runId, issue_id } = row;
    if (runId === null || ledger.unfinished.has(runId) || isExcused(runId)) return;
    if (!questions.get(textOf(row))?.told.some((each) => each.runId === runId))
      world.broke('answers_delivered', issue_id, `the answer to "${textOf(row)}" is lost: ${runId} never heard it`);
  }

  /** Baton stores exactly the answer that it accepted. */
  function checkCommand(rows: readonly QuestionRow[], { id, payload_json }: CommandRow): void {
    if (checkedCommands.has(id)) return;
    checkedCommands.add(id);
    const { question, text } = JSON.parse(payload_json) as { question: string; text: string };
    const row = rows.find((each) => each.id === question);
    if (row === undefined || wordsOf(JSON.parse(row.answer_json)) !== text)
      world.broke('answers_delivered', row?.issue_id ?? null, `"${text}" was taken, and ${row?.answer_json} is kept`);
  }
}

function answered({ memory }: World): QuestionRow[] {
  return memory.look<QuestionRow>(
    'select id, issue_id, run_id, question_json, answer_json, delivered_to from questions where answered_at is not null',
  );
}

/** Whether a person gave a text, not only a permission. */
function isInput({ question_json }: QuestionRow): boolean {
  return (JSON.parse(question_json) as { kind: string }).kind === 'input';
}

function textOf({ question_json }: QuestionRow): string {
  return (JSON.parse(question_json) as { text: string }).text;
}

const takenAnswers = "select id, payload_json from commands where kind = 'question_answer' and result_status = 'done'";

const stuckIssues = `
  select issue_id from held where code = 'agent_input_required'
    and not exists (select 1 from runs where runs.issue_id = held.issue_id and ended_at is null)
    and exists (select 1 from questions where questions.issue_id = held.issue_id and questions.run_id = held.run_id
      and answered_at is not null and delivered_to is null)
    and not exists (select 1 from questions where questions.issue_id = held.issue_id
      and answered_at is null and closed_at is null)`;
