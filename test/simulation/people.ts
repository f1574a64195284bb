import type { CommandKind } from '../../src/core/command/command.ts';
import { isPullCommandKind } from '../../src/orchestrator/review/decide-pull.ts';
import { issue } from '../fake/issues.ts';
import { HelpfulPeople } from './helpful-people.ts';
import { trackerStates } from './issue-book.ts';
import { startPipelinePeople } from './pipeline/pipeline-people.ts';
import { ReviewPeople } from './review/review-people.ts';
import { autoMergeLabel } from './review/review-plan.ts';
import { TaskPeople } from './tasks/task-people.ts';
import type { World } from './world.ts';

/** A person who lets an issue continue may have logged in, so Baton tries the account. */
const letsGoOn: ReadonlySet<CommandKind> = new Set([
  'issue_retry',
  'issue_release',
  'issue_handback',
  'question_answer',
]);

/** The people around the tracker: they file issues, move, label, block and delete them, and send commands. */
export class People {
  readonly #world: World;
  readonly #reviewers: ReviewPeople | null;
  readonly #askers: TaskPeople | null;
  #filed = 0;
  #commands = 0;

  constructor(world: World) {
    this.#world = world;
    const { draw, plan } = world;
    const atOnce = draw.people.between(1, plan.issues);
    for (let nth = 0; nth < plan.issues; nth += 1) {
      if (nth < atOnce) this.#file();
      else world.clock.schedule(draw.people.between(1, plan.stormMs), () => this.#file());
    }
    world.nowAndThen(draw.people, plan.people.changesPerMinute, () => this.#changeSomething());
    world.nowAndThen(draw.people, plan.people.commandsPerMinute, () => this.#command());
    const submit = (kind: CommandKind, payload: Record<string, unknown>): Promise<void> => this.submit(kind, payload);
    new HelpfulPeople(world, submit);
    if (world.pipeline !== null) startPipelinePeople(world, world.pipeline, submit);
    this.#reviewers = world.review === null ? null : new ReviewPeople(world, world.review, submit);
    this.#askers = world.tasks === null ? null : new TaskPeople(world, world.tasks, submit);
  }

  /** At the end of the faults: pauses end, and most holds are lifted. */
  async calm(): Promise<void> {
    const { memory, project, draw } = this.#world;
    this.#reviewers?.calm();
    this.#askers?.calm();
    await this.submit('resume', {});
    for (const { issueId, code } of await memory.store.held.list(project))
      if (draw.people.chance(0.7) || code === 'agent_survives') await this.#release(issueId);
  }

  /** An issue that is held because its agent may be alive takes a slot, so a person releases it. */
  async releaseSurvivors(): Promise<void> {
    const { memory, project, processes } = this.#world;
    for (const { issueId, code } of await memory.store.held.list(project)) {
      if (code !== 'agent_survives') continue;
      // The person ends what is left before the release, as the hold asks.
      for (const process of processes.all())
        if (process.issueId === issueId && process.survives) processes.exit(process);
      await this.#release(issueId);
    }
  }

  async #release(issueId: string): Promise<void> {
    this.#world.askedAt.set(issueId, this.#world.now);
    this.#world.freedAt.set(issueId, this.#world.now);
    await this.submit('issue_release', { issue: issueId });
  }

  async submit(kind: CommandKind, payload: Record<string, unknown>): Promise<void> {
    if (letsGoOn.has(kind)) this.#world.loginTriedAt = this.#world.now;
    if (letsGoOn.has(kind) && typeof payload.issue === 'string') this.#world.tasks?.allowRetry(payload.issue);
    const { memory, project, clock, trace } = this.#world;
    this.#commands += 1;
    trace.tell('command', kind, JSON.stringify(payload));
    if (kind === 'resume') this.#world.dayAllowedAt = this.#world.now;
    // A decision about a change delays no other work.
    if (!isPullCommandKind(kind)) this.#world.disturbedAt = this.#world.now;
    await memory.store.commands.submit({
      id: `command-${this.#commands}`,
      project,
      kind,
      payload,
      key: null,
      author: { kind: 'person', name: 'somebody' },
      at: clock.now(),
    });
    this.#world.tellDaemons((orchestrator) => orchestrator.wake());
  }

  #file(): void {
    const { book, clock, draw, trace } = this.#world;
    this.#filed += 1;
    const id = `i${this.#filed}`;
    const others = book.ids();
    const blocker = others.length > 0 && draw.people.chance(0.2) ? draw.people.pick(others) : null;
    const state = draw.people.weighted({ Todo: 6, 'In Progress': 2, Backlog: 1 });
    book.put(
      issue({
        id,
        state,
        identifier: `T-${this.#filed}`,
        labels: [...(draw.people.chance(0.85) ? ['baton'] : []), ...roleLabels(this.#world)],
        priority: draw.people.pick([null, 1, 2, 3]),
        blockedBy: blocker === null ? [] : [{ id: blocker, identifier: null, state: null }],
        createdAt: clock.now(),
      }),
    );
    trace.tell('filed', id, state, blocker);
  }

  #changeSomething(): void {
    const { book, draw, trace } = this.#world;
    const ids = book.ids();
    if (ids.length === 0) return;
    const id = draw.people.pick(ids);
    const current = book.get(id);
    if (current === undefined) return;
    const what = draw.people.weighted({ move: 10, label: 2, block: 1, unblock: 2, remove: 0.5, dispatchable: 1 });
    trace.tell('a person changes', id, what);
    this.#world.count(`person: ${what}`);
    if (what === 'move') book.move(id, draw.people.pick(trackerStates), 'hand');
    if (what === 'label') book.put({ ...current, labels: current.labels.length > 0 ? [] : ['baton'] });
    if (what === 'block')
      book.put({ ...current, blockedBy: [{ id: draw.people.pick(ids), identifier: null, state: null }] });
    if (what === 'unblock') book.put({ ...current, blockedBy: [] });
    if (what === 'dispatchable') book.put({ ...current, dispatchable: !current.dispatchable });
    if (what === 'remove') book.remove(id);
  }

  #command(): void {
    const { book, clock, draw, now } = this.#world;
    const kind = draw.people.weighted({
      pause: 1,
      issue_retry: 2,
      issue_hold: 1,
      issue_release: 2,
      issue_stop: 1,
      drain: 0.3,
      resume: 0.5,
    });
    this.#world.count(`command: ${kind}`);
    // A new allowance where the day's is used up; refused where not.
    if (kind === 'drain' || kind === 'resume') return void this.submit(kind, {});
    if (kind === 'pause') {
      clock.schedule(draw.people.between(5_000, 180_000), () => void this.submit('resume', {}));
      return void this.submit(kind, { reason: 'lunch' });
    }
    const ids = [...book.ids(), ...taskIds(this.#world)];
    if (ids.length === 0) return;
    const id = draw.people.pick(ids);
    // A person who releases an issue has checked that no agent of it is alive, as the hold asks.
    const frees = kind === 'issue_retry' || kind === 'issue_release';
    if (frees && this.#world.processes.ofIssue(id).length > 0) return;
    this.#world.askedAt.set(id, now);
    if (frees) this.#world.freedAt.set(id, now);
    if (kind === 'issue_retry') this.#world.triedAgainAt = now;
    void this.submit(kind, { issue: id });
  }
}

/** Drawn from streams of their own, so that worlds without a planner or automatic merges stay as they were. */
function roleLabels({ draw, plan }: World): readonly string[] {
  const { planner, review, settings } = plan;
  const isPlanned = planner !== null && draw.planner.chance(planner.labelled);
  const isMerged = review?.autoMerge != null && draw['auto merge'].chance(review.autoMerge);
  return [...(isPlanned ? [settings.planner.label] : []), ...(isMerged ? [autoMergeLabel] : [])];
}

/** A task is shown like an issue, so people use the same commands on it. */
function taskIds({ memory, tasks }: World): readonly string[] {
  return tasks === null ? [] : memory.look<{ id: string }>('select id from tasks order by rowid').map(({ id }) => id);
}
