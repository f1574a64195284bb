import type { CheckResult } from '../../../src/core/pull/pull-request.ts';
import type { Draw } from '../draw.ts';
import type { ReviewPlan } from './review-plan.ts';
import { SimulatedGithub } from './simulated-github.ts';
import { SimulatedRepository } from './simulated-repository.ts';

/** The record of a checkout, as Baton keeps it, and what its agent has there. */
export interface SimulatedCheckout {
  readonly branch: string;
  readonly baseCommit: string;
  readonly start: string;
  found: string | null;
  /** The commit that Baton saw last on the branch. */
  published: string | null;
  /** The agent's branch. */
  head: string;
  /** Files that are not committed. */
  loose: number;
}

/** The first prompt of a run, or a later one, with the marked words in it. */
export interface HeardPrompt {
  readonly runId: string;
  readonly issueId: string;
  readonly isFirst: boolean;
  readonly words: ReadonlySet<string>;
}

/** A person asked for a merge of this head by command. */
export interface MergeWish {
  readonly head: string;
  readonly ignoresChecks: boolean;
}

/** Everything of a world in review mode that outlives its daemons: the repository, the checkouts, and what people want. */
export class ReviewWorld {
  readonly plan: ReviewPlan;
  /** Where changes are merged. */
  readonly repository = new SimulatedRepository();
  /** Null: the host is the repository itself. */
  readonly github: SimulatedGithub | null;
  /** Where runs publish; with GitHub it is a clone on this machine. */
  readonly clone: SimulatedRepository;
  /** Marks that no agent may hear. */
  readonly strangersWords = new Set<string>();
  readonly checkouts = new Map<string, SimulatedCheckout>();
  /** How often something was changed in each checkout of a judge. */
  readonly judgeTrees = new Map<string, number>();
  readonly mergeWishes: MergeWish[] = [];
  /** Whether the people around it have decided everything that they want to decide. */
  isQuiet = false;
  /** Called with each prompt. */
  onHeard: (prompt: HeardPrompt) => void = () => {};
  readonly #draw: Draw;
  readonly #results = new Map<string, CheckResult>();
  #marks = 0;

  constructor(plan: ReviewPlan, draw: Draw) {
    this.plan = plan;
    this.#draw = draw;
    this.github = plan.github === null ? null : new SimulatedGithub(this.repository);
    this.clone = this.github === null ? this.repository : new SimulatedRepository(this.repository);
  }

  /** A word that no other text contains. */
  mark(): string {
    this.#marks += 1;
    return `word-${this.#marks}-`;
  }

  heard(run: Omit<HeardPrompt, 'words'>, prompt: string): void {
    this.onHeard({ ...run, words: marksIn(prompt) });
  }

  /** The true result of a check on a commit, whoever runs it and however often; one that cannot run may run later. */
  resultOf(commit: string, name: string, isCalm: boolean): CheckResult {
    const key = `${commit} ${name}`;
    const { red, skipped } = this.plan;
    const weights = { failed: red * 0.8, timed_out: red * 0.2, skipped, passed: Math.max(0, 1 - red - skipped) };
    const known = this.#results.get(key);
    const isKnown = known !== undefined && known !== 'skipped';
    const result = isKnown ? known : isCalm ? 'passed' : this.#draw.weighted(weights);
    this.#results.set(key, result);
    return result;
  }

  /** Whether this head is in its base. GitHub's word counts where it is the host. */
  isMerged(head: string): boolean {
    const { github, repository } = this;
    if (github === null) return repository.observe(head, repository.base, '') !== null;
    return github.pulls.some(({ state, headOid }) => state === 'MERGED' && repository.contains(headOid, head));
  }

  knownResult(commit: string, name: string): CheckResult | undefined {
    return this.#results.get(`${commit} ${name}`);
  }
}

export function marksIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/word-\d+-/g) ?? []);
}
