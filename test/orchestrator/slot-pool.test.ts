import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSlotPool, type PoolMember } from '../../src/orchestrator/dispatch/slot-pool.ts';
import { telling } from '../telling.ts';

interface Project {
  readonly member: PoolMember;
  /** How many runs it would start if it could; falls with each start. */
  demand: number;
  wakes: number;
  starts: number;
}

/** Projects that tick as the daemon's do: start what may be started, then say whether something still waits. */
function stage(limit: () => number, demands: readonly number[]) {
  const pool = createSlotPool(limit);
  const join = (demand: number): Project => {
    const project: Project = { member: pool.join({ wake: () => (project.wakes += 1) }), demand, wakes: 0, starts: 0 };
    return project;
  };
  const projects = demands.map(join);
  const used = (): number => projects.reduce((sum, { member }) => sum + member.held, 0);
  const tick = (project: Project): void => {
    project.wakes = 0;
    while (project.demand > 0 && project.member.mayStart() === null) {
      expect(used()).toBeLessThan(limit());
      project.member.take();
      project.demand -= 1;
      project.starts += 1;
    }
    project.member.setWaiting(project.demand > 0);
  };
  /** Serves the wake-ups until there are none, as the daemon does. */
  const settle = (): void => {
    for (let turns = 0; ; turns += 1) {
      const woken = projects.find(({ wakes }) => wakes > 0);
      if (woken === undefined) return;
      expect(turns, 'projects wake each other for ever').toBeLessThan(1_000);
      tick(woken);
    }
  };
  /** The project whose run ended looks first, before those it woke: the worst case for them. */
  const endRun = (project: Project): void => {
    project.member.free();
    tick(project);
    settle();
  };
  return { pool, projects, join, used, tick, settle, endRun };
}

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const endless = Number.POSITIVE_INFINITY;

describe('one project', () => {
  it('has a plain counter', () => {
    const member = createSlotPool(() => 2).join({ wake: () => {} });
    member.take();
    expect(member.mayStart()).toBeNull();
    member.take();
    expect(member.mayStart()).toEqual({ code: 'global_full', text: telling(2) });
    member.setWaiting(true);
    member.free();
    expect(member.mayStart()).toBeNull();
    expect(member.held).toBe(1);
  });

  it('never counts below zero', () => {
    const pool = createSlotPool(() => 1);
    const [careless, other] = [pool.join({ wake: () => {} }), pool.join({ wake: () => {} })];
    careless.free();
    careless.free();
    other.take();
    expect(careless.held).toBe(0);
    expect(careless.mayStart()).toMatchObject({ code: 'global_full' });
  });
});

describe('several projects', () => {
  it('a freed slot wakes the project that gets it, and no other may take it', () => {
    const { projects, tick } = stage(() => 3, [endless, endless]);
    const [rich, poor] = [at(projects, 0), at(projects, 1)];
    tick(rich);
    tick(poor);
    expect([rich.member.held, poor.member.held]).toEqual([3, 0]);
    rich.member.free();
    expect([rich.wakes, poor.wakes]).toEqual([0, 1]);
    expect(rich.member.mayStart()).toMatchObject({ code: 'global_full' });
    expect(poor.member.mayStart()).toBeNull();
  });

  it('with more free slots than waiting projects, any project may take the rest', () => {
    const { projects, tick } = stage(() => 3, [endless, endless]);
    const [rich, poor] = [at(projects, 0), at(projects, 1)];
    tick(rich);
    tick(poor);
    rich.member.free();
    rich.member.free();
    expect(rich.member.mayStart()).toBeNull();
    rich.member.take();
    expect(rich.member.mayStart()).toMatchObject({ code: 'global_full' });
  });

  it('among equals the longest waiting project is next, and then goes to the end of the queue', () => {
    const { projects, tick, settle } = stage(() => 1, [1, endless, endless, endless]);
    for (const project of projects) tick(project);
    const order: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const before = projects.map(({ starts }) => starts);
      projects.find(({ member }) => member.held === 1)?.member.free();
      settle();
      order.push(projects.findIndex(({ starts }, index) => starts !== before[index]));
    }
    expect(order).toEqual([1, 2, 3, 1, 2, 3, 1]);
  });

  it('a slot that its project does not need goes to the next', () => {
    const { projects, tick, endRun } = stage(() => 2, [endless, 1]);
    const [rich, fickle] = [at(projects, 0), at(projects, 1)];
    tick(rich);
    tick(fickle);
    fickle.demand = 0;
    endRun(rich);
    expect(rich.member.held).toBe(2);
  });

  it('a project that leaves frees its slots and is no longer counted', () => {
    const { projects, tick, settle } = stage(() => 2, [endless, 2]);
    const [leaving, staying] = [at(projects, 0), at(projects, 1)];
    tick(leaving);
    tick(staying);
    leaving.member.leave();
    settle();
    expect([leaving.member.held, staying.member.held]).toEqual([0, 2]);
    leaving.member.free();
    leaving.member.take();
    leaving.member.setWaiting(true);
    expect(leaving.member.held).toBe(0);
    expect(leaving.member.mayStart()).toMatchObject({ code: 'global_full' });
    staying.member.free();
    expect(staying.member.mayStart()).toBeNull();
  });

  // @conforms projects.10
  it('a lowered limit ends nothing and only stops new starts', () => {
    let limit = 4;
    const { projects, tick, endRun } = stage(() => limit, [endless]);
    const only = at(projects, 0);
    tick(only);
    limit = 2;
    expect(only.member.held).toBe(4);
    expect(only.member.mayStart()).toEqual({ code: 'global_full', text: telling(4, 2) });
    endRun(only);
    endRun(only);
    expect(only.member.held).toBe(2);
    endRun(only);
    expect(only.member.held).toBe(2);
    limit = 3;
    expect(only.member.mayStart()).toBeNull();
  });

  it.each([0, -1, Number.NaN])('a limit of %d starts nothing', (limit) => {
    const { projects, tick, settle } = stage(() => limit, [endless]);
    tick(at(projects, 0));
    settle();
    expect(at(projects, 0).member.held).toBe(0);
  });
});

describe('any sequence of events', () => {
  const limits = fc.integer({ min: 1, max: 12 });
  const counts = fc.integer({ min: 1, max: 5 });
  const turns = fc.array(fc.nat(), { maxLength: 60 });

  // @conforms projects.7
  it('leaves projects with endless demand within one slot of each other', () => {
    fc.assert(
      fc.property(limits, counts, turns, fc.nat(), (limit, count, endings, first) => {
        const { projects, tick, endRun, used } = stage(() => limit, Array(count).fill(endless));
        const order = projects.map((_project, index) => at(projects, index + first));
        for (const project of order) tick(project);
        const endNext = (choice: number): void => {
          const holders = projects.filter(({ member }) => member.held > 0);
          endRun(at(holders, choice));
          expect(used()).toBe(limit);
        };
        // Whatever runs end first, once every run of the beginning has ended it is fair and stays so.
        for (const choice of endings) endNext(choice);
        const most = (): Project =>
          projects.reduce((left, right) => (right.member.held > left.member.held ? right : left));
        for (let ended = 0; ended < limit; ended += 1) endRun(most());
        const spread = (): number => {
          const held = projects.map(({ member }) => member.held);
          return Math.max(...held) - Math.min(...held);
        };
        expect(spread()).toBeLessThanOrEqual(1);
        for (const choice of endings) {
          endNext(choice);
          expect(spread()).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  // @conforms projects.8
  it('starves no project: a waiting one has a slot after as many ends as there are runs and projects', () => {
    fc.assert(
      fc.property(limits, counts, turns, fc.nat(), fc.nat(), (limit, count, endings, who, choice) => {
        const { projects, tick, endRun } = stage(() => limit, Array(count).fill(endless));
        for (const project of projects) tick(project);
        const endSome = (index: number): void =>
          endRun(
            at(
              projects.filter(({ member }) => member.held > 0),
              index,
            ),
          );
        for (const index of endings) endSome(index);
        const watched = at(projects, who);
        const before = watched.starts;
        // Its own runs may go on for ever; with none of its own that ends, it still gets its share.
        const others = (): Project[] => projects.filter((project) => project !== watched && project.member.held > 0);
        const share = Math.floor(limit / count);
        for (let ended = 0; ended < limit + count && others().length > 0; ended += 1)
          endRun(at(others(), choice + ended));
        if (watched.starts === before) expect(watched.member.held).toBeGreaterThanOrEqual(Math.max(share, 1));
      }),
    );
  });

  type Act = (scene: ReturnType<typeof stage>, project: Project, amount: number) => void;
  const acts: Readonly<Record<string, Act>> = {
    tick: ({ tick }, project) => tick(project),
    end: ({ endRun }, project) => endRun(project),
    want: (_scene, project, amount) => {
      project.demand += amount;
    },
    lose: (_scene, project) => {
      project.demand = 0;
    },
    join: ({ projects, join }, _project, amount) => void projects.push(join(amount)),
    leave: ({ projects }, project) => {
      if (projects.length === 1) return;
      projects.splice(projects.indexOf(project), 1);
      project.member.leave();
    },
  };
  const someActs = fc.array(
    fc.record({
      act: fc.constantFrom('limit', ...Object.keys(acts)),
      who: fc.nat(),
      amount: fc.integer({ min: 0, max: 8 }),
    }),
    { maxLength: 120 },
  );

  // @conforms projects.9
  it('never exceeds the limit, leaves no slot free while a project waits, and does not wake forever', () => {
    fc.assert(
      fc.property(limits, someActs, (firstLimit, list) => {
        let limit = firstLimit;
        const scene = stage(() => limit, [0, 0]);
        const { projects, used, tick, settle } = scene;
        for (const { act, who, amount } of list) {
          const before = used();
          if (act === 'limit') limit = amount;
          acts[act]?.(scene, at(projects, who), amount);
          settle();
          expect(used()).toBeLessThanOrEqual(Math.max(before, limit));
        }
        // A poll of everybody later, whatever was edited meanwhile, no slot is idle that somebody wants.
        for (const project of [...projects, ...projects]) {
          tick(project);
          settle();
        }
        if (projects.some(({ demand }) => demand > 0)) expect(used()).toBeGreaterThanOrEqual(limit);
      }),
    );
  });

  it('gives no slot to a project that wants none', () => {
    fc.assert(
      fc.property(limits, counts, (limit, idle) => {
        const { projects, tick } = stage(() => limit, [endless, ...Array(idle).fill(0)]);
        for (const project of projects.toReversed()) tick(project);
        expect(at(projects, 0).member.held).toBe(limit);
      }),
    );
  });
});

describe('judges of several projects', () => {
  // @conforms 4.115
  it('exceed the shared limit together by their extra slots, and not while a lowered limit is exceeded', () => {
    const shared = { limit: 4 };
    const pool = createSlotPool(() => shared.limit);
    const [one, other] = [pool.join({ wake: () => {} }), pool.join({ wake: () => {} })];
    for (let nth = 0; nth < 4; nth += 1) one.take('worker');
    expect(one.mayStart('worker', 25)?.code).toBe('global_full');
    expect(other.mayStart('judge', 0)?.code).toBe('global_full');
    expect(other.mayStart('judge', 25)).toBeNull();
    other.take('judge');
    expect(one.mayStart('judge', 25)?.code).toBe('global_full');
    other.free('judge');
    shared.limit = 3;
    expect(other.mayStart('judge', 25)?.code).toBe('global_full');
    one.free('worker');
    expect(other.mayStart('judge', 25)).toBeNull();
  });

  it('in extra slots keep no worker of another project asleep', () => {
    const pool = createSlotPool(() => 1);
    let wakes = 0;
    const [one, other] = [pool.join({ wake: () => {} }), pool.join({ wake: () => (wakes += 1) })];
    one.take('worker');
    one.take('judge');
    other.setWaiting(true);
    one.free('worker');
    expect([wakes, other.mayStart('worker', 25)]).toEqual([1, null]);
  });
});
