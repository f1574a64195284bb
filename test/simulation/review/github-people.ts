import type { World } from '../world.ts';
import type { ReviewWorld } from './review-world.ts';
import { otherBase, type SimulatedGithub, type SimulatedPull, type SimulatedReview } from './simulated-github.ts';
import { baseBranch } from './simulated-repository.ts';

/** What people do on GitHub, and how often. */
const acts = {
  ...{ push: 3, force: 1, rebase: 1, reset: 0.3, remove: 0.3 },
  ...{ merge: 1, squash: 1, rebase_merge: 0.7, queue: 1, forward: 0.5 },
  ...{ close: 1, retarget: 0.7, asks: 2, approves: 0.5, stranger: 0.7 },
};

const name = 'Paula';

/** The people and the checks on GitHub: they act at every moment, and late. */
export class GithubPeople {
  readonly #world: World;
  readonly #review: ReviewWorld;
  readonly #github: SimulatedGithub;
  #ids = 0;

  constructor(world: World, review: ReviewWorld, github: SimulatedGithub) {
    this.#world = world;
    this.#review = review;
    this.#github = github;
    const { draw } = world;
    github.onHead = (commit) => this.#check(commit);
    const { handsPerMinute } = review.plan;
    world.nowAndThen(draw.review, 2 * handsPerMinute, () => this.#act());
    world.nowAndThen(draw.review, handsPerMinute, () => this.#reopen());
  }

  #act(): void {
    const { draw, trace } = this.#world;
    const open = this.#github.pulls.filter(({ state }) => state === 'OPEN');
    if (open.length === 0) return;
    const pull = draw.review.pick(open);
    const what = draw.review.weighted(acts);
    if (!this.#do(what, pull)) return;
    trace.tell('a person on GitHub', pull.number, what);
    this.#world.tally(`on GitHub: ${what}`);
  }

  #reopen(): void {
    const { draw, trace } = this.#world;
    const closed = this.#github.pulls.filter(({ state }) => state === 'CLOSED');
    if (closed.length === 0) return;
    const { number } = draw.review.pick(closed);
    if (!this.#github.reopen(number)) return;
    trace.tell('a person on GitHub', number, 'reopen');
    this.#world.tally('on GitHub: reopen');
  }

  #do(what: keyof typeof acts, { number, branch, base, headOid }: SimulatedPull): boolean {
    const { repository } = this.#review;
    const github = this.#github;
    const { draw, clock } = this.#world;
    const [head, into] = [repository.ref(branch), repository.ref(base)];
    if (head === null || into === null) return false;
    const mine = { maker: 'person', name } as const;
    const moveTo = (to: string | readonly string[]): boolean =>
      typeof to === 'string' && repository.move({ branch, from: head, to, ...mine });
    const change = { [`file of ${branch}`]: `by hand at ${this.#world.now} ${draw.review.between(1, 1_000_000)}` };
    const merge = (method: 'merge' | 'squash' | 'rebase', sha?: string): boolean =>
      github.merge({ number, method, by: name, maker: 'person', ...(sha === undefined ? {} : { sha }) });
    switch (what) {
      case 'push':
        return moveTo(repository.commit([head], change, 'person', name));
      case 'force':
        return moveTo(repository.commit([into], change, 'person', name));
      case 'rebase':
        return moveTo(repository.rebased(into, head, 'person', name));
      case 'reset':
        return moveTo(into);
      case 'remove':
        github.remove(branch);
        return true;
      case 'merge':
      case 'squash':
        return merge(what);
      case 'rebase_merge':
        return merge('rebase');
      case 'queue':
        // The queue merges what was put into it, some time later.
        clock.schedule(draw.review.logBetween(1_000, 120_000), () => void merge('squash', headOid));
        return true;
      case 'forward':
        return repository.contains(head, into) && repository.move({ branch: base, from: into, to: head, ...mine });
      case 'close':
        github.close(number, name);
        return true;
      case 'retarget':
        github.retarget(number, base === baseBranch ? otherBase : baseBranch);
        return true;
      case 'asks':
        return this.#say(number, { state: 'CHANGES_REQUESTED', author: name, canPush: true });
      case 'approves':
        return this.#say(number, { state: 'APPROVED', author: name, canPush: true });
      case 'stranger':
        return this.#say(number, { state: 'CHANGES_REQUESTED', author: 'mallory', canPush: false });
    }
  }

  #say(number: number, said: Pick<SimulatedReview, 'state' | 'author' | 'canPush'>): boolean {
    const pull = this.#github.get(number);
    if (pull === undefined) return false;
    const word = this.#review.mark();
    if (!said.canPush) this.#review.strangersWords.add(word);
    this.#ids += 1;
    const about = { commit: pull.headOid, at: this.#world.clock.now() };
    pull.reviews.push({ id: `review-${this.#ids}`, body: `Please mind ${word} here.`, ...about, ...said });
    return true;
  }

  /** Checks of a head appear late and end later; in calm they all end. */
  #check(commit: string): void {
    const { draw, clock } = this.#world;
    const { github: plan, slowestCheckMs } = this.#review.plan;
    if (this.#github.checks.has(commit)) return;
    const runs: { id: number; name: string; result: null | ReturnType<ReviewWorld['resultOf']> }[] = [];
    this.#github.checks.set(commit, runs);
    for (let nth = 1; nth <= (plan?.checks ?? 0); nth += 1) {
      this.#ids += 1;
      const run: (typeof runs)[number] = { id: this.#ids, name: `ci-${nth}`, result: null };
      const beginsMs = draw.review.logBetween(1, 30_000);
      clock.schedule(beginsMs, () => void runs.push(run));
      clock.schedule(beginsMs + draw.review.logBetween(100, slowestCheckMs), () => {
        run.result = this.#review.resultOf(commit, run.name, this.#world.isCalm);
        this.#world.tally(`check on GitHub: ${run.result}`);
      });
    }
  }
}
