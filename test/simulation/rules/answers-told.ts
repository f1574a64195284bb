import { wordsOf } from '../question-book.ts';
import type { World } from '../world.ts';
import { knowledgeLagMs } from './knowledge-lag.ts';
import type { Rule } from './rule.ts';

interface QuestionRow {
  readonly id: string;
  readonly issue_id: string;
  readonly question_json: string;
  readonly answer_json: string;
  readonly delivered_to: string | null;
}

interface CommandRow {
  readonly id: string;
  readonly payload_json: string;
}

/**
 * What a person answered is told to exactly one run, in his words: to the one that asked, or to the next one. It is not
 * told twice, unless a life ended or lost its store between the telling and the note of it, or a later agent has to be
 * reminded because it cannot remember; nothing that Baton said it has taken is lost; and no issue is held for an answer
 * that was given.
 */
export function answersTold(world: World): Rule {
  const { questions, memory, lives, failedCalls, ledger } = world;
  /** After which step each answer was first seen in the store, and in which one each run began. */
  const answeredAt = new Map<string, number>();
  const startedAt = new Map<string, number>();
  const checkedCommands = new Set<string>();
  const stuckSince = new Map<string, number>();
  const isExcused = (runId: string): boolean => {
    const life = lives.get(runId.split('.')[0] ?? '')?.life;
    return life === undefined || life.isDead || failedCalls.has(`${life.name} questions.deliver`);
  };
  questions.onTold = ({ text, issueId, told }, { runId, words, isReminder }) => {
    world.trace.tell('told', issueId, runId, text, words);
    world.tally('answer told');
    const row = answered(world).find((each) => textOf(each) === text);
    if (row === undefined) return world.broke('answers_delivered', issueId, `"${text}" is told and not in the store`);
    if (wordsOf(JSON.parse(row.answer_json)) !== words)
      world.broke('answers_delivered', issueId, `"${text}" is told as "${words}", not as ${row.answer_json}`);
    // An agent that cannot remember what a person said is reminded; a permission was for the run that asked.
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

  /** Whatever is noted as told to a run that is over was told to it. */
  function checkDelivery(row: QuestionRow): void {
    const { delivered_to: runId, issue_id } = row;
    if (runId === null || ledger.unfinished.has(runId) || isExcused(runId)) return;
    if (!questions.get(textOf(row))?.told.some((each) => each.runId === runId))
      world.broke('answers_delivered', issue_id, `the answer to "${textOf(row)}" is lost: ${runId} never heard it`);
  }

  /** What Baton said it has taken is what it keeps. */
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
    'select id, issue_id, question_json, answer_json, delivered_to from questions where answered_at is not null',
  );
}

/** Whether a person said something, and did not only allow it. */
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
