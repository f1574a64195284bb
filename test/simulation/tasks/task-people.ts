import type { CommandKind } from '../../../src/core/command/command.ts';
import type { World } from '../world.ts';
import type { TaskWorld } from './task-world.ts';

type Submit = (kind: CommandKind, payload: Record<string, unknown>) => Promise<void>;

interface SeenTask {
  readonly id: string;
  readonly status: 'waiting' | 'proposed' | 'accepted' | 'refused' | 'failed';
  readonly proposal_json: string | null;
}

/** What people do with a task, by its status, and how often. Some of it is refused. */
const acts = {
  waiting: { refuse: 1, accept_all: 0.5 },
  proposed: {
    accept_all: 3,
    accept_some: 3,
    accept_edited: 2,
    accept_duplicates: 1,
    refuse: 1,
    refuse_some: 2,
    wrong: 0.3,
  },
  failed: { retry: 5, refuse: 1 },
  accepted: { accept_all: 1, refuse: 0.5 },
  refused: { accept_all: 1, retry: 0.5 },
} as const;
type Act =
  | 'accept_all'
  | 'accept_some'
  | 'accept_edited'
  | 'accept_duplicates'
  | 'refuse'
  | 'refuse_some'
  | 'retry'
  | 'wrong';

const rows = 'select id, status, proposal_json from tasks order by rowid';

/** The people around tasks: they send texts, ask for scans, accept all, some or none, edit, refuse and try again. */
export class TaskPeople {
  readonly #world: World;
  readonly #tasks: TaskWorld;
  readonly #submit: Submit;

  constructor(world: World, tasks: TaskWorld, submit: Submit) {
    this.#world = world;
    this.#tasks = tasks;
    this.#submit = submit;
    const { draw } = world;
    const { intake, scanner, decisionsPerMinute } = tasks.plan;
    world.nowAndThen(draw.tasks, intake.perMinute, () => this.#send());
    world.nowAndThen(draw.tasks, scanner?.asksPerMinute ?? 0, () => {
      world.tally('command: scan_begin');
      void this.#submit('scan_begin', {});
    });
    world.nowAndThen(draw.tasks, decisionsPerMinute, () => this.#decide());
  }

  /** After the faults: what failed is tried once more, and most proposals are decided about. */
  calm(): void {
    for (const task of this.#world.memory.look<SeenTask>(rows)) {
      if (task.status === 'failed') this.#do('retry', task);
      if (task.status === 'proposed' && this.#world.draw.tasks.chance(0.7))
        this.#do(this.#world.draw.tasks.pick(['accept_all', 'refuse'] as const), task);
    }
  }

  #send(): void {
    const { draw } = this.#world;
    this.#world.tally('command: intake_begin');
    // An empty text is refused.
    const text = draw.tasks.chance(0.05) ? ' ' : `Please make it better.\nNumber ${draw.tasks.between(1, 1_000_000)}.`;
    void this.#submit('intake_begin', { text });
  }

  #decide(): void {
    const { draw, memory } = this.#world;
    const all = memory.look<SeenTask>(rows);
    const open = all.filter(({ status }) => status === 'proposed' || status === 'failed');
    const from = open.length > 0 && draw.tasks.chance(0.9) ? open : all;
    if (from.length === 0) return;
    const task = draw.tasks.pick(from);
    const act: Act = draw.tasks.weighted(acts[task.status] as Readonly<Record<Act, number>>);
    this.#do(act, task);
    // The same again, as a person who is not sure that it worked.
    if (draw.tasks.chance(0.1)) this.#do(act, task);
  }

  #do(act: Act, { id: task, proposal_json }: SeenTask): void {
    const { draw, now } = this.#world;
    const issues = proposal_json === null ? [] : (JSON.parse(proposal_json) as { issues: readonly unknown[] }).issues;
    const numbers = issues.map((_, at) => at + 1).filter(() => draw.tasks.chance(0.5));
    this.#world.tally(`task: ${act}`);
    this.#world.askedAt.set(task, now);
    const edits = numbers.map((number) => ({ number, title: `Edited ${draw.tasks.between(1, 1_000_000)}` }));
    if (act === 'accept_all') this.#accept(task, null, {});
    if (act === 'accept_duplicates') this.#accept(task, null, { duplicates: true });
    if (act === 'accept_some') this.#accept(task, numbers, {});
    if (act === 'accept_edited') this.#accept(task, numbers, { edits });
    if (act === 'wrong') this.#accept(task, [99], {});
    if (act === 'refuse') void this.#submit('task_refuse', { task });
    if (act === 'refuse_some') void this.#submit('task_refuse', { task, numbers });
    if (act !== 'retry') return;
    this.#tasks.allowRetry(task);
    void this.#submit('task_retry', { task });
  }

  #accept(task: string, numbers: readonly number[] | null, more: Record<string, unknown>): void {
    // Without numbers, all that are open are meant.
    const wanted = numbers === null || numbers.length === 0 ? null : numbers;
    this.#tasks.wishes.push({ task, numbers: wanted });
    void this.#submit('task_accept', { task, ...(wanted === null ? {} : { numbers: wanted }), ...more });
  }
}
