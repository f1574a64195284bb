import { randomUUID } from 'node:crypto';
import type { Chance } from './chance.ts';

/** The random source of the machine. */
export const systemChance: Chance = {
  next: () => Math.random(),
  id: () => randomUUID(),
};
