import type { Draw } from './draw.ts';

/** The behaviour of one agent during its session. */
export type Temper =
  | 'good'
  | 'lazy'
  | 'fails'
  | 'crashes'
  | 'vanishes'
  | 'hangs'
  | 'falls_silent'
  | 'babbles'
  | 'asks'
  | 'out_of_quota'
  | 'logged_out'
  | 'overflows'
  | 'does_not_start';

/** How often each is drawn; others are never drawn. */
export type Tempers = Readonly<Partial<Record<Temper, number>>>;

export type TurnEnd =
  | 'completed'
  | 'failed'
  | 'crashed'
  | 'vanished'
  | 'asks'
  | 'out_of_quota'
  | 'logged_out'
  | 'overflows'
  | 'never';

/** Something that an agent asks in the middle of a turn. */
export interface AskScript {
  readonly afterMs: number;
  /** How long it waits for an answer; null: without limit. */
  readonly takenBackMs: number | null;
  readonly isYesOrNo: boolean;
}

/** One turn as the agent plans it. */
export interface TurnScript {
  readonly durationMs: number;
  readonly eventEveryMs: number;
  /** After this number of events it falls silent; null: never. */
  readonly silentAfter: number | null;
  readonly end: TurnEnd;
  /** Where it moves its issue with the tool. */
  readonly moveTo: string | null;
  readonly babbles: boolean;
  /** Whether it changes anything in its workspace. */
  readonly changes: boolean;
  /** How long until its account has quota again; null if it does not say. */
  readonly quotaBackMs: number | null;
}

export function drawTemper(draw: Draw, hostile: number, tempers: Tempers | null): Temper {
  if (!draw.chance(hostile)) return 'good';
  // Names without a weight are never drawn.
  return draw.weighted((tempers ?? everyTemper) as Readonly<Record<Temper, number>>);
}

const everyTemper: Tempers = {
  lazy: 3,
  fails: 4,
  crashes: 3,
  vanishes: 1,
  hangs: 1,
  falls_silent: 2,
  babbles: 2,
  asks: 1,
  out_of_quota: 2,
  logged_out: 0.5,
  overflows: 1.5,
  does_not_start: 2,
};

/** The questions of one turn: mostly none, sometimes several at once. */
export function drawAsks(draw: Draw, asks: number, durationMs: number): readonly AskScript[] {
  if (!draw.chance(asks)) return [];
  const script = (): AskScript => ({
    afterMs: draw.between(1, durationMs),
    takenBackMs: draw.chance(0.2) ? draw.logBetween(1, 120_000) : null,
    isYesOrNo: draw.chance(0.5),
  });
  return Array.from({ length: draw.pick([1, 1, 1, 2, 3]) }, script);
}

export function drawTurn(draw: Draw, temper: Temper): TurnScript {
  const durationMs = draw.logBetween(2_000, 240_000);
  const plain: TurnScript = {
    durationMs,
    eventEveryMs: draw.between(15_000, 50_000),
    silentAfter: null,
    end: 'completed',
    moveTo: null,
    babbles: false,
    changes: draw.chance(0.9),
    quotaBackMs: null,
  };
  switch (temper) {
    case 'good':
      return { ...plain, moveTo: draw.chance(0.7) ? draw.weighted({ Done: 6, Review: 2, 'In Progress': 1 }) : null };
    case 'babbles':
      return { ...plain, babbles: true, moveTo: draw.chance(0.3) ? 'Nowhere' : null };
    case 'fails':
      // Some fail after they have moved the issue.
      return { ...plain, end: 'failed', moveTo: draw.chance(0.2) ? 'Review' : null };
    case 'crashes':
      return { ...plain, end: 'crashed' };
    case 'vanishes':
      return { ...plain, end: 'vanished' };
    case 'asks':
      return { ...plain, end: 'asks' };
    case 'hangs':
      return { ...plain, end: 'never', silentAfter: 0 };
    case 'falls_silent':
      return { ...plain, end: 'never', silentAfter: draw.between(1, 4) };
    case 'lazy':
      return { ...plain, changes: false };
    case 'out_of_quota':
      return { ...plain, end: 'out_of_quota', quotaBackMs: draw.chance(0.5) ? draw.between(-60_000, 900_000) : null };
    case 'logged_out':
      return { ...plain, end: 'logged_out' };
    case 'overflows':
      return { ...plain, end: 'overflows' };
    case 'does_not_start':
      return plain;
  }
}
