import type { BrokenRule } from './broken-rule.ts';
import { Keeper } from './keeper.ts';
import { People } from './people.ts';
import { drawPlan, type Plan } from './plan.ts';
import { allRules } from './rules/all-rules.ts';
import { leftOver } from './rules/issues-finish.ts';
import { endWeather, startWeather } from './start-weather.ts';
import { World, type WorldOptions } from './world.ts';

/** The result of one seed. */
export interface SeedResult {
  readonly seed: number;
  readonly steps: number;
  readonly runs: number;
  readonly counts: ReadonlyMap<string, number>;
  /** The same for every run of this seed. */
  readonly hash: string;
  readonly broken: BrokenRule | null;
}

export interface SeedOptions extends WorldOptions {
  readonly plan?: Partial<Plan>;
}

/** The longest time without faults until everything is done. */
const longestCalmMs = 2 * 3_600_000;
/** The shortest time without faults. */
const shortestCalmMs = 60_000;
/** An orderly stop waits for agents that end slowly and for hooks. */
const longestStopMs = 10 * 60_000;

/** One seed from its first draw to its last rule: a time with faults, a time without, and an orderly stop. */
export async function runSeed(seed: number, options: SeedOptions = {}): Promise<SeedResult> {
  const plan = drawPlan(seed, options.plan);
  const world = await World.open(plan, options);
  world.rules = allRules(world);
  const step = (): boolean => {
    world.sabotage.afterStep?.(world);
    return world.afterStep();
  };
  const people = new People(world);
  const keepers = (plan.daemons > 1 ? ['a', 'b'] : ['a']).map((daemon) => new Keeper(world, daemon));
  startWeather(world);
  for (const keeper of keepers) keeper.start();
  await world.clock.advanceUntil(step, plan.stormMs);

  if (world.broken === null) {
    await becomeCalm(world, keepers, people);
    await world.clock.advanceUntil(step, shortestCalmMs);
    // A run that was about to end when the calm began may have found its agent alive.
    await people.releaseSurvivors();
    await world.clock.advanceUntil(() => step() || isDone(world), longestCalmMs);
    await stopInGoodOrder(world, keepers, step);
  }
  if (world.broken === null) for (const rule of world.rules) rule.atEnd?.();
  for (const keeper of keepers) keeper.retire();
  for (const { incarnation } of world.incarnations.values()) incarnation.kill('at the end');
  await world.clock.settle();
  const { steps, ledger, counts, trace, broken } = world;
  world.memory.close();
  return { seed, steps, runs: ledger.seen, counts, hash: trace.digest(), broken };
}

async function becomeCalm(world: World, keepers: readonly Keeper[], people: People): Promise<void> {
  world.trace.tell('calm');
  world.isCalm = true;
  world.disturbedAt = world.now;
  endWeather(world);
  for (const keeper of keepers) keeper.calm();
  // Agents that no signal ended have ended by themselves, and a person has seen that.
  for (const process of world.processes.all()) if (process.survives) world.processes.exit(process);
  await people.calm();
}

function isDone(world: World): boolean {
  const isIdle = world.ledger.unfinished.size === 0 && world.processes.size === 0 && leftOver(world).length === 0;
  return isIdle && (world.review === null || world.review.isQuiet);
}

async function stopInGoodOrder(world: World, keepers: readonly Keeper[], step: () => boolean): Promise<void> {
  let stopped = 0;
  for (const keeper of keepers) {
    keeper.retire();
    void keeper.stopDaemon().then(() => {
      stopped += 1;
    });
  }
  await world.clock.advanceUntil(() => step() || stopped === keepers.length, longestStopMs);
  if (stopped < keepers.length) world.broke('issues_finish', null, 'a stop in good order does not end');
}
