import type { Incarnation } from './incarnation.ts';
import type { World } from './world.ts';

/** Faults that come and go: a failing tracker, a full disk, a store out of reach, a bad file, a clock that is set. */
export function startWeather(world: World): void {
  const { plan, draw, weather, file, clock } = world;
  const spell = (perMinute: number, longestMs: number, begin: () => void, end: () => void): void =>
    world.nowAndThen(draw.weather, perMinute, () => {
      begin();
      clock.schedule(draw.weather.logBetween(1_000, longestMs), end);
    });

  spell(
    plan.trackerStormsPerMinute,
    120_000,
    () => {
      world.count('tracker storm');
      weather.trackerStorm = true;
    },
    () => {
      weather.trackerStorm = false;
    },
  );
  spell(
    plan.store.fullPerMinute,
    90_000,
    () => {
      world.count('disk full');
      world.trace.tell('the disk is full');
      weather.storeFull = true;
    },
    () => {
      world.trace.tell('the disk has room');
      weather.storeFull = false;
    },
  );
  const lostDaemon = draw.weather.pick(plan.daemons > 1 ? ['a', 'b'] : ['a']);
  spell(
    plan.store.lostPerMinute,
    240_000,
    () => {
      world.count('store out of reach');
      world.trace.tell('the store is out of reach', lostDaemon);
      weather.storeLost.set(lostDaemon, draw.weather.pick(['hangs', 'fails']));
    },
    () => {
      world.trace.tell('the store is within reach', lostDaemon);
      weather.storeLost.delete(lostDaemon);
    },
  );
  spell(
    plan.file.badPerMinute,
    120_000,
    () => {
      world.count('bad file');
      file.spoil();
    },
    () => file.mend(),
  );
  world.nowAndThen(draw.weather, plan.file.changedPerMinute, () => {
    const slots = draw.weather.between(1, 6);
    world.count('settings changed');
    world.trace.tell('slots', slots);
    file.edit({ maxConcurrentAgents: slots });
    world.tellDaemons((orchestrator) => orchestrator.refresh());
  });
  world.nowAndThen(draw.weather, plan.incarnations.frozenPerMinute, () => {
    if (world.running.length > 0) freeze(world, draw.weather.pick(world.running).incarnation);
  });
  world.nowAndThen(draw.weather, plan.wall.jumpsPerMinute, () => {
    const byMs = draw.weather.between(-3_600_000, 3_600_000);
    world.count('wall clock set');
    world.trace.tell('wall clock jumps', byMs);
    world.wallJumpedAt = world.now;
    clock.jumpWall(byMs);
  });
}

/** Freezes a daemon for a while. On a separate machine its agents freeze too, because no other daemon could end them. */
function freeze(world: World, incarnation: Incarnation): void {
  const { plan, draw, clock, trace } = world;
  world.count('frozen');
  trace.tell('frozen', incarnation.name);
  incarnation.freeze();
  if (plan.machines === 2) world.freezeMachine(incarnation.machine);
  clock.schedule(draw.weather.logBetween(1_000, 4 * plan.settings.store.leaseMs), () => {
    trace.tell('thawed', incarnation.name);
    world.disturbedAt = world.now;
    if (plan.machines === 2) world.thawMachine(incarnation.machine);
    incarnation.thaw();
  });
}

/** A call of the tracker that is not answered is given up after two minutes; then it is tried again. */
const longestSilenceMs = 180_000;

/** Whether there is a fault now that a healthy daemon may wait for. */
export function isBadWeather({ weather, file, running, now }: World): boolean {
  return (
    running.some(({ incarnation }) => incarnation.isFrozen) ||
    now - weather.trackerHungAt < longestSilenceMs ||
    weather.trackerStorm ||
    weather.storeFull ||
    weather.storeLost.size > 0 ||
    file.problem !== null
  );
}

export function endWeather(world: World): void {
  const { weather, file, running } = world;
  for (const { incarnation } of running) {
    world.thawMachine(incarnation.machine);
    incarnation.thaw();
  }
  file.liftLimits();
  if (world.tasks !== null) file.becomeQuiet();
  weather.trackerStorm = false;
  weather.storeFull = false;
  weather.storeLost.clear();
  file.mend();
}
