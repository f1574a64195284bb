import { utcDay } from '../../../../src/core/cadence/utc-day.ts';
import { whyNotCandidate } from '../../../../src/core/dispatch/eligibility.ts';
import type { ScannerPlan } from '../../tasks/task-plan.ts';
import type { World } from '../../world.ts';
import { knowledgeLagMs } from '../knowledge-lag.ts';
import type { Rule } from '../rule.ts';
import { proposedIn, type TaskRow, taskRows } from './task-rows.ts';

/** A read of the tracker is given up after two minutes, and a frozen daemon goes on with what it read before. */
const oldestFactsMs = 240_000;
/** The pause doubles up to 64 times the first. */
const mostDoublings = 6;

interface Seen {
  readonly scans: readonly TaskRow[];
  /** Until when this was the state of the store. */
  until: number;
}

/**
 * A scan begins only when the one before is decided and the budget of the day has a run left; and by itself only after the
 * pause, while nothing is claimed, no issue could be worked on, and fewer than `scanner.max_backlog` issues wait.
 */
export function scanDue(world: World, scanner: ScannerPlan): Rule {
  const since = new Map<string, number>();
  let seen: Seen[] = [];
  const note = (what: string, is: boolean): void => {
    if (!is) since.delete(what);
    else if (!since.has(what)) since.set(what, world.now);
  };
  return {
    afterStep: () => {
      if (world.storeHasChanged) {
        const scans = taskRows(world).filter(({ kind }) => kind === 'scan');
        const known = new Set(seen.at(-1)?.scans.map(({ id }) => id));
        for (const scan of scans) if (!known.has(scan.id)) began(world, scanner, scan, { since, seen });
        note('undecided', scans.some(isUndecided));
        note('claimed', world.memory.look(claimed).length > 0);
        note('no budget', spent(world, world.clock.now()) >= scanner.runsPerDay);
        const last = seen.at(-1);
        if (last !== undefined) last.until = world.now;
        if (JSON.stringify(scans) !== JSON.stringify(last?.scans)) seen.push({ scans, until: world.now });
        seen = seen.filter(({ until }, at) => at === seen.length - 1 || world.now - until < lagMs(world));
      }
      const { tracker } = world.file.settings;
      const open = world.book.all().filter(({ state }) => state !== 'Done');
      const works = open.filter((issue) => whyNotCandidate(issue, tracker) === null);
      const isInReview = (state: string): boolean => tracker.reviewStates.includes(state);
      note('work', works.length > 0);
      note('full', open.filter(({ state }) => !isInReview(state)).length - works.length >= scanner.maxBacklog);
    },
  };
}

interface Facts {
  readonly since: ReadonlyMap<string, number>;
  readonly seen: readonly Seen[];
}

function began(world: World, scanner: ScannerPlan, scan: TaskRow, { since, seen }: Facts): void {
  const isByItself = (JSON.parse(scan.author_json) as { kind: string }).kind === 'orchestrator';
  world.tally(isByItself ? 'scan began' : 'scan asked for');
  const isLong = (what: string): boolean => world.now - (since.get(what) ?? world.now) > lagMs(world);
  const broke = (why: string): void => world.broke('scan_due', scan.id, `it begins, and ${why}`);
  if (isLong('undecided')) broke('the one before is not decided');
  if (isLong('no budget') && !Number.isFinite(world.wallJumpedAt)) broke('the budget of the day is used');
  if (!isByItself) return;
  if (isLong('claimed')) broke('something is claimed');
  if (isLong('work')) broke('an issue could be worked on');
  if (isLong('full')) broke('the backlog is full');
  const known = seen.at(-1)?.scans.length ?? 0;
  // It was decided by one of the latest states of the store that have the same scans.
  const bases = seen.filter(({ scans }) => scans.length === known);
  if (bases.length > 0 && bases.every(({ scans }) => scan.created_at < allowedFrom(scanner, scans)))
    broke('the pause is not over');
}

function lagMs(world: World): number {
  return knowledgeLagMs(world) + oldestFactsMs;
}

function isUndecided(task: TaskRow): boolean {
  return task.status === 'waiting' || (task.status === 'proposed' && proposedIn(task).some(isOpen));
}

function isOpen({ decision }: { readonly decision: string }): boolean {
  return decision === 'open';
}

/** By the wall clocks of the daemons, as the store has them. */
function allowedFrom({ cooldownMs }: ScannerPlan, scans: readonly TaskRow[]): number {
  const newest = scans.toSorted((one, other) => other.created_at - one.created_at);
  const useful = newest.findIndex((scan) => proposedIn(scan).some(({ decision }) => decision === 'accepted'));
  const useless = useful < 0 ? newest.length : useful;
  const [last] = newest;
  return last === undefined ? 0 : last.changed_at + cooldownMs * 2 ** Math.min(useless, mostDoublings);
}

function spent({ memory }: World, at: number): number {
  return memory
    .look<{ ended_at: number | null }>("select ended_at from runs where role = 'scanner'")
    .filter(({ ended_at }) => ended_at === null || utcDay(ended_at) === utcDay(at)).length;
}

const claimed = 'select 1 from claims where owner is not null limit 1';
