import type { CommandKind } from '../../src/core/command/command.ts';
import type { AskedQuestion } from './question-book.ts';
import type { World } from './world.ts';

interface QuestionRow {
  readonly id: string;
  readonly question_json: string;
}

type Submit = (kind: CommandKind, payload: Record<string, unknown>) => Promise<void>;

/** Answers of people: to a question without fields, to one with fields, and a wrong one. */
const words = { yesOrNo: ['yes', 'no'], which: ['left', 'right', 'up'], unread: ['', 'left', 'no'] } as const;

/**
 * People who help agents: they answer questions in time, late, twice or never, send messages to running agents,
 * and take issues over and hand them back.
 */
export class HelpfulPeople {
  readonly #world: World;
  readonly #submit: Submit;

  constructor(world: World, submit: Submit) {
    this.#world = world;
    this.#submit = submit;
    const { draw, plan, questions } = world;
    questions.onAsked = (question) => this.#hear(question);
    world.nowAndThen(draw.questions, plan.people.takeoversPerMinute, () => this.#takeOver());
    world.nowAndThen(draw.questions, plan.people.steersPerMinute, () => this.#steer());
  }

  #hear(question: AskedQuestion): void {
    const { draw, plan, file } = this.#world;
    const { askTimeoutMs } = file.settings.agent;
    if (!draw.questions.chance(plan.people.answers)) return;
    const times = draw.questions.pick([1, 1, 1, 2]);
    for (let nth = 0; nth < times; nth += 1) {
      const isLate = draw.questions.chance(0.3);
      const afterMs = isLate
        ? askTimeoutMs + draw.questions.logBetween(1, 240_000)
        : draw.questions.logBetween(1, 60_000);
      this.#world.clock.schedule(afterMs, () => this.#answer(question));
    }
  }

  #answer({ text, issueId }: AskedQuestion): void {
    const { memory, draw, isCalm, now } = this.#world;
    const [row] = memory.look<QuestionRow>(
      'select id, question_json from questions where question_json like ?',
      `%"${text}"%`,
    );
    // A question that was not recorded is invisible.
    if (isCalm || row === undefined) return;
    this.#world.tally('command: question_answer');
    this.#world.askedAt.set(issueId, now);
    this.#world.answeredAt.set(issueId, now);
    this.#world.tasks?.allowRetry(issueId);
    const { fields } = JSON.parse(row.question_json) as { readonly fields: readonly unknown[] };
    const fitting = fields.length === 0 ? words.yesOrNo : words.which;
    const said = draw.questions.pick(draw.questions.chance(0.9) ? fitting : words.unread);
    void this.#submit('question_answer', { question: row.id, text: said });
  }

  #takeOver(): void {
    const { draw, book, ledger, clock } = this.#world;
    const running = [...ledger.unfinished.values()].map(({ issueId }) => issueId);
    const ids = running.length > 0 && draw.questions.chance(0.7) ? running : book.ids();
    if (ids.length === 0) return;
    const id = draw.questions.pick(ids);
    this.#world.tally('command: issue_takeover');
    this.#world.askedAt.set(id, this.#world.now);
    this.#world.takenOverAt.set(id, this.#world.now);
    void this.#submit('issue_takeover', { issue: id });
    if (!draw.questions.chance(0.8)) return;
    clock.schedule(draw.questions.logBetween(1_000, 180_000), () => this.#handBack(id));
  }

  #handBack(id: string): void {
    if (this.#world.isCalm) return;
    this.#world.tally('command: issue_handback');
    this.#world.askedAt.set(id, this.#world.now);
    this.#world.handedBackAt.set(id, this.#world.now);
    void this.#submit('issue_handback', { issue: id, note: 'Look at the tests.' });
  }

  #steer(): void {
    const running = [...this.#world.ledger.unfinished.values()];
    if (running.length === 0) return;
    const { issueId } = this.#world.draw.questions.pick(running);
    this.#world.tally('command: issue_steer');
    void this.#submit('issue_steer', { issue: issueId, text: 'Mind the gap.' });
  }
}
