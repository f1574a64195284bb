import { seededChance } from '../fake/seeded-chance.ts';

/** Random choices from one seed. Each concern has its own stream, so that one more draw in it changes no other. */
export interface Draw {
  /** True with this probability. */
  chance(probability: number): boolean;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** Like `between`, but half of the draws are below the geometric mean. */
  logBetween(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
  /** The wait in milliseconds until the next of random events with this rate per minute. */
  gap(perMinute: number): number;
  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

export function drawFrom(seed: number, stream: string): Draw {
  const source = seededChance((seed * 2_654_435_761 + hashOf(stream)) >>> 0);
  const between = (least: number, most: number): number => least + Math.floor(source.next() * (most - least + 1));
  return {
    chance: (probability) => source.next() < probability,
    between,
    logBetween: (least, most) => Math.round(least * (most / least) ** source.next()),
    pick: (list) => {
      const found = list[between(0, list.length - 1)];
      if (found === undefined) throw new Error('there is nothing to pick from');
      return found;
    },
    gap: (perMinute) => Math.ceil((-Math.log(1 - source.next()) / perMinute) * 60_000),
    weighted: (weights) => {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = source.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      throw new Error('there is nothing to pick from');
    },
  };
}

function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619);
  return hash >>> 0;
}
