import type { CommandKind } from '../../../src/core/command/command.ts';
import type { MergeMethod } from '../../../src/core/pull/pull-request.ts';
import type { World } from '../world.ts';
import { GithubPeople } from './github-people.ts';
import type { ReviewWorld } from './review-world.ts';
import { baseBranch } from './simulated-repository.ts';

/** A pull request as a person sees it in the store. */
export interface SeenPull {
  readonly number: number;
  readonly issue_id: string;
  readonly branch: string;
  readonly head_commit: string;
  readonly base_commit: string;
  readonly sent_back_at: number | null;
}

type Submit = (kind: CommandKind, payload: Record<string, unknown>) => Promise<void>;

const openPulls = `
  select number, issue_id, branch, head_commit, base_commit, sent_back_at from pull_requests
    where merged_at is null and closed_at is null order by number`;

/** A person who works with git. */
const gitPerson = 'Paula';
/** How often a person looks at what is in review after the faults, and how many times they send a change back. */
const lookEveryMs = 10_000;
const mostRoundsInCalm = 3;

/**
 * The people around changes: they approve, merge, send back and close by command, also about a head that is no longer
 * there; they merge, push, force-push and reset in the repository; and others move the base.
 */
export class ReviewPeople {
  readonly #world: World;
  readonly #review: ReviewWorld;
  readonly #submit: Submit;
  /** What they last saw of each pull request. */
  readonly #seen = new Map<number, SeenPull>();
  readonly #decided = new Map<number, number>();

  constructor(world: World, review: ReviewWorld, submit: Submit) {
    this.#world = world;
    this.#review = review;
    this.#submit = submit;
    const { decisionsPerMinute, handsPerMinute, basePerMinute } = review.plan;
    world.nowAndThen(world.draw.review, decisionsPerMinute, () => this.#decide());
    if (review.github !== null) new GithubPeople(world, review, review.github);
    else world.nowAndThen(world.draw.review, handsPerMinute, () => this.#byHand());
    world.nowAndThen(world.draw.review, basePerMinute, () => this.#moveBase());
  }

  /** After the faults: some changes are merged, some sent back, the others stay for later. */
  calm(): void {
    this.#world.clock.schedule(lookEveryMs, () => {
      if (this.#world.broken !== null) return;
      this.#review.isQuiet = !this.#decideInCalm();
      this.calm();
    });
  }

  #open(): SeenPull[] {
    return this.#world.memory.look<SeenPull>(openPulls);
  }

  #decide(): void {
    const { draw } = this.#world;
    const open = this.#open();
    if (open.length === 0) return;
    const pull = draw.review.pick(open);
    // A person may have read it a while ago.
    const seen = (draw.review.chance(0.2) ? this.#seen.get(pull.number) : undefined) ?? pull;
    this.#seen.set(pull.number, pull);
    const what = draw.review.weighted({ approve: 2, merge: 5, send_back: 4, close: 0.5 });
    if (what === 'approve') this.#command('pr_approve', seen);
    if (what === 'merge') this.#merge(seen, draw.review.chance(0.3));
    if (what === 'send_back') this.#sendBack(seen);
    if (what === 'close') this.#command('pr_close', seen);
    // The same again, as a person who is not sure that it worked.
    if (draw.review.chance(0.1) && what === 'merge') this.#merge(seen, false);
  }

  #merge(pull: SeenPull, ignoresChecks: boolean): void {
    const { draw } = this.#world;
    const { head_commit: head, base_commit: base } = pull;
    this.#review.mergeWishes.push({ head, ignoresChecks });
    const method = draw.review.pick<MergeMethod | null>([null, null, 'merge', 'squash', 'rebase']);
    this.#command('pr_merge', pull, {
      ...(ignoresChecks ? { ignores_checks: true } : {}),
      ...(method === null ? {} : { method }),
      ...(draw.review.chance(0.2) ? { base } : {}),
    });
  }

  #sendBack(pull: SeenPull): void {
    const { draw } = this.#world;
    const note = `Please mind ${this.#review.mark()} too.`;
    const comments = draw.review.chance(0.3)
      ? [{ path: 'src/a.ts', line: draw.review.between(1, 99), text: `Not like ${this.#review.mark()} here.` }]
      : [];
    this.#command('pr_send_back', pull, { note, comments });
  }

  #command(kind: CommandKind, { number, head_commit }: SeenPull, more: Record<string, unknown> = {}): void {
    this.#world.tally(`command: ${kind}`);
    void this.#submit(kind, { pull: number, head: head_commit, ...more });
  }

  #byHand(): void {
    const { draw } = this.#world;
    const open = this.#open();
    if (open.length === 0) return;
    const { branch } = draw.review.pick(open);
    const what = draw.review.weighted({ merge: 3, forward: 1, squash: 2, rebase: 2, push: 3, force: 1.5, reset: 0.5 });
    const isDone = this.#inRepository(what, branch);
    if (!isDone) return;
    this.#world.trace.tell('a person in the repository', branch, what);
    this.#world.tally(`by hand: ${what}`);
  }

  #inRepository(what: 'merge' | 'forward' | 'squash' | 'rebase' | 'push' | 'force' | 'reset', branch: string): boolean {
    const { repository } = this.#review;
    const { base } = repository;
    const head = repository.ref(branch);
    if (head === null) return false;
    const mine = { maker: 'person', name: gitPerson } as const;
    const moveBranch = (to: string): boolean => repository.move({ branch, from: head, to, ...mine });
    if (what === 'push') return moveBranch(repository.commit([head], this.#change(branch), 'person', gitPerson));
    if (what === 'force') return moveBranch(repository.commit([base], this.#change(branch), 'person', gitPerson));
    if (what === 'reset') return moveBranch(base);
    if (repository.contains(base, head)) return false;
    if (what === 'forward' && !repository.contains(head, base)) return false;
    const make = { merge: 'merged', squash: 'squashed', rebase: 'rebased' } as const;
    const made = what === 'forward' ? head : repository[make[what]](base, head, 'person', gitPerson);
    return typeof made === 'string' && repository.move({ branch: baseBranch, from: base, to: made, ...mine });
  }

  /** Others work too: mostly on files of their own. */
  #moveBase(): void {
    const { repository } = this.#review;
    const { base } = repository;
    const to = repository.commit([base], this.#change('others'), 'person', 'Otto');
    repository.move({ branch: baseBranch, from: base, to, maker: 'person', name: 'Otto' });
    this.#world.tally('base moved');
  }

  #change(where: string): Record<string, string> {
    const { draw, now } = this.#world;
    const file = draw.review.chance(0.3) ? draw.review.pick(['shared-1', 'shared-2', 'shared-3']) : `file of ${where}`;
    return { [file]: `${where} at ${now} ${draw.review.between(1, 1_000_000)}` };
  }

  /** Whether a change waits for a decision, or for what follows from one. */
  #decideInCalm(): boolean {
    const { draw, memory } = this.#world;
    let waits = memory.look('select 1 from commands where result_at is null limit 1').length > 0;
    for (const pull of this.#open()) {
      if (pull.sent_back_at !== null) continue;
      const times = this.#decided.get(pull.number) ?? 0;
      if (times > mostRoundsInCalm || waits) continue;
      const isLeft = times === 0 && draw.review.chance(0.3);
      this.#decided.set(pull.number, isLeft ? mostRoundsInCalm + 1 : times + 1);
      if (isLeft) continue;
      waits = true;
      const isConflict =
        'conflicts' in this.#review.repository.mergeTrees(this.#review.repository.base, pull.head_commit);
      if (isConflict || (times === 0 && draw.review.chance(0.2))) this.#sendBack(pull);
      else this.#merge(pull, true);
    }
    return waits;
  }
}
