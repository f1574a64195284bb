import { randomUUID } from 'node:crypto';
import type { Chance } from './chance.ts';

/** The machine's own chance. */
export const systemChance: Chance = {
  next: () => Math.random(),
  id: () => randomUUID(),
};
